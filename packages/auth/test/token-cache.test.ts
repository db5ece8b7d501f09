import { describe, expect, it } from '@jest/globals';
import { createJwtVerifier } from '../src/index.ts';
import { audience, startMs, outcome, testClock, testKey, testServer, tokenOf } from './issuer.ts';

const testIssuer = 'https://id.example.com';
const key = testKey();

function setUp(cache: { maxEntries?: number; maxAgeMs?: number } = {}) {
  const clock = testClock();
  const issuers = [{ issuer: testIssuer, audience: audience, keys: [key.jwk] }];
  return { clock, verifier: createJwtVerifier({ issuers, clock, cache }) };
}

describe('a verified token', () => {
  it('stays in the cache for a minute', async () => {
    const { clock, verifier } = setUp();
    const token = tokenOf(key, testIssuer);
    const first = await verifier.verify(token);
    clock.advance(59_999);
    expect(await verifier.verify(token)).toBe(first);
    clock.advance(1);
    const again = await verifier.verify(token);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });

  it('never stays in the cache past its expiry', async () => {
    const { clock, verifier } = setUp();
    const token = tokenOf(key, testIssuer, { exp: startMs / 1000 + 10 });
    const first = await verifier.verify(token);
    clock.advance(10_000);
    expect(await verifier.verify(token)).not.toBe(first);
    clock.advance(5_000);
    expect(await outcome(verifier.verify(token))).toBe('TOKEN_EXPIRED');
  });

  it('leaves the cache after too many newer ones', async () => {
    const { verifier } = setUp({ maxEntries: 2 });
    const [a, b, c] = ['a', 'b', 'c'].map((sub) => tokenOf(key, testIssuer, { sub })) as [string, string, string];
    const first = await verifier.verify(a);
    await verifier.verify(b);
    expect(await verifier.verify(a)).toBe(first);
    await verifier.verify(b);
    await verifier.verify(c);
    expect(await verifier.verify(a)).not.toBe(first);
  });

  it('answers for itself alone: another signature needs a new verification', async () => {
    const { verifier } = setUp();
    const token = tokenOf(key, testIssuer);
    await verifier.verify(token);
    const last = token.slice(-20, -19) === 'A' ? 'B' : 'A';
    expect(await outcome(verifier.verify(token.slice(0, -20) + last + token.slice(-19)))).toBe('INVALID_TOKEN');
  });

  it('needs its issuer no more', async () => {
    const server = await testServer();
    server.answers.set('/keys', { keys: [key.jwk] });
    const issuers = [{ issuer: server.origin, audience: audience, jwksUri: `${server.origin}/keys` }];
    const verifier = createJwtVerifier({ issuers, clock: testClock() });
    const token = tokenOf(key, server.origin);
    const first = await verifier.verify(token);
    await server.stop();
    expect(await verifier.verify(token)).toBe(first);
  });
});
