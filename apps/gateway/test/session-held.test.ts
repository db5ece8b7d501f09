/**
 * Sessions that another program of the machine has open, from the daemon to the apps; and requests of apps about them.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Held, Session } from '@relay/protocol';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { until } from './conversation.ts';

const held: Held = {
  state: 'idle',
  program: 'Claude Code',
  terminal: 'pts/3',
  since: '2026-11-28T08:52:11.000Z',
  at: '2026-11-28T09:04:02.000Z',
  sure: true,
  ends: true,
};
const entry = (sessionId: string, more: object = {}) => ({
  session_id: sessionId,
  last_message: 'hi',
  is_active: false,
  message_count: 1,
  last_activity: '2026-11-28T09:00:00.000Z',
  ...more,
});
const update = async (app: TestApp, match: (session: Session) => boolean) =>
  (await app.next('session_update', ({ session }) => match(session as Session))).session as Session;
const hello = (...sessions: object[]) => [
  { type: 'status', running_tasks: [] },
  { type: 'report_sessions', sessions },
];

describe('a session that another program has open', () => {
  let relay: TestRelay;
  const log: string[] = [];
  beforeAll(async () => {
    // Long enough for an answer, and for a program that waits no longer, on a busy machine.
    relay = await startRelay({
      config: { daemonReplyTimeoutMs: 2500, deskWaitMs: 2500, offlineGraceMs: 500, logLevel: 'debug' },
      log: { write: (line) => void log.push(line) },
    });
  });
  afterAll(() => relay.stop());

  const connect = (registration?: TestDaemon['registration'], ...sessions: object[]) =>
    connectDaemon(relay, {
      capabilities: ['desk', 'transcript', 'prompts'],
      hello: hello(...sessions),
      ...(registration ? { registration } : {}),
    });
  const read = async (id: string) =>
    (await relay.call('listSessions')).body.sessions.find((session) => session.id === id);
  const known = async (id: string) => {
    await until(() => read(id));
    return id;
  };
  const idOf = (daemon: TestDaemon, native: string) => `${daemon.deviceId}:scripted:${native}`;

  it('44: is shown from the report on, and every report replaces it', async () => {
    const app = await connectApp(relay);
    const daemon = await connect(undefined, entry('n1', { held }), entry('n2'));
    expect(daemon.relayCapabilities).toContain('desk');
    const id = idOf(daemon, 'n1');
    await update(app, (session) => session.id === id && session.held !== undefined);
    const before = await read(id);
    expect(before?.held).toEqual(held);
    expect((await read(idOf(daemon, 'n2')))?.held).toBeUndefined();
    daemon.send({ type: 'report_sessions', sessions: [entry('n1'), entry('n2', { held })] });
    await update(app, (session) => session.id === idOf(daemon, 'n2') && session.held !== undefined);
    const after = await read(id);
    expect(after?.held).toBeUndefined();
    expect(after?.updatedAt).toBe(before?.updatedAt);
    await daemon.close();
    await app.close();
  });

  it('44: follows each change, and neither moves nor becomes unread', async () => {
    const app = await connectApp(relay);
    const daemon = await connect(undefined, entry('n1'));
    const id = idOf(daemon, 'n1');
    await update(app, (session) => session.id === id);
    const before = await read(id);
    daemon.send({ type: 'session_held', session_id: 'n1', held: { ...held, state: 'busy', pid: 4711 } });
    const session = await update(app, (session) => session.held?.state === 'busy');
    expect(session).toEqual({ ...before, ...session, held: { ...held, state: 'busy' } });
    daemon.send({ type: 'session_held', session_id: 'n1', held: null });
    await update(app, (session) => session.id === id && session.held === undefined);
    await daemon.close();
    await app.close();
  });

  it('44: shows nothing while the device is away, and returns after the same report', async () => {
    const daemon = await connect(undefined, entry('n1', { held }));
    const id = idOf(daemon, 'n1');
    await until(async () => (await read(id))?.held !== undefined);
    daemon.send({ type: 'session_held', session_id: 'n1', held: { ...held, state: 'busy' } });
    await until(async () => (await read(id))?.held?.state === 'busy');
    await daemon.close();
    await until(async () => (await read(id))?.held === undefined);
    const again = await connect(daemon.registration, entry('n1', { held }));
    await until(async () => (await read(id))?.held?.state === 'idle');
    await again.close();
  });

  it('44: stays without a holder when its daemon does not declare desk', async () => {
    const app = await connectApp(relay);
    const daemon = await connectDaemon(relay, { hello: hello(entry('n1', { held })) });
    await update(app, (session) => session.id === idOf(daemon, 'n1'));
    daemon.send({ type: 'session_held', session_id: 'n1', held });
    daemon.send({ type: 'session_activity', session_id: 'n1', last_message: 'later', message_count: 2 });
    const session = await update(app, (session) => session.lastMessage === 'later');
    expect(session.held).toBeUndefined();
    await daemon.close();
    await app.close();
  });

  it('44: gets the choice of the person with the message, as part of its idempotency', async () => {
    const daemon = await connect(undefined, entry('n1', { held }));
    const id = idOf(daemon, 'n1');
    await known(id);
    const send = (desk: string) =>
      relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, {
        body: { content: 'go on', desk },
        headers: { 'Idempotency-Key': 'k1' },
      });
    expect((await send('take')).status).toBe(202);
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'go on', desk: 'take' });
    expect((await send('take')).status).toBe(202);
    expect(await send('wait')).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
    expect((await send('later')).status).toBe(400);
    await daemon.close();
  });

  it('44: gets the choice of an agent, but take only where its daemon knows that an agent closes no program', async () => {
    const token = relay.token('alice', { scopes: ['agents:drive', 'agents:answer'] });
    const headers = { Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}` };
    const send = (id: string, desk: string) => {
      const params = { name: 'send_message', arguments: { sessionId: id, content: desk, desk } };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      return relay.call('POST', '/mcp', { user: null, headers, body });
    };
    for (const [more, choices] of [
      [['controls'], { wait: 'wait', take: 'take' }],
      [[], { wait: 'wait', take: undefined }],
    ] as const) {
      for (const [choice, sent] of Object.entries(choices)) {
        const daemon = await connectDaemon(relay, {
          capabilities: ['desk', 'transcript', 'prompts', ...more],
          hello: hello(entry('n1', { held })),
        });
        const id = await known(idOf(daemon, 'n1'));
        expect((await send(id, choice)).body).toMatchObject({ result: { structuredContent: { state: 'queued' } } });
        const { desk, restricted } = await daemon.next('task_resume');
        expect([desk, restricted]).toEqual([sent, more.length > 0 ? 'agent' : undefined]);
        expect((await send(id, 'later')).body).toMatchObject({ result: { isError: true } });
        await daemon.close();
      }
    }
  });

  it('44: is never asked to choose where its daemon knows no choice', async () => {
    const daemon = await connectDaemon(relay, { hello: hello(entry('n1')) });
    const id = idOf(daemon, 'n1');
    await known(id);
    await relay.call('sendMessage', { params: { id }, body: { content: 'go on', desk: 'take' } });
    const frame = await daemon.next('task_resume');
    expect(frame).toMatchObject({ message: 'go on' });
    expect(frame).not.toHaveProperty('desk');
    await daemon.close();
  });

  it('44: returns the terminal command to continue, and releases the session only on request', async () => {
    const daemon = await connect(undefined, entry('n1'));
    const id = idOf(daemon, 'n1');
    await known(id);
    for (const [name, letGo] of [
      ['readDesk', false],
      ['letGo', true],
    ] as const) {
      const answer = relay.call(name, { params: { id } });
      const frame = await daemon.next('desk_request');
      expect(frame).toMatchObject({ session_id: 'n1', let_go: letGo });
      const about = { type: 'desk_response', request_id: frame.request_id, session_id: 'n1' };
      daemon.send({ ...about, free: false, why: 'held', held, command: 'claude --resume n1', cwd: '/garden' });
      expect(await answer).toMatchObject({ status: 200 });
      expect((await answer).body).toEqual({
        sessionId: id,
        free: false,
        why: 'held',
        held,
        command: 'claude --resume n1',
        cwd: '/garden',
        attach: `relay attach ${id}`,
      });
    }
    const { entries } = (await relay.call('listAudit', {})).body;
    // 17: the entry names the program and its terminal, and neither folder nor command.
    expect(entries.filter(({ target }) => target === id)).toEqual([
      expect.objectContaining({
        ...{ action: 'letGo', outcome: 'done', setting: 'result=held program=Claude Code terminal=pts/3' },
      }),
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/garden|resume/);
    const failing = relay.call('readDesk', { params: { id } });
    const { request_id: requestId } = await daemon.next('desk_request');
    daemon.send({
      type: 'desk_response',
      request_id: requestId,
      session_id: 'n1',
      error: 'this device has no such session',
    });
    expect(await failing).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
    expect(await relay.call('readDesk', { params: { id } })).toMatchObject({ status: 504 });
    await daemon.close();
    expect(await relay.call('readDesk', { params: { id } })).toMatchObject({ status: 503 });
  });

  it('44: answers NOT_SUPPORTED_BY_DEVICE for a daemon without desk, and passes stopTurn on to a daemon with it', async () => {
    const plain = await connectDaemon(relay, { hello: hello(entry('n1')) });
    await known(idOf(plain, 'n1'));
    expect(await relay.call('readDesk', { params: { id: idOf(plain, 'n1') } })).toMatchObject({
      status: 409,
      body: { code: 'NOT_SUPPORTED_BY_DEVICE' },
    });
    const able = await connect(undefined, entry('n1'));
    await known(idOf(able, 'n1'));
    for (const daemon of [plain, able]) {
      const answer = relay.call('releaseSession', { params: { id: idOf(daemon, 'n1') }, body: { stopTurn: true } });
      const frame = await daemon.next('force_quit_session');
      expect(frame.stop_turn).toBe(daemon === able ? true : undefined);
      const about = { type: 'force_quit_result', request_id: frame.request_id, session_id: 'n1' };
      daemon.send({ ...about, status: 'released' });
      expect((await answer).body).toMatchObject({ result: 'released' });
    }
    await plain.close();
    await able.close();
  });

  it('44, desk 17: the audit names program, terminal and outcome of a release, and no log line has a text', async () => {
    const daemon = await connect(
      undefined,
      entry('n1', { held, title: 'walrus title', project: '/walrus' }),
      entry('n2'),
    );
    const [open, free] = [idOf(daemon, 'n1'), idOf(daemon, 'n2')];
    await known(open);
    await known(free);
    const release = async (id: string, status: string) => {
      const answer = relay.call('releaseSession', { params: { id } });
      const { request_id, session_id } = await daemon.next('force_quit_session');
      daemon.send({ type: 'force_quit_result', request_id, session_id, status, detail: 'walrus detail' });
      expect((await answer).body).toMatchObject({ result: status, detail: 'walrus detail' });
    };
    await release(open, 'busy');
    await release(open, 'released');
    await release(free, 'not_held');
    expect((await relay.call('releaseSession', { params: { id: open } })).status).toBe(504);
    await daemon.next('force_quit_session');
    const { entries } = (await relay.call('listAudit', {})).body;
    const program = 'program=Claude Code terminal=pts/3';
    expect(
      entries
        .filter(({ target }) => target === open || target === free)
        .map(({ action, outcome, setting }) => [action, outcome, setting]),
    ).toEqual([
      ['releaseSession', 'DEVICE_TIMEOUT', `result=asked ${program}`],
      ['releaseSession', 'done', 'result=not_held'],
      ['releaseSession', 'done', `result=released ${program}`],
      ['releaseSession', 'done', `result=busy ${program}`],
    ]);
    expect(JSON.stringify(entries)).not.toContain('walrus');
    // Proves that the log is searched.
    expect(log.join('\n')).toContain(daemon.deviceId);
    expect(log.join('\n')).not.toContain('walrus');
    await daemon.close();
  });

  it('44, desk 13: is hidden while the device is offline, and the message that waited asks on its return', async () => {
    const daemon = await connect(undefined, entry('n1', { held }));
    const id = idOf(daemon, 'n1');
    await known(id);
    expect((await read(id))?.held).toEqual(held);
    await daemon.drop();
    await until(async () => (await read(id))?.held === undefined);
    const sent = await relay.call('sendMessage', { params: { id }, body: { content: 'while it was away' } });
    expect(sent).toMatchObject({ status: 202, body: { state: 'queued' } });
    // The program still has the session open: the daemon asks before its agent gets the message.
    const back = await connect(daemon.registration, entry('n1', { held }));
    const task = await back.next('task_resume');
    expect(task).toMatchObject({ message: 'while it was away' });
    expect(task).not.toHaveProperty('desk');
    const options = [{ id: 'take', label: 'Close it there and send' }];
    const question = { uuid: 'held', title: 'Close the program there and send?', kind: 'choice', options, text: false };
    back.event(String(task.task_id), 'WAIT_FOR_USER', { session_id: 'n1', prompt: question.title, options, question });
    await until(async () => (await read(id))?.prompts?.[0]?.id === 'held');
    expect((await read(id))?.held).toEqual(held);
    await relay.call('answerPrompt', { params: { id, uuid: 'held' }, body: { option: 'take' } });
    expect(await back.next('task_resume')).toMatchObject({ prompt_uuid: 'held', option_id: 'take' });
    await back.close();
  });

  it('44: notifies once when its program waits for its person, in a watched session alone', async () => {
    const names = ['n1', 'n2', 'n3'];
    const daemon = await connect(undefined, ...names.map((name) => entry(name)));
    const [first, second, unwatched] = names.map((name) => idOf(daemon, name)) as [string, string, string];
    for (const id of [first, second, unwatched]) await known(id);
    for (const id of [first, second]) await relay.call('watch', { body: { sessionId: id } });
    const notified = async () =>
      (await relay.call('listNotifications')).body.notifications
        .filter(({ sessionId }) => [first, second, unwatched].includes(sessionId))
        .map(({ sessionId, cause }) => [sessionId, cause]);
    const waiting: Held = { ...held, state: 'waiting', waits: 'permission prompt' };
    const send = (name: string, now: Held) => daemon.send({ type: 'session_held', session_id: name, held: now });
    send('n2', waiting);
    send('n2', held);
    send('n3', waiting);
    send('n1', waiting);
    await until(async () => (await notified()).length > 0);
    expect(await notified()).toEqual([[first, 'needs_you']]);
    await daemon.close();
    const again = await connect(daemon.registration, entry('n1', { held: waiting }), entry('n2', { held: waiting }));
    await until(async () => (await notified()).length > 1);
    expect(await notified()).toEqual([
      [second, 'needs_you'],
      [first, 'needs_you'],
    ]);
    expect((await relay.call('listInbox')).body.items).toEqual([]);
    await again.close();
  });

  it('44, desk 19: notifies once of a question that its program asks and apps show', async () => {
    const daemon = await connect(undefined, entry('n5'), entry('n6'));
    const [asked, waiting] = [await known(idOf(daemon, 'n5')), await known(idOf(daemon, 'n6'))];
    for (const id of [asked, waiting]) await relay.call('watch', { body: { sessionId: id } });
    const notified = async () =>
      (await relay.call('listNotifications')).body.notifications.flatMap(({ sessionId }) =>
        [asked, waiting].includes(sessionId) ? [sessionId] : [],
      );
    const option = { id: 'allow', label: 'Allow once', kind: 'allow_once' };
    const question = { uuid: 'desk-question', title: 'Run ls?', kind: 'permission', options: [option], person: true };
    daemon.event('', 'PROMPT_OPEN', { session_id: 'n5', question });
    await until(async () => (await read(asked))?.prompt !== undefined);
    for (const name of ['n5', 'n6'])
      daemon.send({ type: 'session_held', session_id: name, held: { ...held, state: 'waiting' } });
    await until(async () => (await notified()).includes(waiting));
    expect(await notified()).toEqual([waiting, asked]);
    // The answer is a task of its own, which the daemon settles once the program has it.
    const params = { id: asked, uuid: question.uuid };
    const { body, status } = await relay.call('answerPrompt', { params, body: { option: 'allow' } });
    expect(status).toBe(202);
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ task_id: body.taskId, prompt_uuid: question.uuid, option_id: 'allow' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', {
      session_id: 'n5',
      result: 'The terminal has your answer.',
    });
    await until(async () => (await read(asked))?.prompt === undefined);
    await daemon.close();
  });
});
