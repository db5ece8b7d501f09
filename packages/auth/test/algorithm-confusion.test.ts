import { describe, expect, it } from '@jest/globals';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { type IssuerConfig, createJwtVerifier } from '../src/index.ts';
import { audience, startMs, outcome, testClock, testKey, tokenOf } from './issuer.ts';

const testIssuer = 'https://id.example.com';
const rsa = testKey('RS256');
const claims = { iss: testIssuer, aud: audience, sub: 'mallory', exp: startMs / 1000 + 600 };

function verifierFor(config: Partial<IssuerConfig> = {}) {
  return createJwtVerifier({
    issuers: [{ issuer: testIssuer, audience: audience, keys: [rsa.jwk], ...config }],
    clock: testClock(),
  });
}

function forged(header: object, sign: (input: string) => string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${sign(input)}`;
}

describe('verification rejects a forged token', () => {
  it.each(['HS256', 'HS384', 'HS512'])('signed with the public key as a secret (%s)', async (alg) => {
    const secrets = [
      rsa.publicKey.export({ type: 'spki', format: 'pem' }),
      rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }),
      rsa.publicKey.export({ type: 'spki', format: 'der' }),
      JSON.stringify(rsa.jwk),
    ];
    for (const secret of secrets) {
      const hmac = (input: string): string =>
        createHmac(alg.replace('HS', 'sha'), secret).update(input).digest('base64url');
      const token = forged({ alg, typ: 'JWT', kid: rsa.kid }, hmac);
      expect(await outcome(verifierFor().verify(token))).toBe('INVALID_TOKEN');
    }
  });

  it.each(['none', 'None', 'NONE', 'nOnE'])('with a header that declares it unsigned (%s)', async (alg) => {
    for (const signature of ['', 'AA', 'none']) {
      const token = forged({ alg, typ: 'JWT', kid: rsa.kid }, () => signature);
      expect(await outcome(verifierFor().verify(token))).toBe('INVALID_TOKEN');
    }
  });

  it.each([undefined, null, '', 'rs256', ['RS256'], 'EdDSA', 'ES384', 'RS512'])(
    'with the algorithm %j',
    async (alg) => {
      const token = forged({ alg, typ: 'JWT', kid: rsa.kid }, () => 'AAAA');
      expect(await outcome(verifierFor().verify(token))).toBe('INVALID_TOKEN');
    },
  );

  it('that brings its own key', async () => {
    const mine = testKey('RS256');
    const header = { jwk: mine.jwk, jku: 'https://evil.example.com/keys', x5u: 'https://evil.example.com/x' };
    for (const kid of [rsa.kid, mine.kid, undefined]) {
      const token = tokenOf(mine, testIssuer, {}, { ...header, kid });
      expect(await outcome(verifierFor().verify(token))).toBe('INVALID_TOKEN');
    }
  });
});

describe('the algorithm', () => {
  it('must fit the key', async () => {
    const elliptic = testKey('ES256', rsa.kid);
    expect(await outcome(verifierFor().verify(tokenOf(elliptic, testIssuer)))).toBe('INVALID_TOKEN');
  });

  it('can be restricted by the issuer', async () => {
    const narrow = verifierFor({ algorithms: ['PS256'] });
    expect(await outcome(narrow.verify(tokenOf(rsa, testIssuer)))).toBe('INVALID_TOKEN');
    expect(await outcome(narrow.verify(tokenOf({ ...rsa, algorithm: 'PS256' }, testIssuer)))).toBe('accepted');
  });

  it('is the one the key set names', async () => {
    const verifier = verifierFor({ keys: [{ ...rsa.jwk, alg: 'PS256' }] });
    expect(await outcome(verifier.verify(tokenOf(rsa, testIssuer)))).toBe('INVALID_TOKEN');
  });
});

describe('a key of the set is left out', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const weak = { ...publicKey.export({ format: 'jwk' }), kid: 'weak' };
  const signedWeakly = jwt.sign({ ...claims, iat: 1 }, privateKey, {
    algorithm: 'RS256',
    keyid: 'weak',
    allowInsecureKeySizes: true,
  });

  it('when it is too short', async () => {
    expect(await outcome(verifierFor({ keys: [weak] }).verify(signedWeakly))).toBe('INVALID_TOKEN');
  });

  it.each([
    ['it is for encryption', { use: 'enc' }],
    ['it may not verify', { key_ops: ['sign'] }],
    ['it is a shared secret', { kty: 'oct', k: 'AAAA' }],
    ['it is broken', { n: 'AA', e: '' }],
  ])('when %s', async (_, change) => {
    const verifier = verifierFor({ keys: [{ ...rsa.jwk, ...change }] });
    expect(await outcome(verifier.verify(tokenOf(rsa, testIssuer)))).toBe('INVALID_TOKEN');
  });

  it('and the others still work', async () => {
    const keys = [null as never, 7 as never, { kty: 'odd' }, weak, { ...rsa.jwk, use: 'enc' }, rsa.jwk];
    expect(await outcome(verifierFor({ keys }).verify(tokenOf(rsa, testIssuer)))).toBe('accepted');
  });
});

describe('a token without a key name', () => {
  it('passes when only one key can match', async () => {
    const keys = [rsa.jwk, testKey('ES256').jwk];
    const token = tokenOf(rsa, testIssuer, {}, { kid: undefined });
    expect(await outcome(verifierFor({ keys }).verify(token))).toBe('accepted');
  });

  it('fails when several can match', async () => {
    const keys = [rsa.jwk, testKey('RS256').jwk];
    const token = tokenOf(rsa, testIssuer, {}, { kid: undefined });
    expect(await outcome(verifierFor({ keys }).verify(token))).toBe('INVALID_TOKEN');
  });
});
