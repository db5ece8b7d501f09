import { describe, expect, it } from '@jest/globals';
import { createJwtVerifier } from '../src/index.ts';
import { audience, startMs, outcome, testClock, testKey, tokenOf } from './issuer.ts';

const testIssuer = 'https://id.example.com';
const other = 'https://two.example.com';
const key = testKey();
const minute = 60_000;

function setUp() {
  const clock = testClock();
  const issuers = [testIssuer, other].map((issuer) => ({ issuer, audience: audience, keys: [key.jwk] }));
  return { clock, verifier: createJwtVerifier({ issuers, clock }) };
}

const token = (claims: Record<string, unknown> = {}, issuer = testIssuer): string =>
  tokenOf(key, issuer, { sid: 's-1', exp: startMs / 1000 + 3600, ...claims });

describe('a revocation', () => {
  it('reaches a cached token', async () => {
    const { clock, verifier } = setUp();
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
    clock.advance(1);
    verifier.revoke({ sid: 's-1' });
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
  });

  it('reaches an unseen token', async () => {
    const { verifier } = setUp();
    verifier.revoke({ sid: 's-1' });
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
  });

  it('of a person with one program reaches the tokens of that program only', async () => {
    const { clock, verifier } = setUp();
    clock.advance(1);
    verifier.revoke({ user: `${testIssuer}|alice`, client: 'cli' });
    expect(await outcome(verifier.verify(token({ client_id: 'cli' })))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ azp: 'cli' })))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ client_id: 'web' })))).toBe('accepted');
    expect(await outcome(verifier.verify(token({ sub: 'bob', client_id: 'cli' })))).toBe('accepted');
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
  });

  it('reaches a principal that is still in use', async () => {
    const { clock, verifier } = setUp();
    const principal = await verifier.verify(token());
    expect(verifier.isRevoked(principal)).toBe(false);
    clock.advance(1);
    verifier.revoke({ user: `${testIssuer}|alice` });
    expect(verifier.isRevoked(principal)).toBe(true);
  });

  it('of a sign-in covers every token of it, later ones too, and no other sign-in', async () => {
    const { clock, verifier } = setUp();
    verifier.revoke({ sid: 's-1' });
    clock.advance(minute);
    expect(await outcome(verifier.verify(token({ iat: startMs / 1000 + 30 })))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ sid: 's-2' })))).toBe('accepted');
    expect(await outcome(verifier.verify(token({ sid: undefined })))).toBe('accepted');
  });

  it('of a person covers tokens issued before, and not those issued afterwards', async () => {
    const { clock, verifier } = setUp();
    clock.advance(500);
    verifier.revoke({ user: `${testIssuer}|alice` });
    clock.advance(minute);
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ sid: 's-2' })))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ iat: undefined })))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ iat: startMs / 1000 + 1 })))).toBe('accepted');
    expect(await outcome(verifier.verify(token({ sub: 'bob' })))).toBe('accepted');
  });

  it('covers tokens issued before a given time', async () => {
    const { verifier } = setUp();
    verifier.revoke({ sid: 's-1', before: startMs });
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
    verifier.revoke({ sid: 's-1', before: startMs + 1 });
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
  });

  it('of a person leaves a namesake of another issuer alone', async () => {
    const { clock, verifier } = setUp();
    clock.advance(1);
    verifier.revoke({ user: `${other}|alice` });
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
    expect(await outcome(verifier.verify(token({}, other)))).toBe('TOKEN_REVOKED');
  });

  it('outlives every token of ten minutes, tolerance included, and is forgotten then', async () => {
    const { clock, verifier } = setUp();
    const short = token({ exp: startMs / 1000 + 600 });
    verifier.revoke({ sid: 's-1' });
    clock.advance(10 * minute + 4_999);
    expect(await outcome(verifier.verify(short))).toBe('TOKEN_REVOKED');
    clock.advance(1);
    expect(await outcome(verifier.verify(short))).toBe('TOKEN_EXPIRED');
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
    clock.advance(minute);
    expect(await outcome(verifier.verify(token()))).toBe('accepted');
  });

  it('is renewed by another one and never made smaller', async () => {
    const { clock, verifier } = setUp();
    verifier.revoke({ sid: 's-1' });
    clock.advance(9 * minute);
    verifier.revoke({ sid: 's-1', before: 1 });
    clock.advance(9 * minute);
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
  });

  it('takes bounded memory: drops the oldest first', async () => {
    const { verifier } = setUp();
    verifier.revoke({ sid: 'oldest' });
    verifier.revoke({ sid: 's-1' });
    for (let i = 0; i < 99_999; i += 1) verifier.revoke({ sid: `other-${i}` });
    expect(await outcome(verifier.verify(token()))).toBe('TOKEN_REVOKED');
    expect(await outcome(verifier.verify(token({ sid: 'oldest' })))).toBe('accepted');
  });
});
