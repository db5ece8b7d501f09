import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import {
  begin,
  end,
  idleSession,
  nextStart,
  openScene,
  readSession,
  readTask,
  run,
  say,
  sessionIn,
  tick,
} from './conversation.ts';

/** Holds the next question for cancelled tasks until `release`. */
function holdCancelled({ database }: TestRelay) {
  const { sql } = database;
  const query = sql.query.bind(sql) as (...given: unknown[]) => Promise<unknown>;
  let release = () => {};
  const until = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => {
    const spy = jest.spyOn(sql, 'query').mockImplementation((async (...given: unknown[]) => {
      if (String(given[0]).includes("state = 'cancelled' AND id = ANY")) {
        spy.mockRestore();
        resolve();
        await until;
      }
      return query(...given);
    }) as typeof sql.query);
  });
  return { reached, release: () => release() };
}

describe('task_cancel', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const cancel = (id: string) => relay.call('cancelSession', { params: { id } });

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('stops the task that runs, which is cancelled at once without an answer of the daemon', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'running');
    expect(await cancel(id)).toMatchObject({ status: 202, body: { taskId, state: 'cancelled' } });
    expect(await daemon.next('task_cancel')).toEqual({ type: 'task_cancel', task_id: taskId });
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled', finishedAt: expect.any(String) });
    const update = await app.next('session_update', (frame) => sessionIn(frame).lastTask?.state === 'cancelled');
    expect(update.session).toMatchObject({ id, status: 'idle' });
  });

  it('stops a task that was only sent', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    expect((await cancel(pendingId)).body).toMatchObject({ taskId });
    expect(await daemon.next('task_cancel', (frame) => frame.task_id === taskId)).toBeDefined();
  });

  it('comes before the message that waited for the task', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'queue');
    const next = await say(relay, id, 'instead');
    await cancel(id);
    await daemon.next('task_resume', (frame) => frame.task_id === next);
    const order = daemon.inbox.all.map((frame) => `${frame.type} ${String(frame.task_id)}`);
    expect(order.indexOf(`task_cancel ${taskId}`)).toBeLessThan(order.indexOf(`task_resume ${next}`));
    expect(order).toContain(`task_cancel ${taskId}`);
  });

  it('is not sent for a waiting message: the oldest of them is cancelled', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'waiting');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Yes?' });
    await daemon.close();
    const first = await say(relay, id, 'first');
    const second = await say(relay, id, 'second');
    expect((await cancel(id)).body).toMatchObject({ taskId: first, state: 'cancelled' });
    expect(await readSession(relay, id)).toMatchObject({ status: 'waiting' });
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: second });
    expect(daemon.inbox.count('task_cancel')).toBe(0);
  });

  it('is refused when nothing runs or waits', async () => {
    const id = await idleSession(relay, daemon, app, 'nothing');
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'NO_RUNNING_TASK' } });
    await nextStart(relay, daemon);
    expect(daemon.inbox.count('task_cancel')).toBe(0);
  });

  it('of a task between its claim and the socket keeps it from being sent', async () => {
    const { relay, daemon, app } = await openScene({ config: { sweepIntervalMs: 60_000 } });
    const { taskId, id } = await run(relay, daemon, app, 'early');
    const cancel = () => relay.call('cancelSession', { params: { id } });
    // The gateway misses this one, and looks for it after it has claimed the next task of the session.
    const { backplane } = relay.apis[0]!;
    const route = backplane.route.bind(backplane);
    backplane.route = (device, body, deadlineMs) =>
      body.includes(taskId) ? Promise.reject(new Error('lost')) : route(device, body, deadlineMs);
    await cancel();
    const { reached, release } = holdCancelled(relay);
    const next = await say(relay, id, 'next');
    await reached;
    await cancel();
    await daemon.next('task_cancel', (frame) => frame.task_id === next);
    release();
    const after = await say(relay, id, 'after');
    await daemon.next('task_resume', (frame) => frame.task_id === after);
    expect(daemon.inbox.count('task_resume', (frame) => frame.task_id === next)).toBe(0);
    await relay.stop();
  });

  it('leaves a task cancelled that the daemon goes on with', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'stubborn');
    await cancel(id);
    await daemon.next('task_cancel');
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'OUTPUT', { output: 'still going' });
    daemon.event(taskId, 'PROGRESS', { action: 'Ignoring you' });
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled' });
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it('of a first task without a name lets nothing follow; the name is accepted when it comes late', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const followUp = await say(relay, pendingId, 'and then?');
    await cancel(pendingId);
    expect(await readTask(relay, followUp)).toMatchObject({
      state: 'cancelled',
      error: { code: 'SESSION_NOT_RESOLVED' },
    });
    expect(await readSession(relay, pendingId)).toMatchObject({ status: 'idle' });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'late-name' });
    await app.next('session_update', (frame) => frame.previousId === pendingId);
    await say(relay, pendingId, 'now it has one');
    expect(await daemon.next('task_resume', (frame) => frame.session_id === 'late-name')).toMatchObject({
      message: 'now it has one',
    });
  });
});
