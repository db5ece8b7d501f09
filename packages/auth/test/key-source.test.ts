import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { type JwtVerifier, createJwtVerifier } from '../src/index.ts';
import {
  type TestServer,
  type TestKey,
  type TestClock,
  testServer,
  testKey,
  audience,
  tokenOf,
  refusal,
  testClock,
  outcome,
  startMs,
} from './issuer.ts';

let server: TestServer;
let clock: TestClock;
let key: TestKey;
let verifier: JwtVerifier;

const fetches = (path = '/keys'): number => server.asked.get(path) ?? 0;
const publish = (...keys: TestKey[]): void => void server.answers.set('/keys', { keys: keys.map(({ jwk }) => jwk) });
/** Valid for a day, so that only keys are at stake; each one different, so that no cache answers. */
const token = (signer: TestKey = key, header = {}): string =>
  tokenOf(signer, server.origin, { exp: startMs / 1000 + 86_400, jti: randomUUID() }, header);

beforeEach(async () => {
  server = await testServer();
  clock = testClock();
  key = testKey();
  publish(key);
  const issuers = [{ issuer: server.origin, audience: audience, jwksUri: `${server.origin}/keys` }];
  verifier = createJwtVerifier({ issuers, clock });
});

afterEach(() => server.stop());

describe('keys are fetched', () => {
  it('with the first token and not before', async () => {
    expect(fetches()).toBe(0);
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
    expect(fetches()).toBe(1);
  });

  it('once for a hundred tokens at the same time', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(verifier.verify(token()))));
    expect(new Set(outcomes)).toEqual(new Set(['accepted']));
    expect(fetches()).toBe(1);
  });

  it('again when a token names an unknown key, half a minute after the last time', async () => {
    await verifier.verify(token());
    const next = testKey();
    publish(key, next);
    clock.advance(30_000);
    expect(await outcome(verifier.verify(token(next)))).toBe('accepted');
    expect(await outcome(verifier.verify(token(key)))).toBe('accepted');
    expect(fetches()).toBe(2);
  });

  it('not sooner than half a minute after the last time', async () => {
    await verifier.verify(token());
    const next = testKey();
    publish(key, next);
    clock.advance(29_999);
    expect(await outcome(verifier.verify(token(next)))).toBe('INVALID_TOKEN');
    expect(fetches()).toBe(1);
    clock.advance(1);
    expect(await outcome(verifier.verify(token(next)))).toBe('accepted');
  });

  it('once for five hundred random key names', async () => {
    await verifier.verify(token());
    clock.advance(30_000);
    const flood = Array.from({ length: 500 }, () => outcome(verifier.verify(token(key, { kid: randomUUID() }))));
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['INVALID_TOKEN']));
    expect(fetches()).toBe(2);
    for (let i = 0; i < 50; i += 1) await outcome(verifier.verify(token(key, { kid: randomUUID() })));
    expect(fetches()).toBe(2);
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
  });

  it('once for five hundred random key names before any good one', async () => {
    const flood = Array.from({ length: 500 }, () => outcome(verifier.verify(token(key, { kid: randomUUID() }))));
    await Promise.all(flood);
    expect(fetches()).toBe(1);
  });

  it('in the background when they are ten minutes old, so that a withdrawn key stops working', async () => {
    await verifier.verify(token());
    const next = testKey();
    const asked = new Promise<void>((done) => {
      const answer: RequestListener = (_, response) => {
        response.end(JSON.stringify({ keys: [next.jwk] }));
        done();
      };
      server.answers.set('/keys', answer);
    });
    clock.advance(10 * 60_000 + 1);
    expect(await outcome(verifier.verify(token(key)))).toBe('accepted');
    await asked;
    // The answer is on its way; a token of the new key waits for it.
    expect(await outcome(verifier.verify(token(next)))).toBe('accepted');
    expect(fetches()).toBe(2);
    expect(await outcome(verifier.verify(token(key)))).toBe('INVALID_TOKEN');
  });

  it('before the answer after an hour without use', async () => {
    await verifier.verify(token());
    publish(testKey());
    clock.advance(60 * 60_000 + 1);
    expect(await outcome(verifier.verify(token(key)))).toBe('INVALID_TOKEN');
  });
});

describe('an issuer that is away', () => {
  it('leaves a token undecided until it knows a key, and gives a retry time', async () => {
    await server.stop();
    const error = await refusal(verifier.verify(token()));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 });
    expect(error.message).toBe('The keys of the sign-in service cannot be fetched. Try again shortly.');
    await server.startAgain();
    clock.advance(1_000);
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
  });

  it('gets requests less and less often', async () => {
    server.answers.set('/keys', ((_, response) => void response.writeHead(500).end()) satisfies RequestListener);
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 8; i += 1) {
      const { retryAfterSeconds = 0 } = await refusal(verifier.verify(token()));
      await refusal(verifier.verify(token()));
      waits.push(retryAfterSeconds);
      clock.advance(retryAfterSeconds * 1000);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    expect(fetches()).toBe(8);
  });

  it('does not stop known keys, for days', async () => {
    await verifier.verify(token());
    await server.stop();
    for (const hours of [0.2, 2, 10]) {
      clock.advance(hours * 3_600_000);
      expect(await outcome(verifier.verify(token()))).toBe('accepted');
    }
    await server.startAgain();
  });

  it('makes no caller wait for it again after it has failed', async () => {
    const issuers = [{ issuer: server.origin, audience: audience, jwksUri: `${server.origin}/keys` }];
    const patient = createJwtVerifier({ issuers, clock, fetchTimeoutMs: 600_000 });
    await patient.verify(token());
    clock.advance(2 * 3_600_000);
    server.answers.set('/keys', ((_, response) => void response.writeHead(500).end()) satisfies RequestListener);
    expect(await outcome(patient.verify(token()))).toBe('accepted');
    const hanging = new Promise<void>((done) => server.answers.set('/keys', () => done()));
    clock.advance(30_000);
    expect(await outcome(patient.verify(token()))).toBe('accepted');
    await hanging;
    expect(fetches()).toBe(3);
  });

  it('leaves a token with an unknown key undecided: the key can be new', async () => {
    await verifier.verify(token());
    await server.stop();
    clock.advance(60_000);
    expect(await outcome(verifier.verify(token(testKey())))).toBe('SERVICE_UNAVAILABLE');
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
    await server.startAgain();
  });
});

describe('an issuer that misbehaves leaves a token undecided', () => {
  const answers: Record<string, unknown> = {
    'it sends no JSON': '<html>',
    'it sends a list': '[]',
    'it sends no keys': { keys: [] },
    'it sends only keys that cannot be used': { keys: [{ kty: 'oct' }] },
    'it redirects in a circle': ((_, response) =>
      void response.writeHead(302, { location: '/keys' }).end()) satisfies RequestListener,
    'it hangs up': ((request) => void request.socket.destroy()) satisfies RequestListener,
  };

  it.each(Object.keys(answers))('%s', async (name) => {
    server.answers.set('/keys', answers[name]);
    expect(await outcome(verifier.verify(token()))).toBe('SERVICE_UNAVAILABLE');
  });

  it.each<readonly [string, RequestListener]>([
    ['it never answers', () => undefined],
    ['it never finishes', (_, response) => void response.writeHead(200).write('{"keys":')],
  ])('%s', async (_, answer) => {
    server.answers.set('/keys', answer);
    const issuers = [{ issuer: server.origin, audience: audience, jwksUri: `${server.origin}/keys` }];
    const impatient = createJwtVerifier({ issuers, clock, fetchTimeoutMs: 50 });
    expect(await outcome(impatient.verify(token()))).toBe('SERVICE_UNAVAILABLE');
  });

  it('it exceeds the size limit', async () => {
    const document = { keys: [key.jwk], pad: 'x'.repeat(256 * 1024) };
    server.answers.set('/keys', document);
    expect(await outcome(verifier.verify(token()))).toBe('SERVICE_UNAVAILABLE');
    clock.advance(1_000);
    server.answers.set('/keys', { ...document, pad: 'x'.repeat(255 * 1024) });
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
  });

  it('it redirects to another origin', async () => {
    const other = await testServer();
    other.answers.set('/keys', { keys: [key.jwk] });
    server.answers.set(
      '/keys',
      ((_, response) =>
        void response.writeHead(302, { location: `${other.origin}/keys` }).end()) satisfies RequestListener,
    );
    expect(await outcome(verifier.verify(token()))).toBe('SERVICE_UNAVAILABLE');
    expect(other.asked.size).toBe(0);
    await other.stop();
  });

  it('but a redirect within its own origin works', async () => {
    server.answers.set('/moved', { keys: [key.jwk] });
    server.answers.set(
      '/keys',
      ((_, response) => void response.writeHead(307, { location: '/moved' }).end()) satisfies RequestListener,
    );
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
  });
});

describe('the key set is discovered', () => {
  const discovering = (issuer = server.origin): JwtVerifier =>
    createJwtVerifier({ issuers: [{ issuer, audience: audience }], clock });

  it('by OpenID Connect discovery', async () => {
    const document = { issuer: server.origin, jwks_uri: `${server.origin}/keys` };
    server.answers.set('/.well-known/openid-configuration', document);
    expect(await outcome(discovering().verify(token()))).toBe('accepted');
    expect(fetches('/.well-known/oauth-authorization-server')).toBe(0);
  });

  it('by RFC 8414 when it is missing, before the path of the issuer', async () => {
    const issuer = `${server.origin}/realms/one/`;
    const document = { issuer, jwks_uri: `${server.origin}/keys` };
    server.answers.set('/.well-known/oauth-authorization-server/realms/one', document);
    expect(await outcome(discovering(issuer).verify(tokenOf(key, issuer)))).toBe('accepted');
    expect(fetches('/realms/one/.well-known/openid-configuration')).toBe(1);
  });

  it.each([
    ['describes another issuer', (origin: string) => ({ issuer: 'https://x', jwks_uri: `${origin}/keys` })],
    ['names no key set', (origin: string) => ({ issuer: origin })],
    ['names no address', (origin: string) => ({ issuer: origin, jwks_uri: 'keys' })],
  ])('but not from a document that %s', async (_, document) => {
    server.answers.set('/.well-known/openid-configuration', document(server.origin));
    expect(await outcome(discovering().verify(token()))).toBe('SERVICE_UNAVAILABLE');
    expect(fetches()).toBe(0);
  });

  it('but never from keys over plain http of another machine', async () => {
    const document = { issuer: server.origin, jwks_uri: 'http://id.example.com/keys' };
    server.answers.set('/.well-known/openid-configuration', document);
    const addresses: string[] = [];
    const recording: typeof fetch = (input, init) => {
      addresses.push(input instanceof Request ? input.url : input.toString());
      return fetch(input, init);
    };
    const issuers = [{ issuer: server.origin, audience: audience }];
    const recorded = createJwtVerifier({ issuers, clock, fetch: recording });
    expect(await outcome(recorded.verify(token()))).toBe('SERVICE_UNAVAILABLE');
    expect(addresses).toEqual([`${server.origin}/.well-known/openid-configuration`]);
  });
});

describe('keys of the same process', () => {
  function ask() {
    let asked = 0;
    let answer: () => Promise<TestKey['jwk'][]> = () => Promise.resolve([key.jwk]);
    const keys = () => {
      asked += 1;
      return answer();
    };
    const verify = createJwtVerifier({ issuers: [{ issuer: server.origin, audience: audience, keys }], clock });
    return { verify, asked: () => asked, now: (next: typeof answer) => (answer = next) };
  }

  it('load with the first token, and a new one is known after a second', async () => {
    const local = ask();
    expect(local.asked()).toBe(0);
    expect(await outcome(local.verify.verify(token()))).toBe('accepted');
    const next = testKey();
    local.now(() => Promise.resolve([key.jwk, next.jwk]));
    clock.advance(1_000);
    expect(await outcome(local.verify.verify(token(next)))).toBe('accepted');
    expect(local.asked()).toBe(2);
  });

  it('that cannot be had make a token unverifiable, not invalid', async () => {
    const local = ask();
    local.now(() => Promise.reject(new Error('the database is away')));
    expect(await outcome(local.verify.verify(token()))).toBe('SERVICE_UNAVAILABLE');
    local.now(() => Promise.resolve([key.jwk]));
    clock.advance(1_000);
    expect(await outcome(local.verify.verify(token()))).toBe('accepted');
  });
});
