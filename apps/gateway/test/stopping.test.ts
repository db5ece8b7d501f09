import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { readTask, run, say, until } from './conversation.ts';

describe('stopping', () => {
  let relay: TestRelay;
  let app: TestApp;

  beforeAll(async () => {
    // Neither the grace time nor a sweep makes a device offline here.
    relay = await startRelay({ config: { offlineGraceMs: 600_000, sweepIntervalMs: 600_000 } });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('keeps queued messages for the next connection of the daemon, after the results of its tasks', async () => {
    const daemon = await connectDaemon(relay);
    const { taskId, id } = await run(relay, daemon, app, 'queued');
    const next = await say(relay, id, 'after the restart');
    daemon.send({ type: 'stopping' });
    daemon.event(taskId, 'ERROR', { error: 'The daemon was stopped.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await until(async () => (await readTask(relay, taskId)).state === 'failed');
    const late = await say(relay, id, 'sent while it stops');
    daemon.socket.close(1000, 'normal');
    await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
    expect((await Promise.all([next, late].map((one) => readTask(relay, one)))).map(({ state }) => state)).toEqual([
      'queued',
      'queued',
    ]);
    const again = await connectDaemon(relay, { registration: daemon.registration });
    const resumed = await again.next('task_resume', (frame) => frame.task_id === next);
    expect(resumed).toMatchObject({ message: 'after the restart' });
    await again.close();
  });

  it('makes the device offline at once, also if the daemon is killed before it closes', async () => {
    const daemon = await connectDaemon(relay);
    const { taskId } = await run(relay, daemon, app, 'killed');
    daemon.send({ type: 'stopping' });
    daemon.event(taskId, 'ERROR', { error: 'The daemon was stopped.' });
    // A reset connection loses frames that the relay has not read.
    await until(async () => (await readTask(relay, taskId)).state === 'failed');
    await daemon.drop();
    await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
  });

  it('of an older connection does not stop the tasks of the newer one', async () => {
    const older = await connectDaemon(relay);
    older.send({ type: 'stopping' });
    const newer = await connectDaemon(relay, { registration: older.registration });
    const body = { deviceId: newer.deviceId, message: 'hello' };
    const { taskId } = (await relay.call('createSession', { body })).body;
    expect(await newer.next('task_start')).toMatchObject({ task_id: taskId });
    await newer.close();
  });
});
