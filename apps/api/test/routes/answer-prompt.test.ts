import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { until } from '../until.ts';

interface Question {
  id: string;
  prompt: string;
  options: { id: string; label: string; kind?: string }[];
  digest: string;
}
interface Seen {
  id: string;
  status: string;
  prompt?: Question;
  prompts?: Question[];
  lastTask?: { id: string; state: string; code?: string };
}

const named = { 'X-Daemon-Capabilities': 'prompts' };
const permission = (uuid: string, title: string, more: object = {}) => ({
  uuid,
  title,
  kind: 'permission',
  options: [
    { id: 'yes', label: 'Allow', kind: 'allow_once' },
    { id: 'no', label: 'Refuse', kind: 'reject_once' },
  ],
  ...more,
});

describe('POST /api/sessions/:id/prompts/:uuid/answer', () => {
  let relay: TestRelay;
  let app: TestApp;
  let field: TestDaemon;
  let daemon: TestDaemon;
  let count = 0;

  const path = (id: string, rest = '') => `/api/sessions/${encodeURIComponent(id)}${rest}`;
  const read = async (id: string) =>
    ((await relay.call('GET', '/api/sessions')).body.sessions as Seen[]).find((session) => session.id === id)!;
  const answer = (id: string, uuid: string, body: object, options: object = {}) =>
    relay.call('POST', path(id, `/prompts/${uuid}/answer`), { body, ...options });
  const say = (id: string, body: object) => relay.call('POST', path(id, '/messages'), { body });
  const task = async (taskId: unknown): Promise<unknown> =>
    (await relay.call('GET', `/api/tasks/${String(taskId)}`)).body;

  /** A named session with a running first task. */
  const run = async (of: TestDaemon) => {
    const native = `native-${(count += 1)}`;
    const created = await relay.call('POST', '/api/sessions', { body: { deviceId: of.deviceId, message: 'begin' } });
    const { taskId } = created.body as { taskId: string };
    await of.next('task_start', (frame) => frame.task_id === taskId);
    of.event(taskId, 'SESSION_STARTED', { session_id: native });
    const id = `${of.deviceId}:scripted:${native}`;
    await app.next('session_update', ({ session }) => (session as Seen).id === id);
    return { taskId, id, native };
  };
  /** Waits until apps see exactly these open questions, by their titles. */
  const asking = async (id: string, ...titles: string[]) => {
    const frame = await app.next('session_update', ({ session }) => {
      const seen = session as Seen;
      return (
        seen.id === id && JSON.stringify((seen.prompts ?? []).map(({ prompt }) => prompt)) === JSON.stringify(titles)
      );
    });
    return frame.session as Seen;
  };
  const resumed = (of: TestDaemon, taskId: unknown) => of.next('task_resume', (frame) => frame.task_id === taskId);

  beforeAll(async () => {
    // Daemons ask here before their first status: the relay waits for it longer than any pause of the process.
    relay = await startRelay({ apis: 2, config: { statusWaitMs: 60_000 } });
    app = await connectApp(relay);
    field = await connectDaemon(relay);
    daemon = await connectDaemon(relay, { headers: named });
  });
  afterAll(() => relay.stop());

  it('gives the single question of a daemon without ids an id, and sends the daemon the label', async () => {
    const { taskId, id } = await run(field);
    field.event(taskId, 'WAIT_FOR_USER', { prompt: 'May I?', options: [{ label: 'Allow' }, { label: 'Refuse' }] });
    const { prompt, prompts } = await asking(id, 'May I?');
    expect(prompt).toEqual(prompts![0]);
    expect(prompt).toMatchObject({ id: expect.any(String), options: [{ id: '1', label: 'Allow' }, { id: '2' }] });
    expect(prompt!.options[0]).not.toHaveProperty('kind');
    const answered = await answer(id, prompt!.id, { option: '2', digest: prompt!.digest });
    expect(answered).toMatchObject({
      status: 202,
      body: { sessionId: id, promptId: prompt!.id, message: { role: 'USER', content: 'Refuse' } },
    });
    expect(await resumed(field, answered.body.taskId)).toEqual({
      type: 'task_resume',
      task_id: answered.body.taskId,
      session_id: expect.any(String),
      message: 'Refuse',
    });
    expect(await read(id)).not.toHaveProperty('prompts');
  });

  it('accepts the first of two answers on two apis, and shows which it was; the other reaches no agent', async () => {
    const { taskId, id } = await run(field);
    field.event(taskId, 'WAIT_FOR_USER', { prompt: 'Delete?', options: [{ label: 'Allow' }, { label: 'Refuse' }] });
    const { prompt } = await asking(id, 'Delete?');
    expect(await answer(id, prompt!.id, { option: '1', on: 'a\u202eb' })).toMatchObject({ status: 400 });
    const both = await Promise.all([
      answer(id, prompt!.id, { option: '1', on: 'One' }, { api: 0 }),
      answer(id, prompt!.id, { option: '2', on: 'Two' }, { api: 1 }),
    ]);
    const [won] = both.filter(({ status }) => status === 202);
    const [lost] = both.filter(({ status }) => status === 409);
    expect([won, lost]).not.toContain(undefined);
    const option = both[0] === won ? '1' : '2';
    expect(lost!.body).toMatchObject({
      code: 'PROMPT_ALREADY_ANSWERED',
      answer: {
        ...{ option, at: expect.any(String), by: expect.stringContaining('alice') },
        on: option === '1' ? 'One' : 'Two',
      },
    });
    expect(await resumed(field, won!.body.taskId)).toMatchObject({ message: option === '1' ? 'Allow' : 'Refuse' });
    field.event(won!.body.taskId as string, 'TASK_COMPLETE', { result: 'done' });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).lastTask?.id === won!.body.taskId && (session as Seen).status === 'idle',
    );
    expect(field.inbox.count('task_resume', (frame) => frame.session_id === id.split(':')[2])).toBe(1);
    // The outcome remains long after the question is gone.
    expect((await answer(id, prompt!.id, { option: '1' })).body).toMatchObject({ answer: { option } });
    const [row] = await relay.database.models.prompt.findMany({ where: { uuid: prompt!.id } });
    expect(row).toMatchObject({ state: 'closed', payload: {} });
  });

  it('K0: an answer to A never reaches B, which the daemon asks instead', async () => {
    const { taskId, id } = await run(field);
    field.event(taskId, 'WAIT_FOR_USER', { prompt: 'A: list files?', options: [{ label: 'Allow' }] });
    const a = (await asking(id, 'A: list files?')).prompt!;
    field.event(taskId, 'WAIT_FOR_USER', { prompt: 'B: delete files?', options: [{ label: 'Allow' }] });
    const b = (await asking(id, 'B: delete files?')).prompt!;
    expect(b.id).not.toBe(a.id);
    const late = await answer(id, a.id, { option: '1' });
    expect(late).toMatchObject({ status: 409, body: { code: 'PROMPT_SUPERSEDED', prompts: [{ id: b.id }] } });
    expect(await say(id, { content: 'Allow', answers: a.id })).toMatchObject({
      status: 409,
      body: { code: 'PROMPT_SUPERSEDED' },
    });
    const given = await answer(id, b.id, { text: 'no' });
    expect(await resumed(field, given.body.taskId)).toMatchObject({ message: 'no' });
    expect(field.inbox.count('task_resume', (frame) => frame.session_id === id.split(':')[2])).toBe(1);
  });

  it('K0: a choice whose question disappears before delivery fails; a text is queued after the next question', async () => {
    for (const [body, after] of [
      [{ option: '1' }, { state: 'failed', error: { code: 'PROMPT_SUPERSEDED' } }],
      [{ text: 'Allow' }, { state: 'queued' }],
    ] as const) {
      const { taskId, id } = await run(field);
      field.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', options: [{ label: 'Allow' }] });
      const a = (await asking(id, 'A?')).prompt!;
      await field.close();
      const given = await answer(id, a.id, body);
      expect(given.status).toBe(202);
      // A daemon gets nothing before its first status, and can ask another question.
      field = await connectDaemon(relay, { registration: field.registration, hello: [] });
      field.event(taskId, 'WAIT_FOR_USER', { prompt: 'B?', options: [{ label: 'Allow' }] });
      const b = (await asking(id, 'B?')).prompt!;
      field.send({ type: 'status', running_tasks: [] });
      const other = await answer(id, b.id, { option: '1' });
      expect(await resumed(field, other.body.taskId)).toMatchObject({ message: 'Allow' });
      expect(await task(given.body.taskId)).toMatchObject(after);
      expect(field.inbox.count('task_resume', (frame) => frame.session_id === id.split(':')[2])).toBe(1);
    }
  });

  it('sends a daemon that names its questions the id and the option of the answer', async () => {
    const { taskId, id, native } = await run(daemon);
    const question = permission('5e3f1a52-0000-4000-8000-000000000001', 'Run the tests?', {
      subject: { type: 'command', command: 'npm test' },
      digest: 'ab12',
    });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Run the tests?', session_id: native, question });
    expect((await asking(id, 'Run the tests?')).prompt).toMatchObject({
      id: question.uuid,
      kind: 'permission',
      subject: { command: 'npm test' },
      options: [{ id: 'yes', label: 'Allow', kind: 'allow_once' }, { id: 'no' }],
    });
    const changed = await answer(id, question.uuid, { option: 'yes', digest: 'ffff' });
    expect(changed).toMatchObject({
      status: 409,
      body: { code: 'PROMPT_SUPERSEDED', prompts: [{ id: question.uuid }] },
    });
    const given = await answer(id, question.uuid, { option: 'yes', digest: 'ab12' });
    expect(await resumed(daemon, given.body.taskId)).toMatchObject({
      message: 'Allow',
      prompt_uuid: question.uuid,
      option_id: 'yes',
      digest: 'ab12',
    });
    // Its turn is complete: a late ERROR for the answer would report that it came too late.
    daemon.event(given.body.taskId as string, 'ERROR', { error: 'too late', code: 'PROMPT_SUPERSEDED' });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).lastTask?.code === 'PROMPT_SUPERSEDED',
    );
    expect(await relay.database.models.prompt.findFirst({ where: { uuid: question.uuid } })).toMatchObject({
      state: 'failed',
    });
  });

  it('keeps several questions open, and delivers two simultaneous answers as one task after the other', async () => {
    const { taskId, id, native } = await run(daemon);
    const [a, b] = [permission(`a-${native}`, 'A?'), permission(`b-${native}`, 'B?')];
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: a });
    await asking(id, 'A?');
    daemon.event(taskId, 'PROMPT_OPEN', { session_id: native, question: b });
    expect((await asking(id, 'A?', 'B?')).prompt).toMatchObject({ id: a.uuid });
    const ofB = await answer(id, b.uuid, { option: 'no' }, { api: 1 });
    const ofA = await answer(id, a.uuid, { option: 'yes' });
    expect([ofA.status, ofB.status]).toEqual([202, 202]);
    expect(await resumed(daemon, ofB.body.taskId)).toMatchObject({ prompt_uuid: b.uuid, option_id: 'no' });
    // The agent reports that it still waits for A, whose answer exists already.
    daemon.event(ofB.body.taskId as string, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: a });
    expect(await resumed(daemon, ofA.body.taskId)).toMatchObject({ prompt_uuid: a.uuid, option_id: 'yes' });
    daemon.event(ofA.body.taskId as string, 'TASK_COMPLETE', { result: 'both done' });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).status === 'idle',
    );
    expect(
      app.inbox.all.filter(
        ({ session }) => (session as Seen | undefined)?.id === id && (session as Seen).status === 'idle',
      ),
    ).toHaveLength(1);
  });

  it('shows the other question while it is open, after the first one got its answer', async () => {
    const { taskId, id, native } = await run(daemon);
    const [a, b] = [permission(`a-${native}`, 'A?'), permission(`b-${native}`, 'B?')];
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: a });
    daemon.event(taskId, 'PROMPT_OPEN', { session_id: native, question: b });
    await asking(id, 'A?', 'B?');
    const ofA = await answer(id, a.uuid, { option: 'yes' });
    await resumed(daemon, ofA.body.taskId);
    daemon.send({ type: 'status', running_tasks: [ofA.body.taskId] });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).lastTask?.state === 'running' && (session as Seen).id === id,
    );
    expect(await read(id)).toMatchObject({ status: 'active', prompts: [{ id: b.uuid }] });
    // The completed turn supersedes the open questions.
    daemon.event(ofA.body.taskId as string, 'TASK_COMPLETE', { result: 'done without B' });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).status === 'idle',
    );
    expect(await answer(id, b.uuid, { option: 'yes' })).toMatchObject({
      status: 409,
      body: { code: 'PROMPT_SUPERSEDED', prompts: [] },
    });
  });

  it('A4: a withdrawn question can no longer be answered, and the turn completes as usual', async () => {
    const { taskId, id, native } = await run(daemon);
    const asked = permission(`a-${native}`, 'A?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: asked });
    await asking(id, 'A?');
    daemon.event('', 'PROMPT_CLOSED', { session_id: native, uuid: asked.uuid, state: 'superseded' });
    await app.next(
      'session_update',
      ({ session }) =>
        (session as Seen).id === id && !(session as Seen).prompts && (session as Seen).status === 'active',
    );
    expect(await answer(id, asked.uuid, { option: 'yes' })).toMatchObject({
      status: 409,
      body: { code: 'PROMPT_SUPERSEDED' },
    });
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: native, result: 'went on' });
    await app.next('new_message', ({ message }) => (message as { content: string }).content === 'went on');
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).status === 'idle',
    );
  });

  it('a repeated question is open although an answer to the previous one is still pending', async () => {
    const { taskId, id, native } = await run(daemon);
    const [first, second] = [permission(`a-${native}`, 'A?'), permission(`b-${native}`, 'B?')];
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: first });
    await asking(id, 'A?');
    const given = await answer(id, first.uuid, { option: 'yes' });
    await resumed(daemon, given.body.taskId);
    daemon.event(taskId, 'PROMPT_CLOSED', { session_id: native, uuid: first.uuid, state: 'superseded' });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'B?', session_id: native, question: second });
    await asking(id, 'B?');
    daemon.event(given.body.taskId as string, 'ERROR', { error: 'The question is closed.', code: 'PROMPT_SUPERSEDED' });
    // Reads the session instead: a frame about the first question could still be unread.
    await until('the session waits again', async () => (await read(id)).status === 'waiting');
    expect(await read(id)).toMatchObject({ status: 'waiting', prompt: { id: second.uuid } });
    const other = await answer(id, second.uuid, { option: 'no' });
    expect(await resumed(daemon, other.body.taskId)).toMatchObject({ prompt_uuid: second.uuid, option_id: 'no' });
  });

  it('a session whose turn completes after its question is idle immediately, if its daemon names the status', async () => {
    const { taskId, id, native } = await run(daemon);
    const asked = permission(`a-${native}`, 'A?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: asked });
    await asking(id, 'A?');
    daemon.event('', 'PROMPT_CLOSED', { session_id: native, uuid: asked.uuid, state: 'superseded', status: 'idle' });
    const closed = await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && !(session as Seen).prompts,
    );
    expect(closed.session).toMatchObject({ status: 'idle' });
  });

  it('a turn that continues without its question is active, and a cancel stops it', async () => {
    const { taskId, id, native } = await run(daemon);
    const asked = permission(`a-${native}`, 'A?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: asked });
    await asking(id, 'A?');
    daemon.event(taskId, 'PROMPT_CLOSED', { session_id: native, uuid: asked.uuid, state: 'superseded' });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).status === 'active',
    );
    expect(await relay.call('POST', path(id, '/cancel'), { body: { which: 'running' } })).toMatchObject({
      status: 202,
      body: { taskId, state: 'cancelled' },
    });
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    expect(await read(id)).toMatchObject({ status: 'idle', lastTask: { id: taskId, state: 'cancelled' } });
    expect((await relay.call('POST', path(id, '/cancel'))).body).toMatchObject({ code: 'NO_RUNNING_TASK' });
  });

  it('a dismissal that was lost with its connection is repeated before the next message', async () => {
    const [dismissed, kept] = [await run(daemon), await run(daemon)];
    for (const { taskId, native } of [dismissed, kept])
      daemon.event(taskId, 'WAIT_FOR_USER', {
        prompt: `${native}?`,
        session_id: native,
        question: permission(`q-${native}`, `${native}?`),
      });
    await asking(dismissed.id, `${dismissed.native}?`);
    await asking(kept.id, `${kept.native}?`);
    await daemon.drop();
    expect((await relay.call('POST', path(dismissed.id, '/cancel'))).body).toMatchObject({ taskId: dismissed.taskId });
    const sent = await say(dismissed.id, { content: 'another thing' });
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      headers: named,
      hello: [{ type: 'status', running_tasks: [], open_prompts: [`q-${dismissed.native}`, `q-${kept.native}`] }],
    });
    await resumed(daemon, sent.body.taskId);
    const told = daemon.inbox.all.filter(({ type }) => type === 'task_cancel' || type === 'task_resume');
    expect(told.map((frame) => [frame.type, frame.task_id])).toEqual([
      ['task_cancel', dismissed.taskId],
      ['task_resume', sent.body.taskId],
    ]);
  });

  it('the question of a task that was cancelled before it arrived is dismissed', async () => {
    const { taskId, id, native } = await run(daemon);
    await daemon.drop();
    expect((await relay.call('POST', path(id, '/cancel'))).body).toMatchObject({ taskId });
    daemon = await connectDaemon(relay, { registration: daemon.registration, headers: named, hello: [] });
    const question = permission(`q-${native}`, 'Late?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Late?', session_id: native, question });
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    expect(await read(id)).toMatchObject({ status: 'idle', lastTask: { state: 'cancelled' } });
    daemon.send({ type: 'status', running_tasks: [], open_prompts: [] });
  });

  it('a repeated question is published again, and its message once: an instance that died might have reached no app', async () => {
    const { taskId, id, native } = await run(daemon);
    const first = { prompt: 'First?', session_id: native, question: permission(`q1-${native}`, 'First?') };
    const second = { session_id: native, question: permission(`q2-${native}`, 'Second?') };
    daemon.event(taskId, 'WAIT_FOR_USER', first);
    await asking(id, 'First?');
    daemon.event(taskId, 'WAIT_FOR_USER', first);
    await asking(id, 'First?');
    daemon.event(taskId, 'PROMPT_OPEN', second);
    await asking(id, 'First?', 'Second?');
    daemon.event(taskId, 'PROMPT_OPEN', second);
    await asking(id, 'First?', 'Second?');
    const said = app.inbox.all.filter(({ type, sessionId }) => type === 'new_message' && sessionId === id);
    expect(said.map(({ message }) => (message as { uuid: string }).uuid)).toEqual([`q1-${native}`, `q2-${native}`]);
    expect((await read(id)).prompts).toHaveLength(2);
  });

  it('a question of a cancelled task stays dismissed when its daemon repeats it, seen before or not', async () => {
    const { taskId, id, native } = await run(daemon);
    const shown = permission(`q1-${native}`, 'Shown?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Shown?', session_id: native, question: shown });
    await asking(id, 'Shown?');
    await relay.call('POST', path(id, '/cancel'));
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    for (const question of [shown, permission(`q2-${native}`, 'Beside?')]) {
      daemon.event(taskId, 'PROMPT_OPEN', { session_id: native, question });
      await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
      expect(await read(id)).toMatchObject({ status: 'idle' });
      expect((await read(id)).prompts).toBeUndefined();
    }
  });

  it('a question whose session was deleted while its daemon was away is dismissed when the daemon repeats it', async () => {
    const { taskId, id, native } = await run(daemon);
    const question = permission(`q-${native}`, 'Deleted?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Deleted?', session_id: native, question });
    await asking(id, 'Deleted?');
    await daemon.drop();
    expect((await relay.call('DELETE', path(id))).status).toBe(204);
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      headers: named,
      hello: [{ type: 'status', running_tasks: [], open_prompts: [question.uuid] }],
    });
    daemon.event(taskId, 'PROMPT_OPEN', { session_id: native, question });
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    expect((await relay.call('GET', path(id))).status).toBe(404);
  });

  it('A5: questions that a returning daemon omits are superseded, and a late answer gets that code; repeated ones stay open', async () => {
    const [gone, kept] = [await run(daemon), await run(daemon)];
    for (const { taskId, native } of [gone, kept])
      daemon.event(taskId, 'WAIT_FOR_USER', {
        prompt: `${native}?`,
        session_id: native,
        question: permission(`q-${native}`, `${native}?`),
      });
    await asking(gone.id, `${gone.native}?`);
    await asking(kept.id, `${kept.native}?`);
    await daemon.drop();
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      headers: named,
      hello: [{ type: 'status', running_tasks: [], open_prompts: [`q-${kept.native}`] }],
    });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === gone.id && (session as Seen).status === 'idle',
    );
    expect(await answer(gone.id, `q-${gone.native}`, { option: 'yes' })).toMatchObject({
      status: 409,
      body: { code: 'PROMPT_SUPERSEDED' },
    });
    const given = await answer(kept.id, `q-${kept.native}`, { option: 'yes' });
    expect(await resumed(daemon, given.body.taskId)).toMatchObject({ prompt_uuid: `q-${kept.native}` });
    expect(daemon.inbox.count('task_resume')).toBe(1);
  });

  it('a daemon killed between the answer and its delivery gets it once, with the id of its question', async () => {
    const { taskId, id, native } = await run(daemon);
    const asked = permission(`a-${native}`, 'A?');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: asked });
    await asking(id, 'A?');
    await daemon.drop();
    const given = await answer(id, asked.uuid, { option: 'yes' });
    expect(given.status).toBe(202);
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      headers: named,
      hello: [{ type: 'status', running_tasks: [], open_prompts: [] }],
    });
    expect(await resumed(daemon, given.body.taskId)).toMatchObject({ prompt_uuid: asked.uuid, option_id: 'yes' });
    daemon.event(given.body.taskId as string, 'ERROR', {
      error: 'the question is closed',
      code: 'PROMPT_SUPERSEDED',
    });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).lastTask?.code === 'PROMPT_SUPERSEDED',
    );
    expect(await answer(id, asked.uuid, { option: 'no' })).toMatchObject({ body: { code: 'PROMPT_ALREADY_ANSWERED' } });
  });

  it('a cancel supersedes every open question', async () => {
    const { taskId, id, native } = await run(daemon);
    daemon.event(taskId, 'WAIT_FOR_USER', {
      prompt: 'A?',
      session_id: native,
      question: permission(`a-${native}`, 'A?'),
    });
    daemon.event(taskId, 'PROMPT_OPEN', { session_id: native, question: permission(`b-${native}`, 'B?') });
    await asking(id, 'A?', 'B?');
    expect((await relay.call('POST', path(id, '/cancel'))).body).toMatchObject({ taskId });
    for (const uuid of [`a-${native}`, `b-${native}`])
      expect((await answer(id, uuid, { option: 'yes' })).body).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
    expect(await read(id)).toMatchObject({ status: 'idle' });
  });

  it('a message answers the question it names, the oldest by default, or no question if it asks for that', async () => {
    const { taskId, id, native } = await run(daemon);
    const choice = { kind: 'choice', text: true, options: [{ id: 'yes', label: 'Yes' }] };
    const [a, b] = [permission(`a-${native}`, 'A?', choice), permission(`b-${native}`, 'B?', choice)];
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: a });
    daemon.event(taskId, 'PROMPT_OPEN', { session_id: native, question: b });
    await asking(id, 'A?', 'B?');
    const none = await say(id, { content: 'later', answers: null });
    const named = await say(id, { content: 'this for B', answers: b.uuid });
    expect(await resumed(daemon, named.body.taskId)).toMatchObject({ message: 'this for B', prompt_uuid: b.uuid });
    daemon.event(named.body.taskId as string, 'WAIT_FOR_USER', { prompt: 'A?', session_id: native, question: a });
    await app.next(
      'session_update',
      ({ session }) =>
        (session as Seen).id === id &&
        (session as Seen).status === 'waiting' &&
        (session as Seen).lastTask?.id === named.body.taskId,
    );
    const plain = await say(id, { content: 'yes' });
    expect(await resumed(daemon, plain.body.taskId)).toMatchObject({ message: 'yes', prompt_uuid: a.uuid });
    expect(await task(none.body.taskId)).toMatchObject({ state: 'queued' });
    daemon.event(plain.body.taskId as string, 'TASK_COMPLETE', { result: 'done' });
    const later = await resumed(daemon, none.body.taskId);
    expect(later).toMatchObject({ message: 'later' });
    expect(later).not.toHaveProperty('prompt_uuid');
  });

  it('an answer that is cancelled before it was sent leaves its question open', async () => {
    const { taskId, id } = await run(field);
    field.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', options: [{ label: 'Allow' }, { label: 'Refuse' }] });
    const { prompt } = await asking(id, 'A?');
    await field.close();
    const first = await answer(id, prompt!.id, { option: '1' });
    expect((await relay.call('POST', path(id, '/cancel'))).body).toMatchObject({ taskId: first.body.taskId });
    expect(await read(id)).toMatchObject({ status: 'waiting', prompts: [{ id: prompt!.id }] });
    const second = await answer(id, prompt!.id, { option: '2' });
    field = await connectDaemon(relay, { registration: field.registration });
    expect(await resumed(field, second.body.taskId)).toMatchObject({ message: 'Refuse' });
  });

  it('refuses an answer that does not fit the form, and an unknown question', async () => {
    const { taskId, id, native } = await run(daemon);
    const form = {
      uuid: `f-${native}`,
      title: 'Where to?',
      kind: 'form',
      options: [],
      fields: [
        { name: 'city', title: 'City', type: 'choice', choices: [{ id: 'par', label: 'Paris' }], required: true },
        { name: 'nights', title: 'Nights', type: 'integer', min: 1, max: 9 },
      ],
    };
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Where to?', session_id: native, question: form });
    await asking(id, 'Where to?');
    for (const body of [
      {},
      { option: 'yes' },
      { text: 'Paris' },
      { option: 'a', text: 'b' },
      { fields: {} },
      { fields: { city: 'rom' } },
      { fields: { city: 'par', nights: 99 } },
      { fields: { city: 'par', other: 1 } },
    ])
      expect([body, await answer(id, form.uuid, body)]).toMatchObject([
        body,
        { status: 400, body: { code: 'INVALID_ANSWER' } },
      ]);
    const nothing = { status: 404, body: { code: 'PROMPT_NOT_FOUND' } };
    expect(await answer(id, 'made-up', { option: 'yes' })).toMatchObject(nothing);
    expect(await say(id, { content: 'x', answers: 'made-up' })).toMatchObject(nothing);
    expect(await answer(id, form.uuid, { text: 'x' }, { user: 'bob' })).toMatchObject({
      status: 404,
      body: { code: 'SESSION_NOT_FOUND' },
    });
    const given = await answer(id, form.uuid, { fields: { city: 'par', nights: 2 } });
    expect(await resumed(daemon, given.body.taskId)).toMatchObject({
      message: 'City: par\nNights: 2',
      prompt_uuid: form.uuid,
      fields: { city: 'par', nights: 2 },
    });
  });

  it('returns the first answer for a repeated Idempotency-Key, also after the question is closed', async () => {
    const { taskId, id } = await run(field);
    field.event(taskId, 'WAIT_FOR_USER', { prompt: 'A?', options: [{ label: 'Allow' }] });
    const { prompt } = await asking(id, 'A?');
    const headers = { 'Idempotency-Key': `answer-${id}` };
    const first = await answer(id, prompt!.id, { option: '1' }, { headers });
    await resumed(field, first.body.taskId);
    field.event(first.body.taskId as string, 'TASK_COMPLETE', { result: 'done' });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).status === 'idle',
    );
    const again = await answer(id, prompt!.id, { option: '1' }, { headers });
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await answer(id, prompt!.id, { option: '2' }, { headers })).body).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('an expired question is hidden, and cannot be answered', async () => {
    const { taskId, id, native } = await run(daemon);
    const asked = permission(`e-${native}`, 'Now?', { expires: '2020-01-01T00:00:00.000Z' });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Now?', session_id: native, question: asked });
    await app.next(
      'session_update',
      ({ session }) => (session as Seen).id === id && (session as Seen).status === 'waiting',
    );
    expect(await read(id)).not.toHaveProperty('prompts');
    expect((await answer(id, asked.uuid, { option: 'yes' })).body).toMatchObject({
      code: 'PROMPT_SUPERSEDED',
      prompts: [],
    });
  });
});

describe('BOUND_APPROVALS', () => {
  it('D2: refuses, unless it is off, a message that names no question while a permission is open', async () => {
    const relay = await startRelay();
    const app = await connectApp(relay);
    const daemon = await connectDaemon(relay, { headers: named });
    const created = await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'go' } });
    const { taskId } = created.body as { taskId: string };
    await daemon.next('task_start');
    const question = permission('p1', 'Run it?', { text: true });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Run it?', session_id: 'n1', question });
    const id = `${daemon.deviceId}:scripted:n1`;
    await app.next('session_update', ({ session }) => (session as Seen).status === 'waiting');
    const messages = `/api/sessions/${encodeURIComponent(id)}/messages`;
    expect(await relay.call('POST', messages, { body: { content: 'yes' } })).toMatchObject({
      status: 409,
      body: { code: 'PROMPT_REFERENCE_REQUIRED', prompts: [{ id: 'p1' }] },
    });
    const sent = await relay.call('POST', messages, { body: { content: 'no, first this', answers: 'p1' } });
    expect(sent.status).toBe(202);
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'p1', message: 'no, first this' });
    await relay.stop();
  });

  it('D2: off: a message answers the oldest permission', async () => {
    const relay = await startRelay({ config: { boundApprovals: 'off' } });
    const app = await connectApp(relay);
    const daemon = await connectDaemon(relay, { headers: named });
    await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'go' } });
    const { task_id: taskId } = await daemon.next('task_start');
    const question = permission('p1', 'Run it?', { text: true });
    daemon.event(String(taskId), 'WAIT_FOR_USER', { prompt: 'Run it?', session_id: 'n1', question });
    await app.next('session_update', ({ session }) => (session as Seen).status === 'waiting');
    const messages = `/api/sessions/${encodeURIComponent(`${daemon.deviceId}:scripted:n1`)}/messages`;
    expect((await relay.call('POST', messages, { body: { content: 'yes' } })).status).toBe(202);
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'p1', message: 'yes' });
    await relay.stop();
  });
});
