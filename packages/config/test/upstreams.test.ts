import { describe, expect, it } from '@jest/globals';
import { configurationMarkdown, readConfig } from '../src/index.ts';
import { messagesOf } from './problems.ts';

const SECRET = 'gho_never-to-be-shown';
const GITHUB = { provider: 'github', clientId: 'relay', clientSecret: SECRET };
const OIDC = { provider: 'oidc', id: 'corp', issuer: 'https://id.example.com', clientId: 'relay' };
const env = (entries: unknown): NodeJS.ProcessEnv => ({
  AUTH_UPSTREAM: typeof entries === 'string' ? entries : JSON.stringify(entries),
});

describe('AUTH_UPSTREAM', () => {
  it('is none unless it is given', () => {
    expect(readConfig('standalone', {}).authUpstream).toEqual([]);
  });

  it('takes GitHub, Google and any OpenID provider, and knows what they need', () => {
    const entries = [
      GITHUB,
      { provider: 'google', clientId: 'g', clientSecret: SECRET },
      { ...OIDC, name: 'Example Corp', clientSecret: SECRET },
      { ...GITHUB, id: 'work', name: 'GitHub at work', address: 'https://git.example.com/' },
    ];
    expect(readConfig('standalone', env(entries)).authUpstream).toEqual([
      {
        kind: 'github',
        id: 'github',
        name: 'GitHub',
        clientId: 'relay',
        clientSecret: SECRET,
        address: 'https://github.com',
      },
      {
        kind: 'oidc',
        id: 'google',
        name: 'Google',
        clientId: 'g',
        clientSecret: SECRET,
        issuer: 'https://accounts.google.com',
      },
      {
        kind: 'oidc',
        id: 'corp',
        name: 'Example Corp',
        clientId: 'relay',
        clientSecret: SECRET,
        issuer: 'https://id.example.com',
      },
      {
        kind: 'github',
        id: 'work',
        name: 'GitHub at work',
        clientId: 'relay',
        clientSecret: SECRET,
        address: 'https://git.example.com',
      },
    ]);
  });

  it('may leave the secret of an OpenID provider out: PKCE proves a public client', () => {
    expect(readConfig('standalone', env([OIDC])).authUpstream[0]).toMatchObject({ id: 'corp', name: 'corp' });
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['no JSON', `[{"clientSecret":"${SECRET}"`, /not JSON/],
    ['no list', GITHUB, /not a list/],
    ['no object', [SECRET], /entry 1: it must be an object/],
    ['an unknown provider', [GITHUB, { ...GITHUB, provider: SECRET }], /entry 2: "provider" must be github, google/],
    ['a misspelt field', [{ ...GITHUB, [SECRET]: 1 }], /entry 1: it has a field that is not known/],
    ['a missing secret', [{ ...GITHUB, clientSecret: undefined }], /"clientSecret" must be a text/],
    ['an empty secret', [{ ...OIDC, clientSecret: '' }], /"clientSecret" must be a text/],
    ['a missing client', [{ ...GITHUB, clientId: undefined }], /"clientId" must be a text/],
    ['an OpenID provider without an id', [{ ...OIDC, id: undefined }], /"id" is missing/],
    ['an id that is no word', [{ ...OIDC, id: '../x' }], /"id" must be/],
    ['the id under which passwords are kept', [{ ...OIDC, id: 'credential' }], /"id" must be/],
    ['an issuer over plain http', [{ ...OIDC, issuer: 'http://id.example.com' }], /"issuer" must be an https/],
    ['an OpenID provider without an issuer', [{ ...OIDC, issuer: undefined }], /"issuer" must be an https/],
    ['an issuer of GitHub', [{ ...GITHUB, issuer: 'https://x.example.com' }], /"issuer" is for the provider oidc/],
    ['an address with a password', [{ ...GITHUB, address: `https://a:${SECRET}@x.example.com` }], /"address" must be/],
    ['an address of something else', [{ ...OIDC, address: 'https://x.example.com' }], /"address" must be/],
    ['one id twice', [GITHUB, GITHUB], /the id github appears twice/],
    ['too many', Array.from({ length: 21 }, (_, i) => ({ ...OIDC, id: `n${i}` })), /more than 20/],
  ])('refuses %s, and repeats no secret', (_, entries, expected) => {
    const messages = messagesOf('standalone', env(entries));
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatch(expected);
    expect(messages[0]).not.toContain(SECRET);
  });

  it('needs the built-in sign-in', () => {
    const issuers = JSON.stringify([{ issuer: 'https://id.example.com', audience: 'relay' }]);
    const off = { ...env([GITHUB]), AUTH_BUILTIN: 'off', AUTH_ISSUERS: issuers };
    expect(messagesOf('standalone', off)).toEqual([expect.stringMatching(/AUTH_UPSTREAM is set, but AUTH_BUILTIN/)]);
  });

  it('is documented', () => {
    expect(configurationMarkdown()).toContain('AUTH_UPSTREAM');
  });
});
