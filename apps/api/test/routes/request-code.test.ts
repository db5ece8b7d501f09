import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeviceCode } from '@relay/protocol';
import { type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { bearer } from '../credentials.ts';

describe('POST /api/devices/code', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  const ask = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    relay.call('POST', '/api/devices/code', { user: null, body, headers });
  const asked = async (body: Record<string, unknown>, headers?: Record<string, string>) =>
    expectSuccess('requestCode', 200, await ask(body, headers)) as DeviceCode;
  const detail = async (code: DeviceCode, user = 'alice') =>
    (await relay.call('readCode', { params: { userCode: code.user_code }, user })).body as Record<string, unknown>;

  it('returns every field in both spellings, without a credential', async () => {
    const code = await asked({ hostname: 'laptop', agent_type: 'claude_code' });
    const complete = `${relay.config.publicUrl}/device?user_code=${code.user_code}`;
    expect(code).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${relay.config.publicUrl}/device`,
      verification_uri_complete: complete,
      verification_url: complete,
      expires_in: 900,
      interval: 5,
      deviceCode: code.device_code,
      userCode: code.user_code,
      verificationUri: code.verification_uri,
      verificationUrl: complete,
      expiresIn: 900,
    });
  });

  it('returns different codes every time', async () => {
    const codes = await Promise.all([1, 2, 3].map(() => asked({ hostname: 'laptop', agent_type: 'a' })));
    expect(new Set(codes.map(({ device_code }) => device_code)).size).toBe(3);
    expect(new Set(codes.map(({ user_code }) => user_code)).size).toBe(3);
  });

  it.each([
    ['snake_case', { hostname: 'h1', agent_type: 'codex', device_name: 'My box' }],
    ['camelCase, as daemons in the field write it', { deviceName: 'My box', hostname: 'h1', agentType: 'codex' }],
  ])('accepts %s', async (_spelling, body) => {
    expect(await detail(await asked(body))).toMatchObject({ hostname: 'h1', agentType: 'codex', deviceName: 'My box' });
  });

  it.each([[{}], [{ device_name: '' }], [{ deviceName: '   ' }]])(
    'names the device after its host for %j',
    async (more) => {
      expect(await detail(await asked({ hostname: 'tower', agent_type: 'a', ...more }))).toMatchObject({
        deviceName: 'tower',
      });
    },
  );

  it("binds the code to the user of the request's token", async () => {
    const code = await asked({ hostname: 'laptop', agent_type: 'a' }, bearer(relay.token('bob')));
    expect(await detail(code, 'alice')).toMatchObject({ code: 'CODE_NOT_FOUND' });
    expect(await detail(code, 'bob')).toMatchObject({ hostname: 'laptop' });
  });

  it('refuses an invalid credential in the request', async () => {
    const body = { hostname: 'laptop', agent_type: 'a' };
    const { refreshToken } = await registerDevice(relay);
    expectRefusal(await ask(body, bearer('garbage')), 'INVALID_TOKEN');
    expectRefusal(await ask(body, { Authorization: 'Basic YTpi' }), 'INVALID_TOKEN');
    expectRefusal(await ask(body, bearer(relay.token('bob', { expiresInSeconds: -60 }))), 'TOKEN_EXPIRED');
    expectRefusal(await ask(body, bearer(refreshToken)), 'DEVICE_TOKEN_NOT_ALLOWED');
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no host name', { agent_type: 'a' }, /hostname/],
    ['an empty host name', { hostname: '', agent_type: 'a' }, /hostname/],
    ['a host name over the limit', { hostname: 'x'.repeat(256), agent_type: 'a' }, /hostname/],
    ['a host name that is not text', { hostname: 1, agent_type: 'a' }, /hostname/],
    ['no agent type', { hostname: 'h' }, /agent_type/],
    ['an empty agent type', { hostname: 'h', agent_type: '' }, /agent_type/],
    ['an agent type with a colon', { hostname: 'h', agent_type: 'a:b' }, /agent_type/],
    ['an agent type in capitals', { hostname: 'h', agentType: 'Claude' }, /agentType/],
    ['an agent type that begins with a dash', { hostname: 'h', agentType: '-a' }, /agentType/],
    ['an agent type over the limit', { hostname: 'h', agent_type: 'a'.repeat(65) }, /agent_type/],
    ['a name over the limit', { hostname: 'h', agent_type: 'a', device_name: 'x'.repeat(201) }, /device_name/],
  ])('refuses %s and names the field', async (_what, body, field) => {
    expectRefusal(await ask(body), 'INVALID_REQUEST', field);
  });

  it('accepts names of the maximum length', async () => {
    await asked({ hostname: 'x'.repeat(255), agent_type: `a${'-'.repeat(63)}`, device_name: '🐢'.repeat(200) });
  });

  it.each(['a\u0007b', 'a\u001b[31mb', 'a\nb', 'a\u202eb', 'a\u2066b', 'a\u200fb', 'a\u200bb', 'a\u2028b', 'a\u009bb'])(
    'S16: refuses a deceptive name: %j',
    async (name) => {
      for (const fields of [{ hostname: name }, { device_name: name }, { deviceName: name }]) {
        const answer = await relay.call('requestCode', {
          user: null,
          body: { hostname: 'h', agent_type: 'scripted', ...fields },
        });
        expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
      }
    },
  );

  it('S16: accepts names in every language, and emoji sequences', async () => {
    for (const hostname of ['Ædes-日本', 'מחשב', '👩‍💻 laptop', "ada's mac"]) {
      const body = { hostname, agent_type: 'scripted' };
      expect((await relay.call('requestCode', { user: null, body })).status).toBe(200);
    }
  });
});
