import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAcpToken } from '@relay/protocol';
import { type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { bearer } from '../credentials.ts';

describe('tokens of ACP clients', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  const deviceOf = async (user: string) => (await registerDevice(relay, { user })).deviceId;
  const make = async (user: string, deviceId: string, body: object = {}) =>
    expectSuccess(
      'createAcpToken',
      201,
      await relay.call('createAcpToken', { user, body: { deviceId, ...body } }),
    ) as CreatedAcpToken;
  const tokensOf = async (user: string) => (await relay.call('listAcpTokens', { user })).body.tokens;

  it('are shown once, with the address of their device, and listed without the secret', async () => {
    const deviceId = await deviceOf('ada');
    const { token, url, ...listed } = await make('ada', deviceId, { name: 'Phone' });
    expect(token).toMatch(/^rly_acp_[\w-]{43}$/);
    expect(url).toBe(`${relay.config.publicUrl.replace('http', 'ws')}/acp/${deviceId}`);
    expect(listed).toMatchObject({ deviceId, name: 'Phone', scopes: ['sessions:read', 'sessions:write'] });
    expect(new Date(listed.expiresAt).getTime()).toBeGreaterThan(Date.now() + 89 * 86_400_000);
    expect(await tokensOf('ada')).toEqual([listed]);
  });

  it('are stored as hashes only', async () => {
    const { token } = await make('bea', await deviceOf('bea'));
    const rows = await relay.database.sql.query<{ row: string }>`SELECT t::text AS row FROM acp_tokens t`;
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(token.slice('rly_acp_'.length));
  });

  it('belong to one user: another user cannot create them for the device, see them or revoke them', async () => {
    const deviceId = await deviceOf('dan');
    const { id } = await make('dan', deviceId);
    expectRefusal(await relay.call('createAcpToken', { user: 'eve', body: { deviceId } }), 'DEVICE_NOT_FOUND');
    expect(await tokensOf('eve')).toEqual([]);
    expectRefusal(await relay.call('revokeAcpToken', { user: 'eve', params: { id } }), 'TOKEN_NOT_FOUND');
    expect((await relay.call('revokeAcpToken', { user: 'dan', params: { id } })).status).toBe(204);
    expectRefusal(await relay.call('revokeAcpToken', { user: 'dan', params: { id } }), 'TOKEN_NOT_FOUND');
    expect(await tokensOf('dan')).toEqual([]);
    const { entries } = (await relay.call('listAudit', { user: 'dan' })).body;
    expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual(
      expect.arrayContaining([
        ['createAcpToken', 'done'],
        ['revokeAcpToken', 'done'],
      ]),
    );
  });

  it('are deleted with their device', async () => {
    const deviceId = await deviceOf('fay');
    await make('fay', deviceId);
    expect((await relay.call('deleteDevice', { user: 'fay', params: { id: deviceId } })).status).toBe(204);
    expect(await tokensOf('fay')).toEqual([]);
    expect(await relay.database.models.acpToken.count({ where: { deviceId } })).toBe(0);
  });

  it('are limited to fifty per user, also when they are created at once', async () => {
    const deviceId = await deviceOf('gus');
    const answers = await Promise.all(
      Array.from({ length: 53 }, () => relay.call('createAcpToken', { user: 'gus', body: { deviceId } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectRefusal(answer, 'TOO_MANY_TOKENS');
  });

  it('S7: cause a notice to the apps and addresses of the user', async () => {
    await make('kim', await deviceOf('kim'), { name: 'Phone' });
    const { notifications } = (await relay.call('listNotifications', { user: 'kim' })).body;
    expect(notifications.filter(({ cause }) => cause === 'program_allowed')).toEqual([
      expect.objectContaining({ name: 'Phone' }),
    ]);
  });

  it('require a recent sign-in, and grant only scopes of their creator', async () => {
    const deviceId = await deviceOf('ida');
    const call = (token: string, body: object = {}) =>
      relay.call('createAcpToken', { user: null, body: { deviceId, ...body }, headers: bearer(token) });
    expectRefusal(await call(relay.token('ida', { signedInSecondsAgo: 901 })), 'SIGN_IN_NOT_RECENT');
    expectRefusal(await call(relay.token('ida', { scopes: ['sessions:read'] })), 'INSUFFICIENT_SCOPE');
    const reader = relay.token('ida', { scopes: ['devices:write', 'sessions:read'] });
    expectRefusal(await call(reader), 'INSUFFICIENT_SCOPE');
    expect((await call(reader, { scopes: ['sessions:read'] })).status).toBe(201);
  });

  it.each<[string, object]>([
    ['no scope', { scopes: [] }],
    ['a scope of devices', { scopes: ['devices:write'] }],
    ['a name with bidi control characters', { name: 'a\u202eb' }],
  ])('refuse %s', async (_what, body) => {
    const deviceId = await deviceOf('jon');
    const answer = await relay.call('POST', '/api/acp-tokens', { user: 'jon', body: { deviceId, ...body } });
    expectRefusal(answer, 'INVALID_REQUEST');
  });
});
