/** The claims of a verified ID token decide which account it opens (OpenID Connect Core, 3.1.3.7). */
import { describe, expect, it } from '@jest/globals';
import { openIdProfile } from '../../src/identity/upstream-profiles.ts';

const profileOf = (claims: object) => {
  const idToken = `x.${Buffer.from(JSON.stringify({ sub: 'alice', ...claims })).toString('base64url')}.y`;
  return openIdProfile({ idToken }, { sub: 'alice', name: 'Alice' }, 'relay');
};

describe('an ID token', () => {
  it.each([
    ['of this client alone', { aud: 'relay' }],
    ['of this client, in a list', { aud: ['relay'] }],
    ['of this client, which it names', { aud: 'relay', azp: 'relay' }],
    ['of several audiences, issued to this client', { aud: ['relay', 'api'], azp: 'relay' }],
  ])('S14: %s is accepted', (_name, claims) => {
    expect(profileOf(claims)).toMatchObject({ subject: 'alice' });
  });

  it.each([
    ['of two audiences, issued to another client', { aud: ['relay', 'evil'], azp: 'evil' }],
    ['of two audiences that names no client', { aud: ['relay', 'evil'] }],
    ['of this client, issued to another one', { aud: 'relay', azp: 'evil' }],
    ['of this client in a list, issued to another one', { aud: ['relay'], azp: 'evil' }],
    ['issued to a list', { aud: ['relay', 'evil'], azp: ['relay'] }],
    ['issued to null', { aud: ['relay', 'evil'], azp: null }],
    ['of one audience, repeated', { aud: ['relay', 'relay'] }],
    ['of another audience', { aud: 'evil', azp: 'relay' }],
    ['without an audience', { azp: 'relay' }],
    ['with an audience that contains the name', { aud: 'relay-evil' }],
  ])('S14: %s is refused', (_name, claims) => {
    expect(profileOf(claims)).toBeNull();
  });
});

it('S12: a deceptive name is left out', () => {
  const claims = { aud: 'relay', sub: 'alice', name: 'a\u202eb' };
  const idToken = `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
  const said = { sub: 'alice', name: '\u3164', preferred_username: 'alice' };
  expect(openIdProfile({ idToken }, said, 'relay')?.user.name).toBe('alice');
});
