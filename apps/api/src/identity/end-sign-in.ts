/**
 * Revokes sign-ins: records it, forgets the renewable tokens, then makes every instance refuse outstanding tokens and close its
 * sockets. In this order, so that a program that renews at this moment runs into one of them.
 */
import {
  forgetAllLogins,
  forgetApplication,
  forgetChain,
  forgetTokensOfLogin,
  forgetTokensWithoutLogin,
  listLogins,
  programsWithoutLogin,
  recentRevocations,
  recordRevocations,
  removeSubscriptionsOf,
} from '@relay/database';
import { RelayError } from '@relay/protocol';
import { endAcpTokens } from '../account/end-acp-tokens.ts';
import type { Revocation } from '@relay/auth';
import { noteAction } from './audit.ts';
import type { IdentityDeps } from './deps.ts';

/**
 * Access tokens live ten minutes, are accepted for some seconds more, and clocks differ; older revocations concern expired
 * tokens.
 */
const memoryMs = 11 * 60_000;

type Ended = { subject: string; client?: string } | { login: string };

/** Makes every instance refuse outstanding tokens and close its sockets. Never rejects. */
async function announce(deps: IdentityDeps, ended: Ended): Promise<void> {
  await deps.backplane
    .publishControl(JSON.stringify({ v: 1, kind: 'user_revoked', ...ended }))
    .catch((error: unknown) =>
      deps.logger.warn({ err: error }, 'a revocation could not be announced; tokens live for at most ten minutes'),
    );
}

/** A sign-in that has not expired is about to be forgotten: its refresh tokens go first. */
export async function forgetTokens(deps: IdentityDeps, loginId: string): Promise<void> {
  await recordRevocations(deps.database, [{ login: loginId }]);
  await forgetTokensOfLogin(deps.database, loginId);
  await removeSubscriptionsOf(deps.database, { login: loginId });
}

/** A sign-in was forgotten: its access tokens are refused from now on. */
export async function refuseTokens(deps: IdentityDeps, loginId: string): Promise<void> {
  await announce(deps, { login: loginId });
}

/** Signs the person out of every browser and every program, ACP clients included. */
export async function signOutEverywhere(deps: IdentityDeps, userId: string): Promise<void> {
  const { database } = deps;
  // One by one as well: a token that is being written right now is younger than this moment, but comes from one of them.
  const logins = (await listLogins(database, userId)).map((login) => ({ login }));
  const ended: Ended[] = [...logins, { subject: userId }];
  await recordRevocations(database, ended);
  await forgetAllLogins(database, userId);
  await removeSubscriptionsOf(database, { userId });
  await endAcpTokens(deps, userId);
  await Promise.all(ended.map((one) => announce(deps, one)));
}

/** Signs out the programs whose own sign-in has expired: they outlive it, and are not reachable through existing sign-ins. */
export async function endProgramsWithoutLogin(deps: IdentityDeps, userId: string): Promise<void> {
  const ended = (await programsWithoutLogin(deps.database, userId)).map((client) => ({ subject: userId, client }));
  await recordRevocations(deps.database, ended);
  await forgetTokensWithoutLogin(deps.database, userId);
  for (const { client } of ended) await removeSubscriptionsOf(deps.database, { userId, client });
  await Promise.all(ended.map((one) => announce(deps, one)));
}

/** Revokes one sign-in of a program: the tokens from one code, and the addresses added with them. */
export async function endChain(
  deps: IdentityDeps,
  { chain, userId }: { chain: string; userId: string },
): Promise<void> {
  await recordRevocations(deps.database, [{ login: chain }]);
  await forgetChain(deps.database, chain);
  await removeSubscriptionsOf(deps.database, { userId, chain });
  await announce(deps, { login: chain });
}

/** Revokes it because one of its refresh tokens arrived again after its use: the program has it, and so does another program. */
export async function endStolenChain(
  deps: IdentityDeps,
  given: { chain: string; userId: string; clientId: string; headers: Headers | undefined },
): Promise<void> {
  const { chain, userId, clientId: program, headers } = given;
  deps.logger.warn({ userId, program }, 'a refresh token was used twice: the sign-in of its program ends');
  await endChain(deps, { chain, userId });
  await noteAction(deps, { headers }, { userId, action: 'signOut', program, outcome: 'REFRESH_TOKEN_REUSED' });
}

/** Revokes the access that the person gave to a program. @throws RelayError NOT_FOUND */
export async function revokeApplication(deps: IdentityDeps, userId: string, clientId: unknown): Promise<void> {
  if (typeof clientId !== 'string') throw new RelayError('INVALID_REQUEST', 'In the body, "clientId" is required.');
  if (!(await forgetApplication(deps.database, userId, clientId)))
    throw new RelayError('NOT_FOUND', 'This application has no access to your account.');
  const ended = { subject: userId, client: clientId };
  await recordRevocations(deps.database, [ended]);
  // If a code was being redeemed, its token was perhaps written before the record.
  await forgetApplication(deps.database, userId, clientId);
  await removeSubscriptionsOf(deps.database, { userId, client: clientId, typed: true });
  await announce(deps, ended);
}

/** The revocations that an instance missed and has to refuse. */
export async function revokedLately(deps: IdentityDeps): Promise<Revocation[]> {
  const recorded = await recentRevocations(deps.database, memoryMs);
  return recorded.flatMap(({ subject, client, login, revokedAt }): Revocation[] => {
    if (login !== undefined) return [{ sid: login }];
    if (subject === undefined) return [];
    return [{ user: subject, before: revokedAt.getTime(), ...(client === undefined ? {} : { client }) }];
  });
}
