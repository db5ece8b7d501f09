import { describe, expect, it } from '@jest/globals';
import { configurationMarkdown, readConfig } from '../src/index.ts';
import { messagesOf } from './problems.ts';

const secret = 'gho_never-to-be-shown';
const github = { provider: 'github', clientId: 'relay', clientSecret: secret };
const oidc = { provider: 'oidc', id: 'corp', issuer: 'https://id.example.com', clientId: 'relay' };
const env = (entries: unknown): NodeJS.ProcessEnv => ({
  AUTH_UPSTREAM: typeof entries === 'string' ? entries : JSON.stringify(entries),
});

describe('AUTH_UPSTREAM', () => {
  it('is empty by default', () => {
    expect(readConfig('standalone', {}).authUpstream).toEqual([]);
  });

  it('accepts GitHub, Google and any OpenID provider, with their required fields', () => {
    const entries = [
      github,
      { provider: 'google', clientId: 'g', clientSecret: secret },
      { ...oidc, name: 'Example Corp', clientSecret: secret },
      { ...github, id: 'work', name: 'GitHub at work', address: 'https://git.example.com/' },
    ];
    expect(readConfig('standalone', env(entries)).authUpstream).toEqual([
      {
        kind: 'github',
        id: 'github',
        name: 'GitHub',
        clientId: 'relay',
        clientSecret: secret,
        address: 'https://github.com',
      },
      {
        kind: 'oidc',
        id: 'google',
        name: 'Google',
        clientId: 'g',
        clientSecret: secret,
        issuer: 'https://accounts.google.com',
      },
      {
        kind: 'oidc',
        id: 'corp',
        name: 'Example Corp',
        clientId: 'relay',
        clientSecret: secret,
        issuer: 'https://id.example.com',
      },
      {
        kind: 'github',
        id: 'work',
        name: 'GitHub at work',
        clientId: 'relay',
        clientSecret: secret,
        address: 'https://git.example.com',
      },
    ]);
  });

  it('can omit the secret of an OpenID provider: PKCE proves a public client', () => {
    expect(readConfig('standalone', env([oidc])).authUpstream[0]).toMatchObject({ id: 'corp', name: 'corp' });
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['no JSON', `[{"clientSecret":"${secret}"`, /not JSON/],
    ['no list', github, /not a list/],
    ['no object', [secret], /entry 1: it must be an object/],
    ['an unknown provider', [github, { ...github, provider: secret }], /entry 2: "provider" must be github, google/],
    ['a misspelt field', [{ ...github, [secret]: 1 }], /entry 1: it has a field that is not known/],
    ['a missing secret', [{ ...github, clientSecret: undefined }], /"clientSecret" must be a text/],
    ['an empty secret', [{ ...oidc, clientSecret: '' }], /"clientSecret" must be a text/],
    ['a missing client', [{ ...github, clientId: undefined }], /"clientId" must be a text/],
    ['an OpenID provider without an id', [{ ...oidc, id: undefined }], /"id" is missing/],
    ['an id that is no word', [{ ...oidc, id: '../x' }], /"id" must be/],
    ['the id under which passwords are kept', [{ ...oidc, id: 'credential' }], /"id" must be/],
    ['an issuer over plain http', [{ ...oidc, issuer: 'http://id.example.com' }], /"issuer" must be an https/],
    ['an OpenID provider without an issuer', [{ ...oidc, issuer: undefined }], /"issuer" must be an https/],
    ['an issuer of GitHub', [{ ...github, issuer: 'https://x.example.com' }], /"issuer" is for the provider oidc/],
    ['an address with a password', [{ ...github, address: `https://a:${secret}@x.example.com` }], /"address" must be/],
    ['an address of something else', [{ ...oidc, address: 'https://x.example.com' }], /"address" must be/],
    ['one id twice', [github, github], /the id github appears twice/],
    ['too many', Array.from({ length: 21 }, (_, i) => ({ ...oidc, id: `n${i}` })), /more than 20/],
  ])('refuses %s, and repeats no secret', (_, entries, expected) => {
    const messages = messagesOf('standalone', env(entries));
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatch(expected);
    expect(messages[0]).not.toContain(secret);
  });

  it('needs the built-in sign-in', () => {
    const issuers = JSON.stringify([{ issuer: 'https://id.example.com', audience: 'relay' }]);
    const off = { ...env([github]), AUTH_BUILTIN: 'off', AUTH_ISSUERS: issuers };
    expect(messagesOf('standalone', off)).toEqual([expect.stringMatching(/AUTH_UPSTREAM is set, but AUTH_BUILTIN/)]);
  });

  it('is documented', () => {
    expect(configurationMarkdown()).toContain('AUTH_UPSTREAM');
  });
});
