import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ErrorResponse, type ErrorCode, errorCatalogue, validator } from '@relay/protocol';
import { type AppOptions, type TestRelay, connectApp, registerDevice, startRelay } from '@relay/testing';
import { sendBytes } from '../http/raw.ts';
import { until } from '../until.ts';
import { handshake, sayer } from './app-door.ts';

const isRefusal = validator(ErrorResponse);
const kinds = ['header', 'protocol', 'access_token', 'token', 'ticket'] as const;
type Kind = (typeof kinds)[number];

describe('authentication on /ws/attention', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({
      apis: 2,
      config: {
        // Long enough to use a ticket after a pause of the process.
        ticketTtlSeconds: 4,
        expiryToleranceMs: 0,
        publicUrl: 'https://relay.example.com',
        allowedOrigins: ['https://app.example.com'],
      },
    });
  });
  afterAll(() => relay.stop());

  const ticket = async (user = 'alice') => (await relay.call('createTicket', { user })).body.ticket;
  const credentialOf = async (kind: Kind) => (kind === 'ticket' ? await ticket() : relay.token());
  const expectRefused = async (options: AppOptions, code: ErrorCode) => {
    const refusal = (await connectApp(relay, options).catch((error: unknown) => error)) as {
      status: number;
      headers: Record<string, string>;
      body: Record<string, unknown>;
    };
    expect(refusal).toMatchObject({ status: errorCatalogue[code].status, body: { code } });
    expect(isRefusal(refusal.body)).toMatchObject({ ok: true });
    expect(refusal.headers['content-type']).toMatch(/^application\/json/);
    return refusal;
  };

  it.each(kinds)('accepts the token as %s, and sends the frames of its user only', async (kind) => {
    const app = await connectApp(relay, { credential: kind, token: await credentialOf(kind) });
    await sayer(relay, 'mallory').append(0);
    await sayer(relay, 'alice').append(1);
    expect(await app.next('numbered')).toEqual({ type: 'numbered', n: 1 });
    expect(app.socket.protocol).toBe(kind === 'protocol' ? 'relay.v1' : '');
    await app.close();
  });

  it('requires a credential', async () => {
    const { headers } = await expectRefused({ credential: 'none' }, 'UNAUTHORIZED');
    expect(headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it.each<[string, AppOptions]>([
    ['an empty query parameter', { credential: 'access_token', token: '' }],
    ['another scheme', { credential: 'none', headers: { Authorization: 'Basic YTpi' } }],
    ['a scheme without a token', { credential: 'none', headers: { Authorization: 'Bearer' } }],
    ['garbage', { token: 'garbage' }],
    ['garbage as a ticket', { credential: 'ticket', token: 'garbage' }],
    ['an empty ticket', { credential: 'ticket', token: '' }],
  ])('refuses %s', async (_what, options) => {
    const refusal = (await connectApp(relay, options).catch((error: unknown) => error)) as { status: number };
    expect(refusal).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringMatching(/^Bearer/) } });
  });

  it('refuses an expired token', async () => {
    await expectRefused({ token: relay.token('alice', { expiresInSeconds: -60 }) }, 'TOKEN_EXPIRED');
  });

  const pairs = kinds.flatMap((one, index) => kinds.slice(index + 1).map((other) => [one, other] as const));
  it.each(pairs)('returns 400 for two kinds of credential at once: %s and %s', async (one, other) => {
    const parts: Record<Kind, () => Promise<{ headers?: Record<string, string>; query?: string }>> = {
      header: () => Promise.resolve({ headers: { Authorization: `Bearer ${relay.token()}` } }),
      protocol: () => Promise.resolve({ headers: { 'Sec-WebSocket-Protocol': `relay.v1, bearer.${relay.token()}` } }),
      access_token: () => Promise.resolve({ query: `access_token=${relay.token()}` }),
      token: () => Promise.resolve({ query: `token=${relay.token()}` }),
      ticket: async () => ({ query: `ticket=${await ticket()}` }),
    };
    const sent = [await parts[one](), await parts[other]()];
    const query = sent.flatMap((part) => part.query ?? []).join('&');
    const headers = Object.assign({}, ...sent.map((part) => part.headers ?? {})) as Record<string, string>;
    const answer = await sendBytes(relay.url, handshake(`/ws/attention?${query}`, headers));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('INVALID_REQUEST');
  });

  it('returns 400 for the same kind of credential twice', async () => {
    for (const name of ['access_token', 'token', 'ticket']) {
      const answer = await sendBytes(relay.url, handshake(`/ws/attention?${name}=a&${name}=b`, {}));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it('D6: requires a user: a device gets the 401 of an unknown token', async () => {
    const { refreshToken } = await registerDevice(relay);
    for (const credential of [...kinds, 'ticket'] as const)
      await expectRefused({ credential, token: refreshToken }, 'INVALID_TOKEN');
  });

  it('requires the scope sessions:read', async () => {
    const token = relay.token('alice', { scopes: ['sessions:write', 'devices:read', 'devices:write'] });
    const { headers } = await expectRefused({ token }, 'INSUFFICIENT_SCOPE');
    expect(headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="sessions:read"');
    const app = await connectApp(relay, { token: relay.token('alice', { scopes: ['sessions:read'] }) });
    await app.close();
  });

  describe('by ticket', () => {
    it('admits one connection, on any instance', async () => {
      const token = await ticket();
      const app = await connectApp(relay, { credential: 'ticket', token, api: 1 });
      await app.close();
      for (const api of [0, 1]) await expectRefused({ credential: 'ticket', token, api }, 'INVALID_TOKEN');
    });

    it('admits one connection, however many try at the same time', async () => {
      const token = await ticket();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 6 }, (_, n) => connectApp(relay, { credential: 'ticket', token, api: n % 2 })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('is valid for its lifetime only', async () => {
      const token = await ticket();
      // The lifetime began before the answer arrived.
      const since = Date.now();
      await until('its lifetime is over', () => Date.now() - since > relay.config.ticketTtlSeconds * 1000);
      await expectRefused({ credential: 'ticket', token }, 'INVALID_TOKEN');
    });

    it('acts as the user that requested it, until the requesting token expires', async () => {
      const token = relay.token('bob', { expiresInSeconds: 5 });
      const { body } = await relay.call('createTicket', { user: null, headers: { Authorization: `Bearer ${token}` } });
      const app = await connectApp(relay, { credential: 'ticket', token: body.ticket });
      await sayer(relay, 'bob').append(1);
      expect(await app.next('numbered')).toMatchObject({ n: 1 });
      expect((await app.closed).code).toBe(4401);
    });

    it('becomes invalid when its user is revoked after it was issued', async () => {
      const token = await ticket('eve');
      const witness = await connectApp(relay, { user: 'eve' });
      await relay.gateways[0]!.backplane.publishControl(
        JSON.stringify({ v: 1, kind: 'user_revoked', subject: relay.issuer.userId('eve') }),
      );
      await witness.closed;
      await expectRefused({ credential: 'ticket', token }, 'TOKEN_REVOKED');
    });
  });

  describe('from the origin', () => {
    it.each(['https://relay.example.com', 'https://app.example.com'])('%s connects', async (origin) => {
      const app = await connectApp(relay, { origin });
      await app.close();
    });

    it.each(['https://evil.example.com', 'http://app.example.com', 'https://app.example.com:444', 'null', 'garbage'])(
      '%s is refused, whatever the credential',
      async (origin) => {
        await expectRefused({ origin }, 'ORIGIN_NOT_ALLOWED');
        await expectRefused({ origin, credential: 'none' }, 'ORIGIN_NOT_ALLOWED');
      },
    );
  });

  it.each(['/ws', '/ws/', '/ws/other', '/ws/attention/x', '/ws/daemon', '//', '/api/sessions', '/ws/attention%2f'])(
    'returns 404 for the path %s',
    async (path) => {
      const answer = await sendBytes(relay.url, handshake(path, { Authorization: `Bearer ${relay.token()}` }));
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('NOT_FOUND');
    },
  );

  it('supports the current WebSocket version only', async () => {
    const answer = await sendBytes(
      relay.url,
      handshake('/ws/attention', { Authorization: `Bearer ${relay.token()}`, 'Sec-WebSocket-Version': '7' }),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('INVALID_REQUEST');
  });
});
