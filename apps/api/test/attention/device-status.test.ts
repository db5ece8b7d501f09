import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestRelay,
  connectApp,
  connectDaemon,
  registerDevice,
  startRelay,
} from '@relay/testing';
import { expectFrame } from './frames.ts';

describe('device_status', () => {
  let relay: TestRelay;
  let app: TestApp;
  let modern: TestApp;
  beforeAll(async () => {
    relay = await startRelay({ gateways: 2, config: { offlineGraceMs: 50 } });
    app = await connectApp(relay);
    modern = await connectApp(relay, { since: '' });
  });
  afterAll(() => relay.stop());

  const ofDevice = (deviceId: string, to: TestApp = app) =>
    to.inbox.all.filter((frame) => frame.deviceId === deviceId).map(({ status }) => status);

  it('sends online when a device connects, and offline when it stays away for the grace time', async () => {
    const daemon = await connectDaemon(relay);
    const ofIt = (frame: Frame) => frame.deviceId === daemon.deviceId;
    expect(expectFrame('device_status', await app.next('device_status', ofIt))).toEqual({
      type: 'device_status',
      deviceId: daemon.deviceId,
      status: 'online',
    });
    expectFrame('device_status', await modern.next('device_status', ofIt), { offset: true });
    await daemon.close();
    expect(expectFrame('device_status', await app.next('device_status', ofIt)).status).toBe('offline');
  });

  it('sends nothing when a newer connection replaces an older one, on either instance', async () => {
    const registration = await registerDevice(relay);
    const first = await connectDaemon(relay, { registration, gateway: 0 });
    await connectDaemon(relay, { registration, gateway: 1 });
    await first.closed;
    const third = await connectDaemon(relay, { registration, gateway: 0 });
    await third.close();
    await app.next(
      'device_status',
      ({ deviceId, status }) => deviceId === registration.deviceId && status === 'offline',
    );
    expect(ofDevice(registration.deviceId)).toEqual(['online', 'offline']);
  });

  it("reaches the device's owner only", async () => {
    const bob = await connectApp(relay, { user: 'bob' });
    const mine = await connectDaemon(relay);
    const his = await connectDaemon(relay, { user: 'bob' });
    await bob.next('device_status', ({ deviceId }) => deviceId === his.deviceId);
    await app.next('device_status', ({ deviceId }) => deviceId === mine.deviceId);
    expect(ofDevice(mine.deviceId, bob)).toEqual([]);
    expect(ofDevice(his.deviceId)).toEqual([]);
    await bob.close();
  });
});
