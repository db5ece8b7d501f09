import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { unclaimTask, withDevice } from '@relay/database';
import { userItemUuid } from '@relay/protocol/identity';
import {
  begin,
  end,
  idOf,
  messageIn,
  nextStart,
  readSession,
  readTask,
  run,
  say,
  tick,
  until,
} from './conversation.ts';

const capabilities = ['transcript', 'prompts', 'steer'] as const;
const status = (...running: string[]): Frame => ({ type: 'status', running_tasks: running });

/** Answers each question about the history with these messages. */
function answering(daemon: TestDaemon, messages: (sessionId: string) => readonly object[]) {
  daemon.socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString('utf8')) as Frame;
    if (frame.type !== 'get_messages') return;
    const { request_id, session_id } = frame as Frame & { request_id: string; session_id: string };
    daemon.send({ type: 'messages', request_id, session_id, messages: messages(session_id), has_more: false });
  });
}

describe('a message into a running turn', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let number = 0;

  beforeAll(async () => {
    relay = await startRelay({
      gateways: 2,
      config: { statusWaitMs: 60_000, statusLostMs: 1, outcomeAskMs: 1, queueLimit: 2 },
    });
    daemon = await connectDaemon(relay, { capabilities });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  const turn = () => run(relay, daemon, app, `steered-${++number}`);
  const steer = (id: string, content: string) => say(relay, id, content, { deliver: 'now' });
  const given = (taskId: string) => daemon.next('task_steer', (frame) => frame.task_id === taskId);
  const resumed = (taskId: unknown) => daemon.next('task_resume', (frame) => frame.task_id === taskId);
  const resumes = (id: string) =>
    daemon.inbox.count('task_resume', ({ session_id: native }) => id.endsWith(`:${String(native)}`));
  const report = (taskId: string, outcome: string) => daemon.event(taskId, 'STEERED', { outcome });
  const stateOf = async (taskId: string) => {
    const { state, kind, error } = await readTask(relay, taskId);
    return error ? `${state} ${error.code}` : `${kind} ${state}`;
  };
  const queueOf = async (id: string) =>
    (
      (await relay.call('readQueue', { params: { id } })).body as {
        tasks: { taskId: string; kind: string; state?: string }[];
      }
    ).tasks;
  /** Completes a task, also while other messages wait. */
  const finish = async (taskId: string) => {
    daemon.event(taskId, 'TASK_COMPLETE', { result: `the result of ${taskId}` });
    await until(async () => (await readTask(relay, taskId)).state === 'completed');
  };
  const reconnect = async (hello: Frame[], gateway = 0) => {
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration, hello, gateway, capabilities });
  };

  it('reaches the daemon while the turn runs, and completes with the turn', async () => {
    const { taskId: into, id } = await turn();
    const sent = await relay.call('sendMessage', { params: { id }, body: { content: 'only 20', deliver: 'now' } });
    expect(sent).toMatchObject({ status: 202, body: { state: 'queued', deliver: 'now' } });
    const { taskId } = sent.body;
    expect(await given(taskId)).toEqual({
      type: 'task_steer',
      task_id: taskId,
      into,
      session_id: id.split(':').at(-1),
      message: 'only 20',
      message_uuid: userItemUuid(taskId),
    });
    expect(sent.body.message.uuid).toBe(userItemUuid(taskId));
    expect(await queueOf(id)).toMatchObject([{ taskId, kind: 'steer', state: 'sent' }]);
    report(taskId, 'injected');
    await tick(daemon, app);
    expect(await stateOf(taskId)).toBe('steer running');
    expect(await readSession(relay, id)).toMatchObject({ status: 'active', lastTask: { id: into, state: 'running' } });
    expect(await queueOf(id)).toEqual([]);
    await finish(into);
    expect(await stateOf(taskId)).toBe('steer completed');
    expect(await readTask(relay, taskId)).toMatchObject({ into });
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { id: into, state: 'completed' } });
  });

  it('goes one at a time, in the order of acceptance, past the queue', async () => {
    const { taskId: into, id } = await turn();
    for (const text of ['behind', 'also behind']) await say(relay, id, text);
    const first = await steer(id, 'one');
    await given(first);
    const second = await steer(id, 'two');
    await nextStart(relay, daemon);
    expect(daemon.inbox.count('task_steer', (frame) => frame.task_id === second)).toBe(0);
    report(first, 'injected');
    await given(second);
    report(second, 'injected');
    await finish(into);
    expect(await daemon.next('task_resume', ({ session_id: one }) => id.endsWith(String(one)))).toMatchObject({
      message: 'behind',
    });
  });

  it('is the next message when the turn was over: the first in line, and marked as late', async () => {
    const { taskId: into, id } = await turn();
    const waiting = await say(relay, id, 'waits');
    const taskId = await steer(id, 'too late');
    await given(taskId);
    await finish(into);
    report(taskId, 'not_running');
    expect(await daemon.next('task_resume', (frame) => frame.task_id === taskId)).toMatchObject({
      message: 'too late',
      message_uuid: userItemUuid(taskId),
      steer: 'next',
    });
    await finish(taskId);
    await resumed(waiting);
    expect(await readTask(relay, taskId)).toMatchObject({ kind: 'resume', state: 'completed', into });
  });

  it('becomes the next message when its turn completes before the gateway wrote it', async () => {
    const { taskId: into, id } = await turn();
    const first = await steer(id, 'one');
    await given(first);
    const [second, third] = [await steer(id, 'two'), await steer(id, 'three')];
    await say(relay, id, 'behind');
    await finish(into);
    // The daemon owes its outcome: no message passes it.
    await nextStart(relay, daemon);
    expect(resumes(id)).toBe(0);
    expect(await queueOf(id)).toMatchObject([{ taskId: first }, { taskId: second }, { taskId: third }, {}]);
    report(first, 'injected');
    for (const one of [second, third]) {
      await resumed(one);
      await finish(one);
    }
    expect(await stateOf(first)).toBe('steer completed');
  });

  it('waits in its old place when the agent refuses it, and the next ones with it', async () => {
    const { taskId: into, id } = await turn();
    const waiting = await say(relay, id, 'waits');
    const first = await steer(id, 'one');
    await given(first);
    const second = await steer(id, 'two');
    report(first, 'refused');
    await tick(daemon, app);
    expect(await queueOf(id)).toMatchObject([waiting, first, second].map((one) => ({ taskId: one, kind: 'resume' })));
    await finish(into);
    await resumed(waiting);
  });

  it('fails with STEER_DROPPED when the agent drops it, also after injected', async () => {
    const { taskId: into, id } = await turn();
    const taskId = await steer(id, 'unread');
    await given(taskId);
    report(taskId, 'injected');
    report(taskId, 'dropped');
    await finish(into);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { id: into, state: 'completed' } });
    expect(await stateOf(taskId)).toBe('failed STEER_DROPPED');
    const { body } = await relay.call('listInbox', {});
    expect(JSON.stringify(body)).not.toContain(taskId);
  });

  it('settles as unknown when the daemon does not know its outcome, and the session goes on', async () => {
    const { taskId: into, id } = await turn();
    const waiting = await say(relay, id, 'waits');
    const taskId = await steer(id, 'perhaps');
    await given(taskId);
    report(taskId, 'unknown');
    await tick(daemon, app);
    expect(await stateOf(taskId)).toBe('unknown DELIVERY_UNKNOWN');
    expect(await readSession(relay, id)).toMatchObject({ status: 'active' });
    await finish(into);
    await resumed(waiting);
  });

  it.each([0, 1])(
    'counts as injected when the history has it after a lost connection (gateway %s)',
    async (gateway) => {
      const { taskId: into, id } = await turn();
      const taskId = await steer(id, 'kept');
      await given(taskId);
      await reconnect([], gateway);
      answering(daemon, () => [
        { uuid: userItemUuid(into), role: 'USER', content: 'begin', timestamp: new Date().toISOString() },
        { uuid: userItemUuid(taskId), role: 'USER', content: 'kept', timestamp: new Date().toISOString() },
      ]);
      daemon.send(status(into));
      await until(async () => (await stateOf(taskId)) === 'steer running');
      await finish(into);
      expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
      expect(await stateOf(taskId)).toBe('steer completed');
      expect(daemon.inbox.count('task_steer', (frame) => frame.task_id === taskId)).toBe(0);
    },
  );

  it.each([0, 1])(
    'settles as unknown when the history lacks it, and the relay never sends it again (gateway %s)',
    async (gateway) => {
      const { taskId: into, id } = await turn();
      const taskId = await steer(id, 'lost');
      await given(taskId);
      await reconnect([], gateway);
      answering(daemon, () => []);
      daemon.send(status(into));
      await until(async () => (await stateOf(taskId)) === 'unknown DELIVERY_UNKNOWN');
      // The turn goes on, and so does the next message into it.
      const next = await steer(id, 'again');
      await given(next);
      report(next, 'injected');
      await finish(into);
      expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
      expect(daemon.inbox.count('task_steer', (frame) => frame.task_id === taskId)).toBe(0);
      expect(daemon.inbox.count('task_resume', (frame) => frame.task_id === taskId)).toBe(0);
    },
  );

  it('waits for its outcome on the next connection while the daemon lists it', async () => {
    const { taskId: into, id } = await turn();
    const taskId = await steer(id, 'under way');
    await given(taskId);
    await reconnect([status(into, taskId)], 1);
    await tick(daemon, app);
    expect(await stateOf(taskId)).toBe('steer sent');
    report(taskId, 'injected');
    await finish(into);
    expect(await stateOf(taskId)).toBe('steer completed');
  });

  it('becomes the next message when the gateway gives its claim back after the turn completed', async () => {
    const { taskId: into, id } = await turn();
    const taskId = await steer(id, 'given back');
    await given(taskId);
    await finish(into);
    const fence = (await relay.gateways[0]!.backplane.owners([daemon.deviceId])).get(daemon.deviceId)!.fence;
    await withDevice(relay.database, daemon.deviceId, (tx) => unclaimTask(tx, taskId, fence));
    // The gateway can claim it again at once.
    expect(await stateOf(taskId)).toMatch(/^resume (?:queued|sent)$/);
    await relay.call('removeQueued', { params: { id, taskId } });
  });

  it('takes a repeated outcome once', async () => {
    const { taskId: into, id } = await turn();
    const taskId = await steer(id, 'repeated');
    await given(taskId);
    report(taskId, 'not_running');
    await tick(daemon, app);
    await reconnect([]);
    report(taskId, 'not_running');
    daemon.send(status(into));
    report(taskId, 'not_running');
    await finish(into);
    await daemon.next('task_resume', (frame) => frame.task_id === taskId);
    report(taskId, 'not_running');
    await tick(daemon, app);
    expect(await stateOf(taskId)).toBe('resume sent');
    await finish(taskId);
    expect(daemon.inbox.count('task_resume', (frame) => frame.task_id === taskId)).toBe(1);
  });

  it('cancels with its turn, also before the gateway wrote it', async () => {
    const { id } = await turn();
    const written = await steer(id, 'written');
    await given(written);
    const waiting = await steer(id, 'not written');
    expect((await relay.call('cancelSession', { params: { id }, body: { which: 'running' } })).status).toBe(202);
    expect(await stateOf(written)).toBe('steer cancelled');
    expect(await stateOf(waiting)).toBe('steer cancelled');
    report(written, 'injected');
    await nextStart(relay, daemon);
    expect(await stateOf(written)).toBe('steer cancelled');
    expect(daemon.inbox.count('task_steer', (frame) => frame.task_id === waiting)).toBe(0);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it('lets Stop reach an agent that works on after its turn', async () => {
    const { taskId: into, id } = await turn();
    const taskId = await steer(id, 'works on');
    await given(taskId);
    report(taskId, 'injected');
    await finish(into);
    const native = id.split(':').at(-1);
    daemon.send({
      type: 'session_activity',
      session_id: native,
      own_turn: true,
      last_activity: new Date(Date.now() + 1000).toISOString(),
    });
    await until(async () => (await readSession(relay, id))?.status === 'active');
    expect(await relay.call('cancelSession', { params: { id }, body: {} })).toMatchObject({
      status: 202,
      body: { taskId: into },
    });
    await daemon.next('task_cancel', (frame) => frame.task_id === into);
    daemon.send({
      type: 'session_activity',
      session_id: native,
      own_turn: false,
      last_activity: new Date(Date.now() + 2000).toISOString(),
    });
    await until(async () => (await readSession(relay, id))?.status === 'idle');
    expect(await relay.call('cancelSession', { params: { id }, body: {} })).toMatchObject({
      status: 409,
      body: { code: 'NO_RUNNING_TASK' },
    });
  });

  it('fails as lost with a turn that the daemon no longer knows', async () => {
    const { id } = await turn();
    const taskId = await steer(id, 'gone');
    await given(taskId);
    report(taskId, 'injected');
    await tick(daemon, app);
    await reconnect([]);
    answering(daemon, () => []);
    daemon.send(status());
    await until(async () => (await stateOf(taskId)) === 'failed TASK_LOST');
    expect(await readSession(relay, id)).toMatchObject({ status: 'failed' });
  });

  it('becomes a queued message after 30 s without a daemon', async () => {
    const { taskId: into, id } = await turn();
    await daemon.drop();
    const taskId = await steer(id, 'waited');
    const waiting = await say(relay, id, 'behind');
    await relay.database.sql.execute`UPDATE tasks SET into_until = now() - interval '1 second' WHERE id = ${taskId}`;
    expect(await queueOf(id)).toMatchObject([{ taskId, kind: 'resume' }, { taskId: waiting }]);
    daemon = await connectDaemon(relay, { registration: daemon.registration, hello: [status(into)], capabilities });
    await until(async () => (await stateOf(taskId)) === 'resume queued');
    await finish(into);
    await resumed(taskId);
    expect(daemon.inbox.count('task_steer', (frame) => frame.task_id === taskId)).toBe(0);
  });

  it('is an ordinary message at a daemon that came back without the capability', async () => {
    const { taskId: into, id } = await turn();
    await daemon.drop();
    const taskId = await steer(id, 'older daemon');
    const plain = await connectDaemon(relay, {
      registration: daemon.registration,
      hello: [status(into)],
      capabilities: ['transcript', 'prompts'],
    });
    await until(async () => (await stateOf(taskId)) === 'resume queued');
    plain.event(into, 'TASK_COMPLETE', { result: 'done' });
    const frame = await plain.next('task_resume');
    expect(frame).toMatchObject({ task_id: taskId });
    expect(frame).not.toHaveProperty('steer');
    expect(plain.inbox.count('task_steer')).toBe(0);
    plain.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    await until(async () => (await readTask(relay, taskId)).state === 'completed');
    await plain.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration, capabilities });
  });

  it('takes the place of a queued message', async () => {
    const { taskId: into, id } = await turn();
    const waiting = await say(relay, id, 'now after all');
    const now = await relay.call('sendQueuedNow', { params: { id, taskId: waiting } });
    expect(now).toMatchObject({ status: 202, body: { taskId: waiting, state: 'queued', deliver: 'now' } });
    expect(await given(waiting)).toMatchObject({ into, message: 'now after all' });
    expect(await relay.call('sendQueuedNow', { params: { id, taskId: waiting } })).toMatchObject({
      status: 409,
      body: { code: 'TASK_ALREADY_SENT' },
    });
    report(waiting, 'injected');
    await finish(into);
  });

  it('is an ordinary message when no turn runs', async () => {
    const { taskId, id } = await turn();
    await finish(taskId);
    const sent = await relay.call('sendMessage', { params: { id }, body: { content: 'next', deliver: 'now' } });
    expect(sent.body).toMatchObject({ deliver: 'next' });
    expect(await resumed(sent.body.taskId)).not.toHaveProperty('steer');
    await finish(sent.body.taskId);
  });

  it('answers 409 while the agent asks', async () => {
    const { taskId, id } = await turn();
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
    const refused = await relay.call('sendMessage', { params: { id }, body: { content: 'x', deliver: 'now' } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'AGENT_ASKS', prompts: [{ prompt: 'May I?' }] } });
    expect(await readSession(relay, id)).toMatchObject({ status: 'waiting' });
  });

  it('lets an answer pass a message whose outcome the daemon owes', async () => {
    const { taskId: into, id } = await turn();
    const first = await steer(id, 'in between');
    await given(first);
    const question = {
      uuid: `q-${number}`,
      title: 'May I?',
      kind: 'permission',
      options: [{ id: 'yes', label: 'Yes' }],
      text: true,
    };
    await end(daemon, app, into, 'WAIT_FOR_USER', { prompt: 'May I?', question });
    const answer = await relay.call('answerPrompt', { params: { id, uuid: question.uuid }, body: { option: 'yes' } });
    await resumed(answer.body.taskId);
    report(first, 'injected');
    await finish(answer.body.taskId);
    expect(await stateOf(first)).toBe('steer completed');
  });

  it('answers 429 to the eleventh in a minute', async () => {
    const { taskId: into, id } = await turn();
    for (let count = 0; count < 10; count++) {
      const taskId = await steer(id, `${count}`);
      await given(taskId);
      report(taskId, 'injected');
    }
    expect(await relay.call('sendMessage', { params: { id }, body: { content: 'x', deliver: 'now' } })).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED' },
    });
    await finish(into);
  });

  it('notifies no one, and closes the finished item of its session', async () => {
    const { taskId: into, id } = await turn();
    const before = (await relay.call('listNotifications', {})).body as { notifications: unknown[] };
    const taskId = await steer(id, 'quiet');
    await given(taskId);
    report(taskId, 'unknown');
    await tick(daemon, app);
    const after = (await relay.call('listNotifications', {})).body as { notifications: unknown[] };
    expect(after.notifications).toHaveLength(before.notifications.length);
    await finish(into);
  });

  it('sends the same frames to two apps', async () => {
    const other = await connectApp(relay);
    const { taskId: into, id } = await turn();
    const taskId = await steer(id, 'for both');
    await given(taskId);
    report(taskId, 'injected');
    await finish(into);
    const seen = (one: TestApp) =>
      one.inbox.all.filter((frame) => frame.type === 'new_message' && messageIn(frame).content === 'for both').length;
    expect([seen(app), seen(other)]).toEqual([1, 1]);
    await other.close();
  });

  it('answers 409 for a daemon without the capability, whose frames stay the same', async () => {
    const plain = await connectDaemon(relay, { user: 'bob', capabilities: ['transcript', 'prompts'] });
    const { taskId } = await begin(relay, plain);
    plain.event(taskId, 'SESSION_STARTED', { session_id: 'plain' });
    const id = idOf(plain, 'plain');
    await until(async () => (await readSession(relay, id, 'bob'))?.status === 'active');
    const call = (body: object) =>
      relay.call('sendMessage', { params: { id }, user: 'bob', body: { content: 'x', ...body } });
    expect(await call({ deliver: 'now' })).toMatchObject({ status: 409, body: { code: 'NOT_SUPPORTED_BY_DEVICE' } });
    const queued = await call({});
    expect(queued.body).not.toHaveProperty('deliver');
    plain.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    expect(await plain.next('task_resume')).toEqual({
      type: 'task_resume',
      task_id: queued.body.taskId,
      session_id: 'plain',
      message: 'x',
      message_uuid: userItemUuid(queued.body.taskId),
    });
    expect(plain.inbox.count('task_steer')).toBe(0);
    await plain.close();
  });
});
