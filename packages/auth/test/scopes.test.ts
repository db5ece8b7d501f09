import { describe, expect, it } from '@jest/globals';
import { type IssuerConfig, createJwtVerifier } from '../src/index.ts';
import { audience, testClock, testKey, tokenOf } from './issuer.ts';

const testIssuer = 'https://id.example.com';
const key = testKey();

async function scopes(claims: Record<string, unknown>, config: Partial<IssuerConfig> = {}): Promise<string[]> {
  const issuers = [{ issuer: testIssuer, audience: audience, keys: [key.jwk], ...config }];
  const principal = await createJwtVerifier({ issuers, clock: testClock() }).verify(tokenOf(key, testIssuer, claims));
  return [...principal.scopes].sort();
}

describe('scopes', () => {
  it.each<readonly [string, Record<string, unknown>]>([
    ['scope, separated by spaces', { scope: 'openid  sessions:read devices:write' }],
    ['scp, as a text', { scp: 'sessions:read devices:write' }],
    ['scp, as a list', { scp: ['sessions:read', 'devices:write', 7] }],
    ['permissions', { scope: 'openid', permissions: ['devices:write', 'sessions:read'] }],
    ['all of them together', { scope: 'sessions:read', scp: 'x', permissions: ['devices:write'] }],
  ])('come from %s', async (_, claims) => {
    expect(await scopes(claims)).toEqual(['devices:write', 'sessions:read']);
  });

  it('are empty when the token has none', async () => {
    expect(await scopes({})).toEqual([]);
    expect(await scopes({ scope: 'openid SESSIONS:READ sessions:* admin' })).toEqual([]);
    expect(await scopes({ scope: 7, scp: { 'sessions:read': true }, permissions: null })).toEqual([]);
  });

  it('come from the claim that the issuer names, and from no other', async () => {
    const config = { scopeClaim: 'rights' };
    expect(await scopes({ rights: ['devices:read'], scope: 'sessions:read' }, config)).toEqual(['devices:read']);
  });

  it('come from a nested claim, and a name with dots wins over a path', async () => {
    const nested = { realm_access: { roles: ['sessions:read'] } };
    expect(await scopes(nested, { scopeClaim: 'realm_access.roles' })).toEqual(['sessions:read']);
    const named = { 'https://a.example.com/roles': 'devices:read' };
    expect(await scopes(named, { scopeClaim: 'https://a.example.com/roles' })).toEqual(['devices:read']);
    expect(await scopes(nested, { scopeClaim: 'realm_access.roles.length' })).toEqual([]);
    expect(await scopes({}, { scopeClaim: 'constructor.name' })).toEqual([]);
  });

  it('come from roles that the issuer maps', async () => {
    const roleMap: IssuerConfig['roleMap'] = { admin: ['devices:read', 'devices:write'], user: ['sessions:read'] };
    expect(await scopes({ scope: 'admin user other' }, { roleMap })).toEqual([
      'devices:read',
      'devices:write',
      'sessions:read',
    ]);
    expect(await scopes({ scope: 'constructor __proto__ toString' }, { roleMap })).toEqual([]);
  });

  it("are the issuer's default if it recognises no scope", async () => {
    const config: Partial<IssuerConfig> = { defaultScopes: ['sessions:read'], roleMap: { blocked: [] } };
    expect(await scopes({}, config)).toEqual(['sessions:read']);
    expect(await scopes({ scope: 'openid profile' }, config)).toEqual(['sessions:read']);
    expect(await scopes({ scope: 'openid devices:read' }, config)).toEqual(['devices:read']);
    expect(await scopes({ scope: 'openid blocked' }, config)).toEqual([]);
  });
});
