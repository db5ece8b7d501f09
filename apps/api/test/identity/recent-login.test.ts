import { expect, it } from '@jest/globals';
import { recentSignInMs, requireRecent } from '../../src/identity/recent-login.ts';

it('S18: a sign-in is recent for 15 minutes, to the millisecond', () => {
  const now = Date.now();
  requireRecent(now - recentSignInMs + 1, now);
  for (const at of [now - recentSignInMs, now - recentSignInMs - 1, 0, undefined])
    expect(() => requireRecent(at, now)).toThrow(expect.objectContaining({ code: 'SIGN_IN_NOT_RECENT' }));
});
