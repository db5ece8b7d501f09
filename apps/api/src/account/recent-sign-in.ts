/**
 * Whether a person has just shown who they are (rules, 8.11). A token lives on renewals for weeks; what gives a machine away or deletes an
 * account needs more than a token that was left on a table.
 */
import type { UserPrincipal } from '@relay/auth';
import type { Operations } from '../deps.ts';
import { requireRecent, requireRecentLogin } from '../identity/recent-login.ts';

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
  if (issuer === deps.identity?.issuer.issuer) await requireRecentLogin(deps, sessionId);
  else requireRecent(signedInAt ?? issuedAt);
}
