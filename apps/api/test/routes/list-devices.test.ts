import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Device } from '@relay/protocol';
import { type TestRelay, connectApp, connectDaemon, registerDevice, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';

describe('GET /api/devices', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { offlineGraceMs: 50 } });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'listDevices');

  const list = async (user: string) => {
    const answer = await relay.call('listDevices', { user });
    return (expectSuccess('listDevices', 200, answer) as { devices: Device[] }).devices;
  };

  it('is empty for a user without devices', async () => {
    expect(await list('nobody')).toEqual([]);
  });

  it("lists the user's devices in the order of registration, and no others", async () => {
    const first = await registerDevice(relay, { user: 'bob', hostname: 'desk', agentType: 'claude_code' });
    const second = await registerDevice(relay, { user: 'bob', hostname: 'laptop' });
    await registerDevice(relay, { user: 'carol' });
    const devices = await list('bob');
    expect(devices).toEqual([
      {
        id: first.deviceId,
        name: 'desk',
        hostname: 'desk',
        agentType: 'claude_code',
        status: 'offline',
        lastSeenAt: expect.any(String),
        capabilities: [],
        agents: [{ agentType: 'claude_code' }],
        conflict: null,
      },
      expect.objectContaining({ id: second.deviceId, name: 'laptop', agentType: 'scripted' }),
    ]);
  });

  it('shows the registration time of a device that never connected', async () => {
    const before = Date.now();
    await registerDevice(relay, { user: 'dave' });
    const [device] = await list('dave');
    expect(Date.parse(device!.lastSeenAt)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(device!.lastSeenAt)).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('shows a connected device as online, and an absent one as offline after the grace time', async () => {
    const app = await connectApp(relay, { user: 'erin' });
    const daemon = await connectDaemon(relay, { user: 'erin' });
    await app.next('device_status', ({ status }) => status === 'online');
    expect((await list('erin'))[0]).toMatchObject({ id: daemon.deviceId, status: 'online' });
    await daemon.close();
    await app.next('device_status', ({ status }) => status === 'offline');
    expect((await list('erin'))[0]).toMatchObject({ id: daemon.deviceId, status: 'offline' });
    await app.close();
  });
});
