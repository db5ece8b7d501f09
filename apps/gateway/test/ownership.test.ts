import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, counted, idleSession, nextStart, readTask, run, tick, until } from './conversation.ts';

describe('one device, one connection', () => {
  let relay: TestRelay;
  let app: TestApp;
  const frozen: TestDaemon[] = [];

  const again = (older: TestDaemon, gateway = 0) => connectDaemon(relay, { registration: older.registration, gateway });
  const statusesOf = (device: { deviceId: string }) =>
    app.inbox.all
      .filter((frame) => frame.type === 'device_status' && frame.deviceId === device.deviceId)
      .map((frame) => frame.status);
  const connectionsOf = async (device: { deviceId: string }) =>
    (await relay.call('listConnections', { params: { id: device.deviceId } })).body.connections as {
      closeCode?: number;
      reason?: string;
      instance: string;
    }[];
  /** Stops reading, so that it does not answer the close frame: the relay must cut it after a second. */
  const freeze = (daemon: TestDaemon) => {
    frozen.push(daemon);
    (daemon.socket as unknown as { _socket: { pause(): void } })._socket.pause();
  };

  beforeAll(async () => {
    // Disables sweeps: the tested behaviour must work without them.
    relay = await startRelay({ gateways: 2, config: { offlineGraceMs: 500, sweepIntervalMs: 600_000 } });
    app = await connectApp(relay);
  });
  afterAll(async () => {
    for (const daemon of frozen) daemon.socket.terminate();
    await relay.stop();
  });

  it.each([
    ['the same instance', 0],
    ['another instance', 1],
  ])('a newer connection on %s closes the older with 4409 and has the device', async (_, gateway) => {
    const older = await connectDaemon(relay);
    await nextStart(relay, older);
    const newer = await again(older, gateway);
    expect(await older.closed).toEqual({ code: 4409, reason: 'replaced by a newer connection' });
    await nextStart(relay, newer);
    await until(async () => (await connectionsOf(newer)).some((connection) => connection.closeCode === 4409));
    const [current, replaced] = await connectionsOf(newer);
    expect(current).not.toHaveProperty('closeCode');
    expect(current?.instance).toContain(`gateway${gateway}`);
    expect(replaced).toMatchObject({ closeCode: 4409, reason: 'replaced by a newer connection' });
    // No app saw a change.
    expect(statusesOf(newer)).toEqual(['online']);
  });

  it('commands reach the newest connection only', async () => {
    const older = await connectDaemon(relay);
    const id = await idleSession(relay, older, app, 'native');
    const newer = await again(older, 1);
    const page = relay.call('readMessages', { params: { id } });
    const asked = await newer.next('get_messages');
    newer.send({ type: 'messages', request_id: asked.request_id, messages: [] });
    expect((await page).status).toBe(200);
    expect(older.inbox.count('get_messages')).toBe(0);
  });

  it('a caller on the older connection immediately learns that it has gone', async () => {
    const older = await connectDaemon(relay);
    const id = await idleSession(relay, older, app, 'asked');
    const page = relay.call('readMessages', { params: { id } });
    await older.next('get_messages');
    await again(older, 1);
    expect(await page).toMatchObject({ status: 503, body: { code: 'DEVICE_OFFLINE' } });
  });

  it('frames of the older connection after its replacement do not count', async () => {
    const older = await connectDaemon(relay);
    const { taskId } = await run(relay, older, app, 'older');
    freeze(older);
    const hello = [{ type: 'status', running_tasks: [taskId] }];
    const newer = await connectDaemon(relay, { registration: older.registration, hello });
    await tick(newer, app);
    older.send({ type: 'status', running_tasks: [] });
    older.event(taskId, 'TASK_COMPLETE', { result: 'from the grave' });
    await until(async () => (await connectionsOf(newer)).some((connection) => connection.closeCode === 4409));
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
  });

  it('the late close of an older connection never marks the newer one offline', async () => {
    const older = await connectDaemon(relay);
    freeze(older);
    const newer = await again(older);
    await nextStart(relay, newer);
    await until(async () => (await connectionsOf(newer)).some((connection) => connection.closeCode === 4409));
    // Leaves after the older one did, and is announced after its grace.
    const other = await connectDaemon(relay);
    await other.close();
    await app.next('device_status', (frame) => frame.deviceId === other.deviceId && frame.status === 'offline');
    expect(statusesOf(newer)).toEqual(['online']);
    expect((await relay.call('listDevices')).body.devices).toContainEqual(
      expect.objectContaining({ id: newer.deviceId, status: 'online' }),
    );
  });

  it('a newer connection that leaves before the relay notices the close of the older one is announced all the same', async () => {
    const patient = await startRelay({ config: { offlineGraceMs: 2000, sweepIntervalMs: 600_000 } });
    try {
      const watcher = await connectApp(patient);
      const older = await connectDaemon(patient);
      freeze(older);
      const newer = await connectDaemon(patient, { registration: older.registration });
      await nextStart(patient, newer);
      await newer.close();
      await watcher.next('device_status', (frame) => frame.deviceId === newer.deviceId && frame.status === 'offline');
    } finally {
      await patient.stop();
    }
  });

  it('many connections at the same time leave exactly one', async () => {
    const first = await connectDaemon(relay);
    const others = await Promise.all([0, 1, 0, 1, 0, 1].map((gateway) => again(first, gateway)));
    const all = [first, ...others];
    const created = await relay.call('createSession', { body: { deviceId: first.deviceId, message: 'one' } });
    const taskId = created.body.taskId;
    const winner = await Promise.any(
      all.map((daemon) => daemon.next('task_start', (frame) => frame.task_id === taskId).then(() => daemon)),
    );
    for (const daemon of all) if (daemon !== winner) expect(await daemon.closed).toMatchObject({ code: 4409 });
    await nextStart(relay, winner);
    expect(
      all.reduce((sum, daemon) => sum + daemon.inbox.count('task_start', (frame) => frame.task_id === taskId), 0),
    ).toBe(1);
  });

  it('the removal of a device closes its connection with 4404, on any instance', async () => {
    for (const gateway of [0, 1]) {
      const daemon = await connectDaemon(relay, { gateway });
      const { taskId } = await begin(relay, daemon);
      expect((await relay.call('deleteDevice', { params: { id: daemon.deviceId } })).status).toBe(204);
      expect(await daemon.closed).toEqual({ code: 4404, reason: 'device deleted' });
      await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
      expect((await relay.database.models.task.findUnique({ where: { id: taskId } }))?.state).toBe('cancelled');
      await expect(again(daemon)).rejects.toMatchObject({ status: 401 });
    }
  });

  it('a device removed by its own credential is closed too', async () => {
    const daemon = await connectDaemon(relay, { gateway: 1 });
    const { deviceId, refreshToken } = daemon.registration;
    const headers = { Authorization: `Bearer ${refreshToken}` };
    expect((await relay.call('deleteDevice', { params: { id: deviceId }, user: null, headers })).status).toBe(204);
    expect(await daemon.closed).toMatchObject({ code: 4404 });
  });

  it('counts its connections', async () => {
    for (const gateway of [0, 1])
      expect(await counted(relay, 'relay_daemon_connections', {}, gateway)).toBe(relay.gateways[gateway]!.gateway.size);
  });
});

describe('an instance that dies', () => {
  it('leaves its devices to another instance, which reports them as offline', async () => {
    // The lease of the device that stays must outlive a pause of this process.
    const config = { offlineGraceMs: 300, leaseTtlMs: 3000, leaseRefreshMs: 300, sweepIntervalMs: 300 };
    const relay = await startRelay({ gateways: 2, config });
    try {
      const app = await connectApp(relay);
      const lost = await connectDaemon(relay, { gateway: 0 });
      const kept = await connectDaemon(relay, { gateway: 1 });
      await nextStart(relay, lost);
      await relay.gateways[0]!.kill();
      await app.next('device_status', (frame) => frame.deviceId === lost.deviceId && frame.status === 'offline');
      const back = await connectDaemon(relay, { gateway: 1, registration: lost.registration });
      await nextStart(relay, back);
      await nextStart(relay, kept);
      expect(app.inbox.count('device_status', (frame) => frame.deviceId === kept.deviceId)).toBe(1);
    } finally {
      await relay.stop();
    }
  });
});
