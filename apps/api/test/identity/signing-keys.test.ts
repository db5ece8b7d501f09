import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Browser, type TestRelay, callWith, pkce, redeem, startRelay } from '@relay/testing';

const minute = 60_000;
const day = 24 * 60 * minute;

let relay: TestRelay;

beforeEach(async () => {
  // Fakes only the time of day: timers and sockets run.
  jest.useFakeTimers({
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
  // Both create a key at the same moment, because they find none.
  relay = await startRelay({ identity: true, apis: 2 });
  await new Browser(relay).signUp('alice@example.com');
});
afterEach(async () => {
  await relay.stop();
  jest.useRealTimers();
});

const later = (ms: number) => jest.setSystemTime(Date.now() + ms);
const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString('utf8')) as { kid: string }).kid;

/** A new token from one of the instances. */
async function tokenFrom(api: number): Promise<string> {
  const browser = new Browser(relay);
  browser.api = api;
  expect((await browser.signIn('alice@example.com')).status).toBe(200);
  const { verifier, challenge } = pkce();
  const code = await browser.code('relay-web', challenge);
  const callback = `${relay.config.publicUrl}/callback`;
  const answer = await redeem(relay, 'relay-web', code, verifier, callback, api);
  return answer.body.access_token as string;
}

async function published(api: number): Promise<string[]> {
  const { body, headers } = await relay.call('GET', '/auth/jwks', { user: null, api });
  expect(headers['cache-control']).toBe('public, max-age=300');
  return (body.keys as { kid: string }[]).map(({ kid }) => kid).sort();
}

async function works(token: string): Promise<boolean> {
  const answers = [await callWith(relay, token, '/api/me', 0), await callWith(relay, token, '/api/me', 1)];
  expect(answers[0]!.status).toBe(answers[1]!.status);
  return answers[0]!.status === 200;
}

describe('the keys that sign access tokens', () => {
  it('work on all instances that start at the same moment', async () => {
    const keys = await published(0);
    expect(keys).toEqual(await published(1));
    for (const api of [0, 1]) {
      const token = await tokenFrom(api);
      expect(keys).toContain(kidOf(token));
      expect(await works(token)).toBe(true);
    }
  });

  it('rotate after thirty days, and the old ones stay published for another day', async () => {
    const old = await published(0);
    later(30 * day - 5 * minute);
    const last = await tokenFrom(0);
    expect(old).toContain(kidOf(last));
    expect(await works(last)).toBe(true);

    later(6 * minute);
    const first = await tokenFrom(1);
    expect(old).not.toContain(kidOf(first));
    expect(await works(first)).toBe(true);
    // The old key's token lives for four more minutes.
    expect(await works(last)).toBe(true);
    expect(kidOf(await tokenFrom(0))).toBe(kidOf(first));
    expect(await published(0)).toEqual([...old, kidOf(first)].sort());

    later(day - 2 * minute);
    expect(await published(1)).toEqual([...old, kidOf(first)].sort());
    later(2 * minute);
    expect(await published(0)).toEqual([kidOf(first)]);
    expect(await published(1)).toEqual([kidOf(first)]);
    expect(await works(await tokenFrom(1))).toBe(true);
  });

  it('verify for ten programs that need a new one at the same moment, however many were created', async () => {
    later(30 * day + minute);
    const tokens = await Promise.all(Array.from({ length: 10 }, (_, index) => tokenFrom(index % 2)));
    for (const token of tokens) {
      expect(await works(token)).toBe(true);
      expect(await published(0)).toContain(kidOf(token));
    }
  });
});
