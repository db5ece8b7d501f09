import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import {
  begin,
  idOf,
  idleSession,
  nextStart,
  readSession,
  readTask,
  run,
  say,
  sessionIn,
  tick,
  until,
} from './conversation.ts';

describe('the queue of a session', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const resumes = (nativeId: string) =>
    daemon.inbox.all
      .filter((frame) => frame.type === 'task_resume' && frame.session_id === nativeId)
      .map((frame) => frame.message);
  const resumed = (taskId: string) => daemon.next('task_resume', (frame) => frame.task_id === taskId);
  const cancel = (id: string) => relay.call('cancelSession', { params: { id } });
  /** The daemon does not answer history requests for the task. */
  const unknown = async (taskId: string) => {
    await until(async () => (await readTask(relay, taskId)).state !== 'sent');
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'unknown', error: { code: 'DELIVERY_UNKNOWN' } });
  };
  /** A session whose last task was sent and never confirmed before the daemon left; the daemon is back by now. */
  const unknownDelivery = async (id: string, content: string) => {
    const taskId = await say(relay, id, content);
    await resumed(taskId);
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await unknown(taskId);
    return taskId;
  };

  beforeAll(async () => {
    relay = await startRelay({
      config: { queueLimit: 20, daemonReplyTimeoutMs: 200, outcomeAskMs: 1, ...quickSweeps },
    });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('runs one task at a time, in the order of acceptance, each as soon as the previous one has completed', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'ordered');
    const tasks = [];
    for (const content of ['one', 'two', 'three']) tasks.push(await say(relay, id, content));
    await nextStart(relay, daemon);
    expect(resumes('ordered')).toEqual([]);
    let running = taskId;
    for (const [index, next] of tasks.entries()) {
      daemon.event(
        running,
        index === 1 ? 'ERROR' : 'TASK_COMPLETE',
        index === 1 ? { error: 'no' } : { result: `r${index}` },
      );
      await resumed(next);
      expect(resumes('ordered')).toHaveLength(index + 1);
      running = next;
    }
    expect(resumes('ordered')).toEqual(['one', 'two', 'three']);
  });

  it('of one session does not hold up another', async () => {
    const one = await run(relay, daemon, app, 'held');
    await say(relay, one.id, 'behind');
    const two = await idleSession(relay, daemon, app, 'free');
    await resumed(await say(relay, two, 'at once'));
    expect(resumes('held')).toEqual([]);
  });

  it('accepts twenty messages after the running one, and refuses the next', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'full');
    for (let count = 1; count <= 20; count += 1) await say(relay, id, `message ${count}`);
    const refused = await relay.call('sendMessage', { params: { id }, body: { content: 'one too many' } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'QUEUE_FULL' } });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'room' });
    await daemon.next('task_resume', (frame) => frame.message === 'message 1');
    await say(relay, id, 'fits now');
  });

  it('takes the answer to a question although twenty messages wait, and no second one', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'asks in a crowd');
    for (let count = 1; count <= 20; count += 1) await say(relay, id, `message ${count}`);
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Delete everything?' });
    await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'waiting');
    await daemon.close();
    const answer = await say(relay, id, 'no');
    const second = await relay.call('sendMessage', { params: { id }, body: { content: 'yes' } });
    expect(second).toMatchObject({ status: 409, body: { code: 'QUEUE_FULL' } });
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await resumed(answer);
    expect(resumes('asks in a crowd')).toEqual(['no']);
  });

  it('takes the message that lets twenty others go after an unknown delivery', async () => {
    const id = await idleSession(relay, daemon, app, 'held in a crowd');
    const doubtful = await say(relay, id, 'did it arrive?');
    await resumed(doubtful);
    for (let count = 1; count <= 20; count += 1) await say(relay, id, `message ${count}`);
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await unknown(doubtful);
    const next = await say(relay, id, 'go on');
    await daemon.next('task_resume', (frame) => frame.message === 'message 1');
    expect(await readTask(relay, next)).toMatchObject({ state: 'queued' });
    const more = await relay.call('sendMessage', { params: { id }, body: { content: 'one too many' } });
    expect(more).toMatchObject({ status: 409, body: { code: 'QUEUE_FULL' } });
  });

  it('is held by an unknown delivery that an answer has overtaken, and shows it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'overtaken');
    const doubtful = await say(relay, id, 'did it arrive?');
    const behind = await say(relay, id, 'behind it');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Delete everything?' });
    await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'waiting');
    const answer = await say(relay, id, 'no');
    await resumed(answer);
    daemon.event(answer, 'TASK_COMPLETE', { result: 'kept' });
    await resumed(doubtful);
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await unknown(doubtful);
    const lastTask = { id: doubtful, state: 'unknown', code: 'DELIVERY_UNKNOWN' };
    expect(await readSession(relay, id)).toMatchObject({ status: 'failed', lastTask });
    await say(relay, id, 'go on');
    await resumed(behind);
  });

  it('keeps a message for a device that is away, and writes it when it is back', async () => {
    const away = await connectDaemon(relay);
    await away.close();
    const created = await relay.call('createSession', { body: { deviceId: away.deviceId, message: 'later' } });
    expect(await readTask(relay, created.body.taskId)).toMatchObject({ state: 'queued' });
    const back = await connectDaemon(relay, { registration: away.registration });
    expect(await back.next('task_start')).toMatchObject({ task_id: created.body.taskId, instruction: 'later' });
  });

  it('gives up an overdue message: expired, from that moment on, and the session failed', async () => {
    const away = await connectDaemon(relay);
    const id = await idleSession(relay, away, app, 'expiring');
    await away.close();
    const taskId = await say(relay, id, 'in time?', { queueTtlSeconds: 1 });
    const update = await app.next('session_update', (frame) => sessionIn(frame).lastTask?.state === 'expired');
    expect(update.session).toMatchObject({ id, status: 'failed', lastTask: { id: taskId, code: 'TASK_EXPIRED' } });
    expect(await readTask(relay, taskId)).toMatchObject({
      state: 'expired',
      error: { code: 'TASK_EXPIRED' },
      finishedAt: expect.any(String),
    });
    const back = await connectDaemon(relay, { registration: away.registration });
    const next = await say(relay, id, 'this one');
    expect(await back.next('task_resume')).toMatchObject({ task_id: next });
    expect(back.inbox.count('task_resume')).toBe(1);
  });

  it('leaves a first message that expired with a session that has nowhere to go', async () => {
    const away = await connectDaemon(relay);
    await away.close();
    const created = await relay.call('createSession', { body: { deviceId: away.deviceId, message: 'too late' } });
    const id = created.body.id;
    const behind = await say(relay, id, 'behind it');
    // After the second message: an expired session takes no other.
    await relay.database.sql.execute`UPDATE tasks SET expires_at = now() WHERE id = ${created.body.taskId}`;
    await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'failed');
    expect(await readTask(relay, created.body.taskId)).toMatchObject({ state: 'expired' });
    expect(await readTask(relay, behind)).toMatchObject({
      state: 'cancelled',
      error: { code: 'SESSION_NOT_RESOLVED' },
    });
    expect(await relay.call('sendMessage', { params: { id }, body: { content: 'hello?' } })).toMatchObject({
      status: 409,
      body: { code: 'SESSION_NOT_RESOLVED' },
    });
  });

  it('continues after an expired message', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'gap');
    const short = await say(relay, id, 'short-lived', { queueTtlSeconds: 1 });
    const long = await say(relay, id, 'long-lived');
    await until(async () => (await readTask(relay, short)).state === 'expired');
    expect(await readSession(relay, id)).toMatchObject({ status: 'active' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    await resumed(long);
    expect(resumes('gap')).toEqual(['long-lived']);
  });

  it('with a time to live of 0 refuses at once when the device is away', async () => {
    const away = await connectDaemon(relay);
    const id = await idleSession(relay, away, app, 'now-or-never');
    await away.close();
    await until(async () => {
      const sent = await relay.call('sendMessage', { params: { id }, body: { content: 'now', queueTtlSeconds: 0 } });
      return sent.status === 503 && sent.body.code === 'DEVICE_OFFLINE';
    });
  });

  it('waits while the agent waits: a message from before the question never answers it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'asks');
    const older = await say(relay, id, 'yes');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Delete everything?' });
    await until(async () => (await readSession(relay, id))?.status === 'waiting');
    await nextStart(relay, daemon);
    expect(resumes('asks')).toEqual([]);
    const answer = await say(relay, id, 'no');
    await resumed(answer);
    expect(resumes('asks')).toEqual(['no']);
    daemon.event(answer, 'TASK_COMPLETE', { result: 'kept' });
    await resumed(older);
    expect(resumes('asks')).toEqual(['no', 'yes']);
  });

  it('keeps messages older than a question until its answer, even if that answer was lost', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'twice-asked');
    const older = await say(relay, id, 'yes');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Delete everything?' });
    await until(async () => (await readSession(relay, id))?.status === 'waiting');
    await unknownDelivery(id, 'no');
    const answer = await say(relay, id, 'no, as I said');
    await resumed(answer);
    daemon.event(answer, 'TASK_COMPLETE', { result: 'kept' });
    await resumed(older);
    expect(resumes('twice-asked')).toEqual(['no, as I said', 'yes']);
  });

  it('waits after an unknown delivery until the user sends again', async () => {
    const id = await idleSession(relay, daemon, app, 'unknown-send');
    const first = await say(relay, id, 'first');
    await resumed(first);
    const behind = await say(relay, id, 'behind');
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await nextStart(relay, daemon);
    await unknown(first);
    expect(await readSession(relay, id)).toMatchObject({ status: 'failed' });
    expect(resumes('unknown-send')).toEqual([]);
    const next = await say(relay, id, 'go on');
    await resumed(behind);
    daemon.event(behind, 'TASK_COMPLETE', { result: 'ok' });
    await resumed(next);
    expect(resumes('unknown-send')).toEqual(['behind', 'go on']);
  });

  it('waits after an unknown delivery until the user cancels', async () => {
    const id = await idleSession(relay, daemon, app, 'unknown-cancel');
    const first = await say(relay, id, 'first');
    await resumed(first);
    const dropped = await say(relay, id, 'dropped');
    const kept = await say(relay, id, 'kept');
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await nextStart(relay, daemon);
    await unknown(first);
    expect(resumes('unknown-cancel')).toEqual([]);
    expect((await cancel(id)).body).toMatchObject({ taskId: dropped });
    await resumed(kept);
    expect(await readTask(relay, first)).toMatchObject({ state: 'unknown' });
  });

  it('never resends a message that might have arrived; a late result shows but revives nothing', async () => {
    const id = await idleSession(relay, daemon, app, 'late');
    const taskId = await unknownDelivery(id, 'did it arrive?');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'it did' });
    await app.next('new_message', (frame) => (frame.message as { content: string }).content === 'it did');
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'unknown' });
    expect(resumes('late')).toEqual([]);
  });

  it('cancels the running task before waiting ones, then the oldest', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancels');
    const [one, two] = [await say(relay, id, 'one'), await say(relay, id, 'two')];
    expect((await cancel(id)).body).toMatchObject({ taskId });
    await resumed(one);
    expect((await cancel(id)).body).toMatchObject({ taskId: one });
    await resumed(two);
    expect((await cancel(id)).body).toMatchObject({ taskId: two });
    expect(await cancel(id)).toMatchObject({ status: 409 });
  });

  it('waits for a first task to name the session, and then proceeds', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const followUp = await say(relay, pendingId, 'soon');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done', session_id: 'named-at-the-end' });
    await resumed(followUp);
    expect(resumes('named-at-the-end')).toEqual(['soon']);
    expect(idOf(daemon, 'named-at-the-end')).toBe((await readTask(relay, followUp)).sessionId);
  });

  it('does not follow a first task that completed without a name', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    await tick(daemon, app);
    expect(await readSession(relay, pendingId)).toMatchObject({ status: 'idle' });
    expect(await relay.call('sendMessage', { params: { id: pendingId }, body: { content: 'more' } })).toMatchObject({
      status: 409,
      body: { code: 'SESSION_NOT_RESOLVED' },
    });
  });

  it("is the same on every instance: a task is written once, regardless of the device's owner", async () => {
    const two = await startRelay({ apis: 2, gateways: 2 });
    try {
      const there = await connectDaemon(two, { gateway: 1 });
      const watcher = await connectApp(two, { api: 1 });
      const { taskId, id } = await run(two, there, watcher, 'far');
      const contents = Array.from({ length: 6 }, (_, index) => `m${index}`);
      for (const [index, content] of contents.entries())
        await two.call('sendMessage', { params: { id }, api: index % 2, body: { content } });
      there.event(taskId, 'TASK_COMPLETE', { result: '' });
      for (const content of contents) {
        const frame = await there.next('task_resume');
        expect(frame.message).toBe(content);
        there.event(frame.task_id as string, 'TASK_COMPLETE', { result: `result of ${content}` });
      }
      await nextStart(two, there);
      expect(there.inbox.count('task_resume')).toBe(contents.length);
    } finally {
      await two.stop();
    }
  });
});
