/** How long a sign-in counts as recent, and the refusal of an older one (rules, 8.11). */
import { readSignInTime } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { IdentityDeps } from './deps.ts';

export const recentSignInMs = 15 * 60_000;

/** @throws RelayError SIGN_IN_NOT_RECENT, with the challenge of RFC 9470 */
export function requireRecent(signedInAt: number | undefined, now: number = Date.now()): void {
  if (signedInAt !== undefined && signedInAt > now - recentSignInMs) return;
  throw new RelayError('SIGN_IN_NOT_RECENT', {
    headers: {
      'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${recentSignInMs / 1000}"`,
    },
  });
}

/** Whether a sign-in of this relay is recent, by its id. */
export async function isRecentLogin(
  { database }: Pick<IdentityDeps, 'database'>,
  loginId: string | undefined,
): Promise<boolean> {
  const at = loginId === undefined ? undefined : await readSignInTime(database, loginId);
  return at !== undefined && at.getTime() > Date.now() - recentSignInMs;
}

/**
 * The built-in sign-in, by its id (`sid`): when the browser signed in, or when the password was entered there since.
 * @throws RelayError SIGN_IN_NOT_RECENT, also when the sign-in is gone
 */
export async function requireRecentLogin(
  { database }: Pick<IdentityDeps, 'database'>,
  loginId: string | undefined,
): Promise<void> {
  const at = loginId === undefined ? undefined : await readSignInTime(database, loginId);
  requireRecent(at?.getTime());
}
