import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreateDeviceKey, CreatedDeviceKey, DeviceCode } from '@relay/protocol';
import { type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { bearer } from '../credentials.ts';

describe('registration keys', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { devicesPerUser: 5 } });
  });
  afterAll(() => relay.stop());

  const make = async (user: string, body: CreateDeviceKey = {}) =>
    expectSuccess('createDeviceKey', 201, await relay.call('createDeviceKey', { user, body })) as CreatedDeviceKey;
  const ask = (key: string, headers: Record<string, string> = {}) =>
    relay.call('requestCode', {
      user: null,
      headers,
      body: { hostname: 'runner', agent_type: 'scripted', device_name: 'Runner', key },
    });
  const keysOf = async (user: string) => (await relay.call('listDeviceKeys', { user })).body.keys;
  const devicesOf = async (user: string) => (await relay.call('listDevices', { user })).body.devices;

  it('let a machine register without a person, whose apps get the same notification as for any device', async () => {
    const app = await connectApp(relay, { user: 'ada', since: '' });
    const { key, id } = await make('ada', { name: 'Build machines' });
    expect(key).toMatch(/^rly_key_[\w-]{43}$/);
    const code = expectSuccess('requestCode', 200, await ask(key)) as DeviceCode;
    expect(code.approved).toBe(true);
    expect(await app.next('access_granted')).toMatchObject({ kind: 'device', name: 'Runner' });
    const { status, body } = await relay.call('pollCode', { user: null, body: { device_code: code.device_code } });
    expect(status).toBe(200);
    const { device_id: deviceId, refresh_token: refreshToken } = body;
    await connectDaemon(relay, {
      registration: { deviceId: deviceId, refreshToken: refreshToken, agentType: 'scripted', user: 'ada' },
    });
    // The socket opens before the relay marks the device as online.
    await app.next('device_status', ({ status: now }) => now === 'online');
    expect(await devicesOf('ada')).toMatchObject([{ id: deviceId, name: 'Runner', status: 'online' }]);
    expect(await keysOf('ada')).toEqual([expect.objectContaining({ id, name: 'Build machines', uses: 1, used: 1 })]);
    const { body: outbox } = await relay.call('listNotifications', { user: 'ada' });
    expect(outbox.notifications).toMatchObject([{ cause: 'device_allowed', deviceId, name: 'Runner' }]);
  });

  it('are valid for exactly their number of uses, however many machines ask at once', async () => {
    const { key } = await make('bea', { uses: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 'KEY_NOT_VALID');
    expect(await keysOf('bea')).toMatchObject([{ uses: 3, used: 3 }]);
  });

  it('are invalid once revoked or expired, and both cases look the same', async () => {
    const revoked = await make('cem');
    expect((await relay.call('revokeDeviceKey', { user: 'cem', params: { id: revoked.id } })).status).toBe(204);
    const expired = await make('cem');
    await relay.database.models.deviceKey.update({ where: { id: expired.id }, data: { expiresAt: new Date() } });
    const texts = await Promise.all(
      [revoked.key, expired.key, `rly_key_${'a'.repeat(43)}`, 'guess'].map(async (key) => {
        const answer = await ask(key);
        expectRefusal(answer, 'KEY_NOT_VALID');
        return (answer.body as { error: string }).error;
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(await keysOf('cem')).toEqual([]);
    expect(await devicesOf('cem')).toEqual([]);
  });

  it('belong to one user: another user cannot see, revoke or use them', async () => {
    const { key, id } = await make('dan');
    expect(await keysOf('eve')).toEqual([]);
    expectRefusal(await relay.call('revokeDeviceKey', { user: 'eve', params: { id } }), 'KEY_NOT_FOUND');
    expectRefusal(await ask(key, bearer(relay.token('eve'))), 'KEY_NOT_VALID');
    expect((await ask(key, bearer(relay.token('dan')))).status).toBe(200);
  });

  it("register no more devices than a user's limit, and a refused machine does not consume a use", async () => {
    const { key, id } = await make('fay', { uses: 10 });
    for (let n = 0; n < 5; n += 1) expect((await ask(key)).status).toBe(200);
    expectRefusal(await ask(key), 'TOO_MANY_DEVICES');
    expect(await keysOf('fay')).toMatchObject([{ id, used: 5 }]);
  });

  it('are limited to twenty per user, also when they are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 23 }, () => relay.call('createDeviceKey', { user: 'gus', body: {} })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 'TOO_MANY_KEYS');
  });

  it('are stored as hashes only', async () => {
    const { key } = await make('hal');
    const rows = await relay.database.sql.query<{ row: string }>`SELECT k::text AS row FROM device_keys k`;
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(key.slice('rly_key_'.length));
  });

  it('require a recent sign-in to create, and the scope that changes devices', async () => {
    const call = (token: string) => relay.call('createDeviceKey', { user: null, body: {}, headers: bearer(token) });
    expectRefusal(await call(relay.token('ida', { signedInSecondsAgo: 901 })), 'SIGN_IN_NOT_RECENT');
    expectRefusal(await call(relay.token('ida', { scopes: ['devices:read'] })), 'INSUFFICIENT_SCOPE');
  });

  it.each<[string, object]>([
    ['a time below a minute', { ttlSeconds: 59 }],
    ['a time above thirty days', { ttlSeconds: 2_592_001 }],
    ['zero uses', { uses: 0 }],
    ['too many uses', { uses: 1001 }],
    ['a name with bidi control characters', { name: 'a\u202eb' }],
  ])('refuse %s', async (_what, body) => {
    expectRefusal(await relay.call('POST', '/api/devices/keys', { user: 'jon', body }), 'INVALID_REQUEST');
  });
});
