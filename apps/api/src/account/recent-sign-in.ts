/**
 * Whether a person has just shown who they are (findings S4, S18). A token lives on renewals for weeks; what gives a machine away or deletes an
 * account needs more than a token that was left on a table.
 */
import type { UserPrincipal } from '@relay/auth';
import { readSignInTime } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';

export const recentSignInMs = 15 * 60_000;

/** @throws RelayError SIGN_IN_NOT_RECENT, with the challenge of RFC 9470 */
export function requireRecent(signedInAt: number | undefined, now: number = Date.now()): void {
  if (signedInAt !== undefined && signedInAt > now - recentSignInMs) return;
  throw new RelayError(
    'SIGN_IN_NOT_RECENT',
    'This needs a sign-in of the last 15 minutes. Enter your password, or sign in, again.',
    {
      headers: {
        'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${recentSignInMs / 1000}"`,
      },
    },
  );
}

/**
 * Of the built-in sign-in: the sign-in that the token comes from, or the password that was entered there since. Of another issuer: the
 * claim `auth_time`; a token without one counts from when it was issued.
 * @throws RelayError SIGN_IN_NOT_RECENT
 */
export async function requireRecentSignIn(
  deps: Pick<Operations, 'database' | 'identity'>,
  principal: UserPrincipal,
): Promise<void> {
  const { issuer, sessionId, signedInAt, issuedAt } = principal;
  if (issuer !== deps.identity?.issuer.issuer) return requireRecent(signedInAt ?? issuedAt);
  const at = sessionId === undefined ? undefined : await readSignInTime(deps.database.prisma, sessionId);
  requireRecent(at?.getTime());
}
