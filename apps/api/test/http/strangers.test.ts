/** Requests without a credential: they leave no errors in the log, and have a limit for each address. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectLimitHeaders } from '../answers.ts';

const signMs = 30 * 24 * 3600_000;
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token as in a notification, with a forged signature. `period`: the month of its key. */
const forged = (period: number, more: object = {}) =>
  `${encoded({ alg: 'ES256', typ: 'answer+jwt', kid: `answers:${Math.floor(Date.now() / signMs) + period}`, ...more })}.${encoded({ sub: 'x', aud: 'x' })}.${'A'.repeat(86)}`;

describe('unauthenticated requests', () => {
  let relay: TestRelay;
  let log = '';
  beforeAll(async () => {
    relay = await startRelay({
      identity: true,
      config: { logLevel: 'trace', pushSecret: ['p'.repeat(32)], rateLimitPerMinute: 1000, signInPerMinute: 1000 },
      log: { write: (line) => (log += line) },
    });
  });
  afterAll(() => relay.stop());

  const raw = (method: string, path: string, given: string, headers: Record<string, string>) =>
    relay.call(method as 'POST', path, { user: null, raw: given, headers });

  it('S13: leave neither an error nor a stack in the log', async () => {
    const statuses: number[] = [];
    const send = async (...given: Parameters<typeof raw>) => statuses.push((await raw(...given)).status);
    for (const period of [-1, 0, 1, 2])
      for (const more of [{}, { kid: undefined }, { kid: { a: 1 } }, { alg: 'none' }])
        await send('POST', '/api/answers', '{}', {
          Authorization: `Bearer ${forged(period, more)}`,
          'Content-Type': 'application/json',
        });
    const paths = [
      '/sign-in/email',
      '/sign-up/email',
      '/sign-in/social',
      '/oauth2/token',
      '/oauth2/consent',
      '/relay/confirm',
    ];
    paths.push(
      '/oauth2/revoke',
      '/relay/invitations/check',
      '/two-factor/verify-totp',
      '/passkey/verify-authentication',
    );
    for (const path of paths)
      for (const type of [
        'text/xml',
        'text/plain',
        'multipart/form-data',
        'multipart/form-data; boundary=x',
        'application/x-protobuf',
        'x',
        '',
        'application/json; charset=utf-7',
        'application/x-www-form-urlencoded',
      ])
        await send('POST', `/auth${path}`, '<a/>', {
          'Content-Type': type,
          Origin: new URL(relay.config.publicUrl).origin,
        });
    for (const path of ['/auth/relay/register', '/mcp', '/api/device/code', '/api/sessions'])
      for (const type of ['text/xml', 'multipart/form-data', ''])
        await send('POST', path, '<a/>', { 'Content-Type': type });
    await send('GET', '/api/sessions', '', { Authorization: 'Bearer a.b.c' });
    await send('GET', '/api/%ff', '', {});
    await send('GET', '/auth/callback/none?state=x&code=y', '', {});
    expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([]);
    const lines = log.split('\n').filter(Boolean);
    const loud = lines.filter((line) => {
      const { level } = JSON.parse(line) as { level: string | number };
      return ['error', 'warn', 'fatal'].includes(String(level)) || Number(level) >= 40;
    });
    expect(loud).toEqual([]);
    expect(lines.filter((line) => line.includes('"stack"') || /\n?\s+at /.test(line))).toEqual([]);
  });

  it.each([
    '/auth/jwks',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/nothing',
  ])('S13: count %s in the bucket of their address', async (path) => {
    expectLimitHeaders(await relay.call('GET', path, { user: null }));
  });

  it('S13: share one bucket for all public documents, and are refused beyond it', async () => {
    const strict = await startRelay({ identity: true, config: { rateLimitPerMinute: 6 } });
    const paths = ['/auth/jwks', '/.well-known/openid-configuration', '/.well-known/oauth-protected-resource'];
    const statusOf = async (path: string) => (await strict.call('GET', path, { user: null })).status;
    for (const path of [...paths, ...paths]) expect(await statusOf(path)).toBe(200);
    for (const path of [...paths, '/install.sh', '/relay-daemon.tgz', '/install.sh?x', '//auth/jwks', '/auth/jwks/'])
      expect([path, [404, 429].includes(await statusOf(path))]).toEqual([path, true]);
    expect(await statusOf('/install.sh')).toBe(429);
    const register = { user: null, body: { redirect_uris: ['http://localhost:1/callback'] } };
    expect((await strict.call('POST', '/auth/relay/register', register)).status).toBe(429);
    // Authenticated users and the sign-in have separate buckets.
    expect((await strict.call('GET', '/api/sessions')).status).toBe(200);
    await strict.stop();
  });
});
