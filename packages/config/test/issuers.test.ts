import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../src/index.ts';
import { messagesOf } from './problems.ts';

const good = { issuer: 'https://id.example.com', audience: 'https://relay.example.com/api' };
const env = (entries: unknown): NodeJS.ProcessEnv => ({ AUTH_ISSUERS: JSON.stringify(entries) });

describe('AUTH_ISSUERS', () => {
  it('takes the two required fields and every optional one', () => {
    const full = {
      issuer: 'http://localhost:9000/realms/relay',
      audience: ['a', 'b'],
      jwksUri: 'http://127.0.0.1:9000/keys',
      algorithms: ['RS256'],
      scopeClaim: 'realm_access.roles',
      roleMap: { admin: ['sessions:read', 'devices:write'], guest: [] },
      defaultScopes: ['sessions:read'],
    };
    expect(readConfig('standalone', env([good, full])).authIssuers).toEqual([good, full]);
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['a missing issuer', [{ audience: 'a' }], /entry 1 has no "issuer"/],
    ['a missing audience', [good, { issuer: 'https://b.example.com' }], /entry 2 has no "audience"/],
    [
      'an issuer that is not https',
      [{ ...good, issuer: 'http://id.example.com' }],
      /"issuer" of entry 1 must be an https/,
    ],
    ['an issuer with a bar', [{ ...good, issuer: 'https://id.example.com/a|b' }], /"issuer" of entry 1/],
    ['an issuer with a password', [{ ...good, issuer: 'https://a:b@id.example.com' }], /"issuer" of entry 1/],
    ['an empty audience', [{ ...good, audience: '' }], /"audience" of entry 1/],
    ['an audience list that is empty', [{ ...good, audience: [] }], /"audience" of entry 1/],
    ['keys over plain http', [{ ...good, jwksUri: 'http://id.example.com/keys' }], /"jwksUri" of entry 1/],
    ['a symmetric algorithm', [{ ...good, algorithms: ['HS256'] }], /"algorithms" of entry 1 must be a list of ES256/],
    ['no algorithm', [{ ...good, algorithms: [] }], /"algorithms" of entry 1/],
    ['a scope that does not exist', [{ ...good, defaultScopes: ['admin'] }], /"defaultScopes" of entry 1/],
    ['a role with a text', [{ ...good, roleMap: { admin: 'sessions:read' } }], /"roleMap" of entry 1/],
    ['a claim name that is a number', [{ ...good, scopeClaim: 1 }], /"scopeClaim" of entry 1/],
    ['a misspelt field', [{ ...good, jwksUrl: 'https://x' }], /unknown field "jwksUrl" \(known: issuer,/],
    ['the same issuer twice', [good, good], /appears twice/],
    ['too many', Array.from({ length: 51 }, () => good), /more than 50/],
  ])('refuses %s', (_, entries, expected) => {
    const messages = messagesOf('standalone', env(entries));
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatch(expected);
  });
});
