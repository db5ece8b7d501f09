import { describe, expect, it } from '@jest/globals';
import { isFollowable, safePath, signInPath } from '../src/auth/return-to.ts';

const origin = 'https://relay.example';

describe('the page after the sign-in', () => {
  it.each(['/devices', '/device?user_code=BCDF-GHJK', '/sessions/a%3Ab%2Fc'])('is %s', (path) => {
    expect(safePath(path, origin)).toBe(path);
  });

  it.each([
    undefined,
    null,
    '',
    'devices',
    '//evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/sign-in',
    '/sign-in?return_to=/sign-in',
    '/callback?code=x',
  ])('is the start page for %p', (path) => {
    expect(safePath(path, origin)).toBe('/');
  });

  it('survives the way through the address of the sign-in page', () => {
    const path = signInPath('/device?user_code=BCDF-GHJK');
    expect(safePath(new URL(path, origin).searchParams.get('return_to'), origin)).toBe('/device?user_code=BCDF-GHJK');
  });
});

describe('the address of a program', () => {
  it.each(['http://127.0.0.1:51234/callback?code=x', 'io.relay.mobile:/callback', 'https://app.example/'])(
    'can be %s',
    (address) => expect(isFollowable(address)).toBe(true),
  );

  it.each(['javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'data:text/html,x', 'blob:x', 'no address'])(
    'cannot be %s',
    (address) => expect(isFollowable(address)).toBe(false),
  );
});
