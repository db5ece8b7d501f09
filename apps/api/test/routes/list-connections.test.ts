import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionList } from '@relay/protocol';
import { type TestRelay, connectApp, connectDaemon, registerDevice, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';

describe('GET /api/devices/:id/connections', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { offlineGraceMs: 0 } });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'listConnections');

  const call = (deviceId: string, user = 'alice') => relay.call('listConnections', { params: { id: deviceId }, user });
  const list = async (deviceId: string) =>
    (expectSuccess('listConnections', 200, await call(deviceId)) as ConnectionList).connections;

  it('is empty for a device that never connected', async () => {
    expect(await list((await registerDevice(relay)).deviceId)).toEqual([]);
  });

  it('shows the live connection and the close reasons of earlier ones, newest first', async () => {
    const app = await connectApp(relay);
    const registration = await registerDevice(relay);
    const first = await connectDaemon(relay, { registration, headers: { 'X-Daemon-Version': '1.2.3' } });
    first.socket.close(4999, 'battery empty');
    await app.next('device_status', ({ status }) => status === 'offline');
    await connectDaemon(relay, { registration, headers: { 'X-Daemon-Version': '' } });
    await app.next(
      'device_status',
      ({ status, deviceId }) => status === 'online' && deviceId === registration.deviceId,
    );
    await app.next(
      'device_status',
      ({ status, deviceId }) => status === 'online' && deviceId === registration.deviceId,
    );
    const connections = await list(registration.deviceId);
    expect(connections).toEqual([
      { connectedAt: expect.any(String), daemonVersion: '', instance: expect.stringMatching(/^gateway0-/) },
      {
        connectedAt: expect.any(String),
        disconnectedAt: expect.any(String),
        closeCode: 4999,
        reason: 'battery empty',
        daemonVersion: '1.2.3',
        instance: connections[0]!.instance,
      },
    ]);
    await app.close();
  });

  it('shows the newest 50', async () => {
    const { deviceId } = await registerDevice(relay);
    const hour = (n: number) => new Date(Date.UTC(2026, 0, 1, n));
    await relay.database.models.deviceConnection.createMany({
      data: Array.from({ length: 60 }, (_, n) => ({
        id: `c${n}-${deviceId}`,
        deviceId,
        fence: n + 1,
        daemonVersion: `${n}`,
        instance: 'x',
        connectedAt: hour(n),
      })),
    });
    const versions = (await list(deviceId)).map(({ daemonVersion }) => daemonVersion);
    expect(versions).toEqual(Array.from({ length: 50 }, (_, n) => `${59 - n}`));
  });

  it('returns 404 for a device that never existed, was removed, or belongs to another user', async () => {
    const { deviceId } = await registerDevice(relay);
    expectRefusal(await call('never'), 'DEVICE_NOT_FOUND');
    expectRefusal(await call(deviceId, 'mallory'), 'DEVICE_NOT_FOUND');
    await relay.call('deleteDevice', { params: { id: deviceId } });
    expectRefusal(await call(deviceId), 'DEVICE_NOT_FOUND');
  });
});
