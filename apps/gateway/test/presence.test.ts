import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Registration, type TestApp, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { until } from './conversation.ts';

describe('online and offline', () => {
  let relay: TestRelay;
  let app: TestApp;

  const statusesOf = (deviceId: string) =>
    app.inbox.all
      .filter((frame) => frame.type === 'device_status' && frame.deviceId === deviceId)
      .map((frame) => frame.status);
  const deviceOf = async (deviceId: string) =>
    ((await relay.call('listDevices')).body.devices as { id: string; status: string; lastSeenAt: string }[]).find(
      (device) => device.id === deviceId,
    )!;
  const noted = (deviceId: string) =>
    until(async () => {
      const { body } = await relay.call('listConnections', { params: { id: deviceId } });
      return body.connections[0]!.disconnectedAt !== undefined;
    });
  /** A device connects and leaves now: every grace period that began before is over when it is announced. */
  const graceOver = async () => {
    const clock = await connectDaemon(relay);
    await clock.close();
    await app.next('device_status', (frame) => frame.deviceId === clock.deviceId && frame.status === 'offline');
  };
  const connect = (registration: Registration, gateway = 0) => connectDaemon(relay, { registration, gateway });

  beforeAll(async () => {
    // Sweeps out of the way: the grace alone announces.
    relay = await startRelay({ gateways: 2, config: { offlineGraceMs: 1000, sweepIntervalMs: 600_000 } });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('a device is online when it connects, and apps learn of it once', async () => {
    const daemon = await connectDaemon(relay);
    expect(await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId)).toEqual({
      type: 'device_status',
      deviceId: daemon.deviceId,
      status: 'online',
    });
    expect(await deviceOf(daemon.deviceId)).toMatchObject({ status: 'online' });
    expect(statusesOf(daemon.deviceId)).toEqual(['online']);
  });

  it('A14: a device whose daemon was stopped is offline at once', async () => {
    const patient = await startRelay({ config: { offlineGraceMs: 600_000, sweepIntervalMs: 600_000 } });
    const watcher = await connectApp(patient);
    const daemon = await connectDaemon(patient);
    daemon.socket.close(1000, 'normal');
    await watcher.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
    await watcher.close();
    await patient.stop();
  });

  it('a message that must not wait asks for the live socket, not for the grace', async () => {
    const daemon = await connectDaemon(relay);
    const body = { deviceId: daemon.deviceId, message: 'now', queueTtlSeconds: 0 };
    expect(await relay.call('createSession', { body })).toMatchObject({ status: 201 });
    await daemon.close();
    await noted(daemon.deviceId);
    expect(await relay.call('createSession', { body })).toMatchObject({
      status: 503,
      body: { code: 'DEVICE_OFFLINE' },
    });
  });

  it('a device that was offline is announced when it is back', async () => {
    const daemon = await connectDaemon(relay);
    await daemon.close();
    await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
    await connect(daemon.registration, 1);
    await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'online');
    await graceOver();
    expect(statusesOf(daemon.deviceId)).toEqual(['online', 'offline', 'online']);
  });

  it('a device shows as online if it came back while the frame of its close was in flight', async () => {
    const daemon = await connectDaemon(relay);
    const { deviceId } = daemon;
    const { backplane } = relay.gateways[0]!;
    const append = backplane.append.bind(backplane);
    let [reached, release] = [() => {}, () => {}];
    const reaching = new Promise<void>((resolve) => (reached = resolve));
    const holding = new Promise<void>((resolve) => (release = resolve));
    const slow = jest.spyOn(backplane, 'append').mockImplementation(async (user, body) => {
      if (body.includes(deviceId) && body.includes('"offline"')) {
        reached();
        await holding;
      }
      return append(user, body);
    });
    await daemon.close();
    await reaching;
    await connect(daemon.registration, 1);
    const shown = (status: string, count: number) =>
      until(() => Promise.resolve(statusesOf(deviceId).filter((one) => one === status).length === count));
    await shown('online', 2);
    release();
    await shown('offline', 1);
    await shown('online', 3);
    slow.mockRestore();
    expect(statusesOf(deviceId)).toEqual(['online', 'online', 'offline', 'online']);
  });

  it('is published to the owner of the device and to no one else', async () => {
    const bob = await connectApp(relay, { user: 'bob' });
    const daemon = await connectDaemon(relay);
    const theirs = await connectDaemon(relay, { user: 'bob' });
    await bob.next('device_status', (frame) => frame.deviceId === theirs.deviceId);
    expect(bob.inbox.count('device_status')).toBe(1);
    await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId);
    expect(statusesOf(theirs.deviceId)).toEqual([]);
    expect(statusesOf(daemon.deviceId)).toEqual(['online']);
  });

  // These tests act within the grace, on a busy machine too.
  describe('within the grace', () => {
    let short: { relay: TestRelay; app: TestApp };
    beforeAll(async () => {
      short = { relay, app };
      relay = await startRelay({ gateways: 2, config: { offlineGraceMs: 3000, sweepIntervalMs: 600_000 } });
      app = await connectApp(relay);
    });
    afterAll(async () => {
      await relay.stop();
      ({ relay, app } = short);
    });

    it('a device that stays away is offline after the grace, and not before', async () => {
      const daemon = await connectDaemon(relay);
      const seenBefore = (await deviceOf(daemon.deviceId)).lastSeenAt;
      await daemon.close();
      await noted(daemon.deviceId);
      expect(await deviceOf(daemon.deviceId)).toMatchObject({ status: 'online' });
      await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
      const { status, lastSeenAt } = await deviceOf(daemon.deviceId);
      expect(status).toBe('offline');
      expect(Date.parse(lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(seenBefore));
    });

    it.each([
      ['the same instance', 0],
      ['another instance', 1],
    ])('a device that comes back within the grace on %s sends no frame at all', async (_, gateway) => {
      const daemon = await connectDaemon(relay);
      await daemon.drop();
      await noted(daemon.deviceId);
      await connect(daemon.registration, gateway);
      await graceOver();
      expect(statusesOf(daemon.deviceId)).toEqual(['online']);
      expect(await deviceOf(daemon.deviceId)).toMatchObject({ status: 'online' });
    });

    it('each close restarts the grace period', async () => {
      const daemon = await connectDaemon(relay);
      for (let count = 0; count < 3; count += 1) {
        await (await connect(daemon.registration)).close();
        await noted(daemon.deviceId);
      }
      await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
      expect(statusesOf(daemon.deviceId)).toEqual(['online', 'offline']);
    });
  });
});
