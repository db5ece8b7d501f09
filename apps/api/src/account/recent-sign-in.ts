/**
 * Checks that a person has just proved who they are (rules, 8.11). Renewals keep a token alive for weeks; giving a machine away
 * or deleting an account needs more than a token found on a table.
 */
import type { UserPrincipal } from '@relay/auth';
import type { Operations } from '../deps.ts';
import { requireRecent, requireRecentLogin } from '../identity/recent-login.ts';

/**
 * Built-in sign-in: the time of the token's sign-in, or of the last password check since. Another issuer: the claim `auth_time`;
 * a token without it counts from its issue.
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
