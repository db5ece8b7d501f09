import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type IssuerConfig, createJwtVerifier, userIdOf } from '../src/index.ts';
import { audience, startMs, outcome, refusal, testClock, testKey, tokenOf } from './issuer.ts';

const testIssuer = 'https://id.example.com';
const key = testKey();

function verifierFor(config: Partial<IssuerConfig> = {}, clock = testClock()) {
  return createJwtVerifier({
    issuers: [{ issuer: testIssuer, audience: audience, keys: [key.jwk], ...config }],
    clock,
  });
}

describe('a good token', () => {
  it('identifies the caller', async () => {
    const claims = { scope: 'openid sessions:read', email: 'a@example.com', name: 'Alice', sid: 's-1' };
    expect(await verifierFor().verify(tokenOf(key, testIssuer, claims))).toEqual({
      kind: 'user',
      userId: 'https://id.example.com|alice',
      issuer: testIssuer,
      subject: 'alice',
      scopes: new Set(['sessions:read']),
      email: 'a@example.com',
      name: 'Alice',
      sessionId: 's-1',
      issuedAt: startMs,
      expiresAt: startMs + 600_000,
    });
  });

  it('needs no name, no address, no sign-in id and no time of issue', async () => {
    const principal = await verifierFor().verify(
      tokenOf(key, testIssuer, { iat: undefined, email: 7, name: '', sid: null }),
    );
    expect(Object.keys(principal)).toEqual(['kind', 'userId', 'issuer', 'subject', 'scopes', 'issuedAt', 'expiresAt']);
    expect(principal.issuedAt).toBe(0);
  });

  it.each(['RS256', 'PS256'] as const)('may be signed with %s', async (algorithm) => {
    const rsa = testKey(algorithm);
    expect(await outcome(verifierFor({ keys: [rsa.jwk] }).verify(tokenOf(rsa, testIssuer)))).toBe('accepted');
  });

  it.each([
    ['JWT', 'accepted'],
    ['jwt', 'accepted'],
    ['at+jwt', 'accepted'],
    ['AT+JWT', 'accepted'],
    ['application/at+jwt', 'accepted'],
    ['application/JWT', 'accepted'],
    [undefined, 'accepted'],
    ['dpop+jwt', 'INVALID_TOKEN'],
    ['logout+jwt', 'INVALID_TOKEN'],
    ['', 'INVALID_TOKEN'],
    [null, 'INVALID_TOKEN'],
    [['JWT'], 'INVALID_TOKEN'],
  ])('of type %j is %s', async (typ, expected) => {
    expect(await outcome(verifierFor().verify(tokenOf(key, testIssuer, {}, { typ })))).toBe(expected);
  });

  it('can have several audiences, and the issuer can allow several', async () => {
    expect(await outcome(verifierFor().verify(tokenOf(key, testIssuer, { aud: ['other', audience] })))).toBe(
      'accepted',
    );
    const several = verifierFor({ audience: ['first', audience] });
    expect(await outcome(several.verify(tokenOf(key, testIssuer)))).toBe('accepted');
    expect(await outcome(several.verify(tokenOf(key, testIssuer, { aud: 'first' })))).toBe('accepted');
  });
});

describe('verification rejects a token', () => {
  it.each<readonly [string, Record<string, unknown>]>([
    ['of an issuer that is not known', { iss: 'https://evil.example.com' }],
    ['of an issuer that is nearly known', { iss: `${testIssuer}/` }],
    ['without an issuer', { iss: undefined }],
    ['with a list of issuers', { iss: [testIssuer] }],
    ['for another audience', { aud: 'https://other.example.com' }],
    ['for an audience that begins alike', { aud: `${audience}/more` }],
    ['without an audience', { aud: undefined }],
    ['without an end', { exp: undefined }],
    ['with an end beyond every calendar', { exp: 1e300 }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with a subject that cannot be stored', { sub: 'a\u0000b' }],
    ['with an endless subject', { sub: 'x'.repeat(256) }],
  ])('%s', async (_, claims) => {
    expect(await outcome(verifierFor().verify(tokenOf(key, testIssuer, claims)))).toBe('INVALID_TOKEN');
  });

  it.each([
    '',
    'x',
    'a.b',
    'a.b.c.d',
    'a.b.c',
    `${'e30'}.${'e30'}.`,
    'bnVsbA.bnVsbA.x',
    'W10.W10.x',
    'ü.ü.ü',
    'x'.repeat(20_000),
  ])('that is garbage: %j', async (token) => {
    expect(await outcome(verifierFor().verify(token))).toBe('INVALID_TOKEN');
  });

  it('whose signature belongs to other claims', async () => {
    const [header, , signature] = tokenOf(key, testIssuer).split('.');
    const [, claims] = tokenOf(key, testIssuer, { sub: 'mallory' }).split('.');
    expect(await outcome(verifierFor().verify(`${header}.${claims}.${signature}`))).toBe('INVALID_TOKEN');
  });

  it('that demands an extension', async () => {
    expect(await outcome(verifierFor().verify(tokenOf(key, testIssuer, {}, { crit: ['exp'] })))).toBe('INVALID_TOKEN');
  });

  it('with a key name that is not a string', async () => {
    expect(await outcome(verifierFor().verify(tokenOf(key, testIssuer, {}, { kid: 7 })))).toBe('INVALID_TOKEN');
  });

  it('with helpful messages that reveal nothing', async () => {
    const verifier = verifierFor();
    const messages = await Promise.all(
      [{ aud: 'x' }, { iss: 'x' }, { exp: startMs / 1000 - 60 }, { sub: '' }, { nbf: startMs / 1000 + 60 }].map(
        async (claims) => (await refusal(verifier.verify(tokenOf(key, testIssuer, claims)))).message,
      ),
    );
    expect(messages).toEqual([
      'The token is meant for another audience. Ask for one for this relay.',
      'The token comes from a sign-in service that is not trusted here. Sign in again.',
      'This sign-in has expired. Sign in again.',
      'The token does not say whose it is (sub). Sign in again.',
      'The token is not valid yet. Check the clocks.',
    ]);
  });
});

describe('time', () => {
  const exp = startMs / 1000 + 600;

  it.each([
    ['just before the end', 599_999, 'accepted'],
    ['at the end', 600_000, 'accepted'],
    ['just before five seconds after the end', 604_999, 'accepted'],
    ['five seconds after the end', 605_000, 'TOKEN_EXPIRED'],
    ['long after', 6_000_000, 'TOKEN_EXPIRED'],
  ])('%s', async (_, later, expected) => {
    const clock = testClock();
    clock.advance(later);
    expect(await outcome(verifierFor({}, clock).verify(tokenOf(key, testIssuer, { exp })))).toBe(expected);
  });

  it.each([
    [5, 'accepted'],
    [6, 'INVALID_TOKEN'],
  ])('a token that begins in %i seconds is %s', async (seconds, expected) => {
    const token = tokenOf(key, testIssuer, { nbf: startMs / 1000 + seconds });
    expect(await outcome(verifierFor().verify(token))).toBe(expected);
  });

  it('an expired token with a wrong signature is invalid, not expired', async () => {
    const token = tokenOf({ ...testKey(), kid: key.kid }, testIssuer, { exp: startMs / 1000 - 60 });
    expect(await outcome(verifierFor().verify(token))).toBe('INVALID_TOKEN');
  });
});

describe('several issuers', () => {
  it('are kept apart: the key of one does not sign for the other', async () => {
    const other = testKey();
    const verifier = createJwtVerifier({
      issuers: [
        { issuer: testIssuer, audience: audience, keys: [key.jwk] },
        { issuer: 'https://two.example.com', audience: audience, keys: [other.jwk] },
      ],
      clock: testClock(),
    });
    const one = await verifier.verify(tokenOf(key, testIssuer));
    const two = await verifier.verify(tokenOf(other, 'https://two.example.com'));
    expect(one.userId).not.toBe(two.userId);
    expect(await outcome(verifier.verify(tokenOf(other, testIssuer)))).toBe('INVALID_TOKEN');
    expect(await outcome(verifier.verify(tokenOf(other, testIssuer, {}, { kid: key.kid })))).toBe('INVALID_TOKEN');
  });

  it('know a person of this relay by the account alone, and no other person can have such an id', async () => {
    const own = testKey();
    const issuers = (relay: string): IssuerConfig[] => [
      { issuer: testIssuer, audience: audience, keys: [key.jwk] },
      { issuer: relay, audience: audience, keys: [own.jwk], ownAccounts: true },
    ];
    const ids: string[] = [];
    for (const relay of ['https://old.example.com', 'https://new.example.com']) {
      const verifier = createJwtVerifier({ issuers: issuers(relay), clock: testClock() });
      ids.push((await verifier.verify(tokenOf(own, relay, { sub: 'A1' }))).userId);
      ids.push((await verifier.verify(tokenOf(key, testIssuer, { sub: 'A1' }))).userId);
      const disguised = tokenOf(own, relay, { sub: `${testIssuer}|A1` });
      expect(await outcome(verifier.verify(disguised))).toBe('INVALID_TOKEN');
    }
    expect(ids).toEqual(['A1', `${testIssuer}|A1`, 'A1', `${testIssuer}|A1`]);
    const two = [...issuers('https://a.example.com'), ...issuers('https://b.example.com').slice(1)];
    expect(() => createJwtVerifier({ issuers: two })).toThrow(TypeError);
  });

  it('never give two people one account, for any subject', () => {
    const names = fc.string().filter((name) => !name.includes('|'));
    fc.assert(
      fc.property(names, fc.string(), (issuer, subject) => {
        const id = userIdOf(issuer, subject);
        const bar = id.indexOf('|');
        expect([id.slice(0, bar), id.slice(bar + 1)]).toEqual([issuer, subject]);
      }),
    );
    expect(() => verifierFor({ issuer: 'https://a|b' })).toThrow(TypeError);
  });

  it.each<readonly [string, Partial<IssuerConfig>]>([
    ['without a name', { issuer: '' }],
    ['without an audience', { audience: [] }],
    ['with an empty audience', { audience: ['a', ''] }],
    ['with a symmetric algorithm', { algorithms: ['HS256' as 'ES256'] }],
    ['without any algorithm', { algorithms: [] }],
  ])('one %s is a mistake in the configuration', (_, config) => {
    expect(() => verifierFor(config)).toThrow(TypeError);
  });

  it('whose keys would travel over plain http, or that appear twice, are a mistake too', () => {
    const make =
      (...issuers: IssuerConfig[]) =>
      () =>
        createJwtVerifier({ issuers });
    expect(make({ issuer: 'http://id.example.com', audience: 'a' })).toThrow(TypeError);
    expect(make({ issuer: 'urn:x', audience: 'a' })).toThrow(TypeError);
    expect(make({ issuer: testIssuer, audience: 'a', jwksUri: 'http://id.example.com/keys' })).toThrow(TypeError);
    expect(make({ issuer: testIssuer, audience: 'a' }, { issuer: testIssuer, audience: 'b' })).toThrow(/twice/);
    expect(make({ issuer: 'http://localhost:1', audience: 'a' })).not.toThrow();
  });
});
