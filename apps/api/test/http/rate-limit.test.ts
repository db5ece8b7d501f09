import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type CallOptions, type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { expectLimitHeaders, expectRefusal } from '../answers.ts';
import { bearer } from '../credentials.ts';
import { until } from '../until.ts';

const shown = ({ headers }: Answer) => ({
  limit: Number(headers['x-ratelimit-limit']),
  remaining: Number(headers['x-ratelimit-remaining']),
});

/** The limits of the specification, §8, as in production. */
describe('rate limits', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { rateLimitPerMinute: 100, sessionCreatePerMinute: 10, trustProxy: 1 } });
  });
  afterAll(() => relay.stop());

  const from = (address: string, method: string, path: string, options: CallOptions = {}) =>
    relay.call(method, path, { user: null, ...options, headers: { 'X-Forwarded-For': address, ...options.headers } });
  /** Sends all at the same time: the order of counting does not matter. */
  const times = (count: number, call: (n: number) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => call(n)));
  const limitedAmong = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 429);
  const expectLimited = (answer: Answer, limit: number) => {
    expectRefusal(answer, 'RATE_LIMITED');
    expectLimitHeaders(answer);
    expect(shown(answer)).toEqual({ limit, remaining: 0 });
    const retryAfter = Number(answer.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(answer.body).toEqual({ error: expect.any(String), code: 'RATE_LIMITED', status: 429, retryAfter });
  };

  it('K8: allow a user 100 requests a minute over all routes, and report the remainder and the reset time', async () => {
    const paths = ['/api/me', '/api/sessions', '/api/devices', '/api/watched-sessions', '/api/tasks/x'];
    const reset: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      const answer = await relay.call('GET', paths[n % paths.length]!, { user: 'busy' });
      expect(answer.status).not.toBe(429);
      expect(shown(answer)).toEqual({ limit: 100, remaining: 99 - n });
      reset.push(Number(answer.headers['x-ratelimit-reset']));
    }
    expectLimited(await relay.call('me', { user: 'busy' }), 100);
    expectLimited(await relay.call('deleteSession', { params: { id: 'x' }, user: 'busy' }), 100);
    const now = Date.now() / 1000;
    expect(new Set(reset).size).toBe(1);
    expect(reset[0]! - now).toBeLessThanOrEqual(61);
    expect(reset[0]! - now).toBeGreaterThan(-1);
    // Another user is unaffected.
    expect(shown(await relay.call('me', { user: 'calm' }))).toEqual({ limit: 100, remaining: 99 });
  });

  it('W9: nine tabs that reload at once with six requests each all get answers', async () => {
    const paths = ['/api/me', '/api/sessions', '/api/devices', '/api/inbox', '/api/watched-sessions', '/api/tasks/x'];
    const answers = await times(9 * paths.length, (n) => relay.call('GET', paths[n % paths.length]!, { user: 'tabs' }));
    expect(limitedAmong(answers)).toEqual([]);
  });

  it('W9: Retry-After leads to the reset of the window, when the next request succeeds', async () => {
    const before = Date.now() / 1000;
    const [limited] = limitedAmong(await times(101, () => relay.call('me', { user: 'patient' })));
    const now = Date.now() / 1000;
    const { 'retry-after': after, 'x-ratelimit-reset': reset } = limited!.headers;
    // Both headers have whole seconds. The api counted between the two looks at the clock; the Date of its answer can be
    // older than both, because Node renews it only between turns of the event loop.
    expect(Number(reset)).toBeGreaterThanOrEqual(before + Number(after) - 1);
    expect(Number(reset)).toBeLessThanOrEqual(now + Number(after) + 1);
  });

  it('count per user, with any token and address', async () => {
    const tokens = [relay.token('shared'), relay.token('shared'), relay.token('shared')];
    const answers = await times(101, (n) =>
      from(`192.0.2.${n}`, 'GET', '/api/me', { headers: bearer(tokens[n % 3]!) }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    for (const limited of limitedAmong(answers)) expectLimited(limited, 100);
  });

  it('allow a user 10 new sessions a minute, and show the tighter of the two limits', async () => {
    const { deviceId } = await registerDevice(relay, { user: 'creator' });
    const create = () => relay.call('createSession', { user: 'creator', body: { deviceId, message: 'hello' } });
    const spent = 100 - shown(await relay.call('me', { user: 'creator' })).remaining;
    for (let n = 0; n < 10; n += 1) {
      const answer = await create();
      expect(answer.status).toBe(201);
      expect(shown(answer)).toEqual({ limit: 10, remaining: 9 - n });
    }
    expectLimited(await create(), 10);
    // Refused requests count too, and the other routes still work.
    expect(shown(await relay.call('me', { user: 'creator' }))).toEqual({
      limit: 100,
      remaining: 100 - spent - 12,
    });
  });

  it('show the limit of all requests on POST /api/sessions when that is the tighter one', async () => {
    await times(95, () => relay.call('me', { user: 'nearly' }));
    const create = () => relay.call('createSession', { user: 'nearly', body: { deviceId: 'x', message: 'y' } });
    for (let left = 4; left >= 0; left -= 1) expect(shown(await create())).toEqual({ limit: 100, remaining: left });
    expectLimited(await create(), 100);
  });

  it('count refused requests like all others: bad bodies, missing scopes, unknown ids', async () => {
    const noScope = relay.token('sloppy', { scopes: [] });
    const calls: (() => Promise<Answer>)[] = [
      () => relay.call('POST', '/api/watched-sessions', { user: 'sloppy', raw: '{' }),
      () =>
        relay.call('POST', '/api/watched-sessions', {
          user: 'sloppy',
          raw: '{}',
          headers: { 'Content-Type': 'text/plain' },
        }),
      () => relay.call('POST', '/api/watched-sessions', { user: 'sloppy', raw: ' '.repeat(1024 * 1024 + 1) }),
      () => relay.call('listSessions', { user: null, headers: bearer(noScope) }),
      () => relay.call('listSessions', { query: { limit: 0 }, user: 'sloppy' }),
      () => relay.call('readSession', { params: { id: 'x' }, user: 'sloppy' }),
    ];
    for (const [n, call] of calls.entries()) expect(shown(await call())).toEqual({ limit: 100, remaining: 99 - n });
  });

  it('exempt the probes', async () => {
    for (const path of ['/health', '/ready']) {
      const answers = await times(101, () => from('203.0.113.1', 'GET', path));
      expect(answers.every(({ status, headers }) => status === 200 && !('x-ratelimit-limit' in headers))).toBe(true);
    }
    expect(shown(await from('203.0.113.1', 'GET', '/api/openapi.json'))).toEqual({ limit: 100, remaining: 99 });
  });

  it('count unauthenticated requests by address, as the proxy saw it', async () => {
    const ask = (address: string) =>
      from(address, 'POST', '/api/devices/code', { body: { hostname: 'h', agent_type: 'a' } });
    const answers = await times(101, (n) => ask(`192.0.2.${n}, 203.0.113.2`));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    for (const limited of limitedAmong(answers)) expectLimited(limited, 100);
    expect((await ask('203.0.113.3')).status).toBe(200);
  });

  it('count refused credentials by address, until the api no longer checks them', async () => {
    const guess = () => from('203.0.113.4', 'GET', '/api/me', { headers: bearer('garbage') });
    for (const answer of await times(100, guess)) expectRefusal(answer, 'INVALID_TOKEN');
    expectLimited(await guess(), 100);
    // A valid credential from the same address counts for its user.
    expect((await from('203.0.113.4', 'GET', '/api/me', { headers: bearer(relay.token('good')) })).status).toBe(200);
  });

  describe('of polling for a device', () => {
    const poll = (address: string, body: unknown) => from(address, 'POST', '/api/devices/token', { body });
    const ask = async (address: string) =>
      (await from(address, 'POST', '/api/devices/code', { body: { hostname: 'h', agent_type: 'a' } })).body as {
        device_code: string;
        user_code: string;
      };

    it('do not affect a live code that is polled at its pace', async () => {
      const { device_code } = await ask('203.0.113.10');
      for (let n = 0; n < 105; n += 1) {
        await relay.database.sql.execute`UPDATE device_codes SET polled_at = polled_at - interval '5 seconds'`;
        expect((await poll('203.0.113.10', { device_code })).body.error).toBe('authorization_pending');
      }
    });

    it('count polls that come too fast', async () => {
      const { device_code } = await ask('203.0.113.11');
      const answers = await times(102, () => poll('203.0.113.11', { deviceCode: device_code }));
      expect(answers.filter(({ body }) => body.error === 'authorization_pending')).toHaveLength(101);
      for (const limited of limitedAmong(answers)) expectLimited(limited, 100);
    });

    it.each([
      ['203.0.113.12', 'unknown codes', { body: { device_code: 'garbage' } }],
      ['203.0.113.13', 'requests without a code', { body: {} }],
      ['203.0.113.14', 'bodies of invalid JSON', { raw: '{' }],
    ])('count, for %s, %s', async (address, _what, options) => {
      const answers = await times(101, () => from(address, 'POST', '/api/devices/token', options));
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(100);
      for (const limited of limitedAmong(answers)) expectLimited(limited, 100);
    });
  });
});

describe('the window of a rate limit', () => {
  it('expires, and the count starts again', async () => {
    // Long enough for three calls on a busy machine.
    const relay = await startRelay({ config: { rateLimitPerMinute: 2, rateWindowMs: 6_000 } });
    try {
      const call = () => relay.call('me');
      expect([(await call()).status, (await call()).status]).toEqual([200, 200]);
      let answer = await call();
      expectRefusal(answer, 'RATE_LIMITED');
      await until('the window is over', async () => {
        answer = await call();
        return answer.status !== 429;
      });
      expect(shown(answer)).toEqual({ limit: 2, remaining: 1 });
    } finally {
      await relay.stop();
    }
  });
});
