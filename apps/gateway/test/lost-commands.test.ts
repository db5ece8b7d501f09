import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Command, decodeCommand } from '@relay/protocol';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import {
  type Scene,
  idOf,
  idleSession,
  openScene,
  readSession,
  readTask,
  run,
  say,
  sessionIn,
  until,
} from './conversation.ts';

/** Commands of this kind do not reach the gateway: as while Redis is away, or when they come too late. Counts them. */
const losing = (relay: TestRelay, kind: Command['kind']) => {
  const { backplane } = relay.apis[0]!;
  const route = backplane.route.bind(backplane);
  const lost: string[] = [];
  jest.spyOn(backplane, 'route').mockImplementation((device, body, deadlineMs) => {
    if (decodeCommand(body)?.kind !== kind) return route(device, body, deadlineMs);
    lost.push(body);
    return Promise.reject(new Error('the backplane is away'));
  });
  return lost;
};

/** Marking a message as published waits from now on; calling an entry of the list releases its caller. */
const holdingMarks = (relay: TestRelay) => {
  const { backplane } = relay.gateways[0]!;
  const mark = backplane.mark.bind(backplane);
  const held: (() => void)[] = [];
  jest.spyOn(backplane, 'mark').mockImplementation(async (...question) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return mark(...question);
  });
  return held;
};

describe('a command that its gateway missed', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene({ config: quickSweeps })));
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => relay.stop());

  it('to cancel, is repaired by a sweep; later events of the agent revive nothing', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'unheard');
    const lost = losing(relay, 'cancel');
    expect((await relay.call('cancelSession', { params: { id } })).status).toBe(202);
    expect(await daemon.next('task_cancel')).toEqual({ type: 'task_cancel', task_id: taskId });
    expect(lost.length).toBeGreaterThanOrEqual(1);
    daemon.event(taskId, 'PROGRESS', { action: 'Ignoring you' });
    await idleSession(relay, daemon, app, 'unheard-clock');
    const seen = app.inbox.all.filter((frame) => frame.type === 'session_update' && sessionIn(frame).id === id);
    expect(seen.filter((frame) => sessionIn(frame).progress?.action === 'Ignoring you')).toEqual([]);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { state: 'cancelled' } });
    expect(daemon.inbox.count('task_cancel')).toBe(1);
  });

  it('to write tasks, is repaired on a device by the next sweep, although another one takes its time', async () => {
    const daemons = [daemon, await connectDaemon(relay)];
    losing(relay, 'wake');
    const held = holdingMarks(relay);
    try {
      for (const each of daemons) {
        await relay.call('createSession', { body: { deviceId: each.deviceId, message: 'unheard' } });
        await each.next('task_start', ({ instruction }) => instruction === 'unheard');
      }
    } finally {
      for (const release of held) release();
    }
  });

  it('to watch and to watch no more, is repaired by a sweep', async () => {
    const id = await idleSession(relay, daemon, app, 'looked-at');
    const lost = losing(relay, 'changed');
    const watched = (frame: Frame) => frame.session_id === 'looked-at';
    await relay.call('watch', { body: { sessionId: id } });
    expect(await daemon.next('watch_session', watched)).toMatchObject({ file_path: '' });
    await relay.call('unwatch', { body: { sessionId: id } });
    await daemon.next('unwatch_session', watched);
    // The api repeats failed sends (K13), and each of them was lost.
    expect(lost.length).toBeGreaterThanOrEqual(2);
    // Sweeps without changes send nothing.
    await relay.call('watch', { body: { sessionId: await sweptAfter() } });
    await daemon.next('watch_session', (frame) => frame.session_id === 'swept-after');
    expect([daemon.inbox.count('watch_session', watched), daemon.inbox.count('unwatch_session', watched)]).toEqual([
      1, 1,
    ]);
  });
  const sweptAfter = () => idleSession(relay, daemon, app, 'swept-after');

  it('about a title, is repaired by a sweep: progress shows the session as it is', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'renamed');
    losing(relay, 'changed');
    await relay.call('updateSession', { params: { id }, body: { title: 'Another title' } });
    await app.next('session_update', (frame) => sessionIn(frame).title === 'Another title');
    const shown = () =>
      app.inbox.all.some(
        (frame) =>
          frame.type === 'session_update' && sessionIn(frame).progress && sessionIn(frame).title === 'Another title',
      );
    let step = 0;
    await until(async () => {
      daemon.event(taskId, 'PROGRESS', { action: `step ${(step += 1)}` });
      // A frame with the earlier state is not published (R3): this step might not produce one.
      await readSession(relay, id);
      return shown();
    });
    expect(idOf(daemon, 'renamed')).toBe(id);
  });
});

describe('between two sweeps', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    relay = await startRelay({ config: { sweepIntervalMs: 3_600_000 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => relay.stop());

  it('a cancel that its gateway missed comes before the next message of the session', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'before-the-next');
    const lost = losing(relay, 'cancel');
    await relay.call('cancelSession', { params: { id } });
    const next = await say(relay, id, 'something else');
    await daemon.next('task_resume', (frame) => frame.task_id === next);
    // The api repeats failed sends (K13), and each of them was lost.
    expect(lost.length).toBeGreaterThanOrEqual(1);
    const told = daemon.inbox.all.filter((frame) => frame.type === 'task_cancel' || frame.type === 'task_resume');
    expect(told.map((frame) => frame.task_id)).toEqual([taskId, next]);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled' });
  });

  it('progress of a task is not shown after its cancel, which its gateway missed', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'still-at-it');
    losing(relay, 'cancel');
    await relay.call('cancelSession', { params: { id } });
    // The gateway discards its copy of the session and reads it again.
    await relay.call('updateSession', { params: { id }, body: { title: 'Cancelled' } });
    await app.next('session_update', (frame) => sessionIn(frame).title === 'Cancelled');
    await idleSession(relay, daemon, app, 'after-the-title');
    daemon.event(taskId, 'PROGRESS', { action: 'still at it' });
    const other = await run(relay, daemon, app, 'the-clock');
    daemon.event(other.taskId, 'PROGRESS', { action: 'later' });
    await app.next('session_update', (frame) => sessionIn(frame).progress?.action === 'later');
    const shown = app.inbox.all.filter((frame) => frame.type === 'session_update' && sessionIn(frame).progress);
    expect(shown.map((frame) => sessionIn(frame).progress!.action)).toEqual(['later']);
  });

  it('tasks that were claimed together are written together, however long the backplane takes', async () => {
    const { registration } = daemon;
    await daemon.close();
    const create = (message: string) => relay.call('createSession', { body: { deviceId: daemon.deviceId, message } });
    const created = [await create('one'), await create('two')];
    const held = holdingMarks(relay);
    daemon = await connectDaemon(relay, { registration });
    for (const { body } of created) await daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    expect(held).toHaveLength(2);
    for (const release of held) release();
    // Every app receives the mark.
    for (const { body } of created)
      await app.next(
        'session_update',
        (frame) => sessionIn(frame).lastTask?.id === body.taskId && sessionIn(frame).lastTask?.state === 'sent',
      );
  });
});
