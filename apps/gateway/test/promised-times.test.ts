/** The times that are promised: which messages and events are counted, and how often. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSession, withDevice } from '@relay/database';
import { connectApp, connectDaemon } from '@relay/testing';
import { type Scene, counted, end, idleSession, openScene, run, say, tick } from './conversation.ts';

describe('promised times', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => {
    ({ relay, daemon, app } = await openScene({ config: { sweepIntervalMs: 300, offlineGraceMs: 50 } }));
    // Written once the first `status` is settled: from then on messages are counted.
    await idleSession(relay, daemon, app, 'first');
  });
  afterAll(() => relay.stop());

  const written = () => counted(relay, 'relay_task_delivery_seconds_count');
  const handled = () => counted(relay, 'relay_daemon_event_seconds_count');
  const resumed = (taskId: string) => daemon.next('task_resume', (frame) => frame.task_id === taskId);

  it('counts a message that waited only for the relay, and not a message that waited for a turn of its session', async () => {
    const before = await written();
    const { id, taskId } = await run(relay, daemon, app, 'busy');
    expect(await written()).toBe(before + 1);
    const behind = await say(relay, id, 'after this');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'the first' });
    await resumed(behind);
    expect(await written()).toBe(before + 1);
    await end(daemon, app, behind);
    const next = await say(relay, id, 'at once');
    await resumed(next);
    expect(await written()).toBe(before + 2);
    await end(daemon, app, next);
  });

  it('counts a message whose gateway was not woken', async () => {
    const before = await written();
    const { deviceId } = daemon;
    const session = { ownerId: relay.issuer.userId('alice'), deviceId, agentType: 'scripted', projectPath: '' };
    const { taskId } = await withDevice(relay.database, deviceId, (tx) =>
      createSession(tx, { ...session, title: undefined, message: 'not announced', ttlMs: 60_000 }),
    );
    await daemon.next('task_start', (frame) => frame.task_id === taskId);
    expect(await written()).toBe(before + 1);
  });

  it('does not count a message that waited for its daemon', async () => {
    const away = await connectDaemon(relay, { user: 'bob' });
    const watcher = await connectApp(relay, { user: 'bob' });
    await away.close();
    await watcher.next('device_status', (frame) => frame.status === 'offline');
    const before = await written();
    await relay.call('createSession', { user: 'bob', body: { deviceId: away.deviceId, message: 'when you are back' } });
    const back = await connectDaemon(relay, { registration: away.registration });
    await back.next('task_start');
    expect(await written()).toBe(before);
    await back.close();
    await watcher.close();
  });

  it('counts events that are saved or published, and not output that passes through', async () => {
    const id = await idleSession(relay, daemon, app, 'events');
    const taskId = await say(relay, id, 'work');
    await resumed(taskId);
    daemon.event(taskId, 'PROGRESS', { action: 'Begins' });
    await tick(daemon, app);
    const before = await handled();
    daemon.event(taskId, 'OUTPUT', { text: 'a line' });
    await tick(daemon, app);
    expect(await handled()).toBe(before);
    await end(daemon, app, taskId);
    await tick(daemon, app);
    expect(await handled()).toBe(before + 1);
  });
});
