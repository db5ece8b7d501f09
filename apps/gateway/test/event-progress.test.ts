import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, end, readSession, run, say, sessionIn, tick, until } from './conversation.ts';

describe('event PROGRESS', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const progressOf = async (id: string, action: string) =>
    sessionIn(
      await app.next(
        'session_update',
        (frame) => sessionIn(frame).id === id && sessionIn(frame).progress?.action === action,
      ),
    );
  const shown = (id: string) =>
    app.inbox.all
      .filter((frame) => frame.type === 'session_update' && sessionIn(frame).id === id)
      .flatMap((frame) => sessionIn(frame).progress?.action ?? []);
  /** Progress that was shown after the session had been seen in this state: it would bring the task back to life. */
  const shownAfter = (id: string, state: string) => {
    const updates = app.inbox.all.flatMap((frame) => (frame.type === 'session_update' ? [sessionIn(frame)] : []));
    const seen = updates.filter((session) => session.id === id);
    const over = seen.findIndex((session) => session.lastTask?.state === state);
    expect(over).toBeGreaterThanOrEqual(0);
    return seen.slice(over).filter((session) => session.progress !== undefined);
  };

  beforeAll(async () => {
    relay = await startRelay({ config: { progressIntervalMs: 300, progressFlushMs: 50 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it("shows the agent's activity, in the whole session", async () => {
    const { taskId, id } = await run(relay, daemon, app, 'shown');
    daemon.event(taskId, 'PROGRESS', { action: 'Reading', target: 'a.ts' });
    expect(await progressOf(id, 'Reading')).toMatchObject({
      id,
      status: 'active',
      title: 'begin shown',
      progress: { action: 'Reading', target: 'a.ts', at: expect.any(String) },
      lastTask: { id: taskId, state: 'running' },
    });
  });

  it('can lack a target', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'targetless');
    daemon.event(taskId, 'PROGRESS', { action: 'Thinking' });
    expect((await progressOf(id, 'Thinking')).progress).toMatchObject({ target: '' });
    daemon.event(taskId, 'PROGRESS', { action: 'Thinking more', target: null });
    expect((await progressOf(id, 'Thinking more')).progress).toMatchObject({ target: '' });
  });

  it('is shown at most once in an interval; the first at once, then the latest', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'burst');
    for (let step = 1; step <= 50; step += 1) daemon.event(taskId, 'PROGRESS', { action: `step ${step}` });
    await progressOf(id, 'step 50');
    const steps = shown(id);
    expect([steps[0], steps.at(-1)]).toEqual(['step 1', 'step 50']);
    expect(steps.length).toBeLessThan(10);
  });

  it('of one session does not hold up that of another, nor anything else', async () => {
    const one = await run(relay, daemon, app, 'one');
    const two = await run(relay, daemon, app, 'two');
    daemon.event(one.taskId, 'PROGRESS', { action: 'first' });
    daemon.event(one.taskId, 'PROGRESS', { action: 'held' });
    daemon.event(two.taskId, 'PROGRESS', { action: 'at once' });
    await end(daemon, app, one.taskId);
    await progressOf(two.id, 'at once');
    expect(shown(one.id)[0]).toBe('first');
    expect(shownAfter(one.id, 'completed')).toEqual([]);
  });

  it('is in lists too, after a while, and gone with the task', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'listed');
    daemon.event(taskId, 'PROGRESS', { action: 'Listed' });
    await until(async () => (await readSession(relay, id))?.progress?.action === 'Listed');
    expect(await end(daemon, app, taskId)).not.toHaveProperty('progress');
    expect(await readSession(relay, id)).not.toHaveProperty('progress');
  });

  it('waiting for its turn is not shown after the completion of the task', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'ended');
    daemon.event(taskId, 'PROGRESS', { action: 'first' });
    daemon.event(taskId, 'PROGRESS', { action: 'too late' });
    await end(daemon, app, taskId);
    // Another session's second progress waits as long as this one would have.
    const clock = await run(relay, daemon, app, 'ended-clock');
    daemon.event(clock.taskId, 'PROGRESS', { action: 'first' });
    daemon.event(clock.taskId, 'PROGRESS', { action: 'second' });
    await progressOf(clock.id, 'second');
    expect(shownAfter(id, 'completed')).toEqual([]);
  });

  it('that waits for its turn is not shown after a cancel', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled');
    daemon.event(taskId, 'PROGRESS', { action: 'first' });
    daemon.event(taskId, 'PROGRESS', { action: 'too late' });
    await tick(daemon, app);
    await relay.call('cancelSession', { params: { id } });
    await daemon.next('task_cancel');
    // The daemon has not received the cancel yet.
    daemon.event(taskId, 'PROGRESS', { action: 'still at it' });
    const clock = await run(relay, daemon, app, 'cancel-clock');
    daemon.event(clock.taskId, 'PROGRESS', { action: 'first' });
    daemon.event(clock.taskId, 'PROGRESS', { action: 'second' });
    await progressOf(clock.id, 'second');
    expect(shownAfter(id, 'cancelled')).toEqual([]);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { state: 'cancelled' } });
  });

  it('is shown in the current session, including later changes by its user', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'changed');
    daemon.event(taskId, 'PROGRESS', { action: 'first' });
    daemon.event(taskId, 'PROGRESS', { action: 'second' });
    await tick(daemon, app);
    await relay.call('updateSession', { params: { id }, body: { title: 'Another title' } });
    await say(relay, id, 'and another thing');
    daemon.event(taskId, 'PROGRESS', { action: 'third' });
    expect(await progressOf(id, 'third')).toMatchObject({
      title: 'Another title',
      lastMessage: 'and another thing',
      messageCount: 2,
      lastTask: { state: 'queued' },
    });
  });

  it('does not make a session newer', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cold');
    daemon.event(taskId, 'PROGRESS', { action: 'before' });
    await until(async () => (await readSession(relay, id))?.progress?.action === 'before');
    const before = (await readSession(relay, id))!.updatedAt;
    for (let step = 0; step < 20; step += 1) daemon.event(taskId, 'PROGRESS', { action: `step ${step}` });
    expect((await progressOf(id, 'step 19')).updatedAt).toBe(before);
    await until(async () => (await readSession(relay, id))?.progress?.action === 'step 19');
    expect((await readSession(relay, id))!.updatedAt).toBe(before);
  });

  it('without an action is dropped and counted, and a very long one is cut', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'wrong');
    const before = await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' });
    daemon.event(taskId, 'PROGRESS', { target: 'a.ts' });
    daemon.event(taskId, 'PROGRESS', { action: 7 });
    daemon.event(taskId, 'PROGRESS', { action: 'long'.repeat(1000), target: 't\u0000' });
    const { progress } = await progressOf(id, 'long'.repeat(256));
    expect(progress?.target).toBe('t');
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' })).toBe(before + 2);
  });

  it('confirms a task that was only sent', async () => {
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
    await daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    daemon.event(created.body.taskId, 'PROGRESS', { action: 'Starting' });
    expect(await progressOf(created.body.id, 'Starting')).toMatchObject({
      status: 'active',
      lastTask: { state: 'running' },
    });
  });
});
