/**
 * The rights of an agent's token (rules, 19.8): it reaches the sessions that its own sign-in started. With `agents:answer` it reaches all sessions of
 * its person. It never answers in the session that it runs in.
 */
import { type UserPrincipal, agentAnswerScope } from '@relay/auth';
import { starterOf } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import { requireSession } from '../sessions/find.ts';

type Deps = Pick<ApiDeps, 'database'>;

/** The sign-in of a token, as sessions keep it. A token without a sign-in stands for its program. */
export function signInOf({ issuer, chainId, sessionId, clientId }: UserPrincipal): string {
  if (chainId !== undefined) return `chain ${chainId}`;
  return sessionId === undefined ? `program ${issuer} ${clientId ?? ''}` : `sign-in ${issuer} ${sessionId}`;
}

/** The token reaches every session of its person. */
export const reachesAll = ({ scopes }: UserPrincipal): boolean => scopes.has(agentAnswerScope);

/**
 * Returns the key of a session that the token reaches.
 * @throws RelayError SESSION_NOT_FOUND, INSUFFICIENT_SCOPE
 */
export async function requireReach({ database }: Deps, principal: UserPrincipal, sessionId: string): Promise<string> {
  const { key } = await requireSession(database, principal.userId, sessionId);
  if (reachesAll(principal) || (await starterOf(database, key)) === signInOf(principal)) return key;
  throw new RelayError(
    'INSUFFICIENT_SCOPE',
    `This session was not started with this sign-in. Ask the person, or sign in again with the scope "${agentAnswerScope}".`,
  );
}

/**
 * Refuses an answer in a session that the caller names as its own.
 * @throws RelayError SESSION_NOT_FOUND, PERSON_MUST_ANSWER
 */
export async function refuseOwnSession(
  { database }: Deps,
  { userId }: UserPrincipal,
  key: string,
  named: readonly (string | undefined)[],
): Promise<void> {
  for (const sessionId of named) {
    if (sessionId === undefined || (await requireSession(database, userId, sessionId)).key !== key) continue;
    throw new RelayError('PERSON_MUST_ANSWER');
  }
}
