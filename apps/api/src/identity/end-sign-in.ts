/** Ending sign-ins: what could be renewed is forgotten, then every instance refuses what is still out and closes its sockets. */
import {
  forgetAllLogins,
  forgetApplication,
  forgetTokensOfLogin,
  recentRevocations,
  recordRevocation,
} from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { Revocation } from '@relay/auth';
import type { IdentityDeps } from './deps.ts';

/** Access tokens live this long; what was revoked earlier than that has expired. */
const accessTokenLifeMs = 600_000;

async function announce(
  deps: IdentityDeps,
  who: { subject: string; client?: string } | { login: string },
): Promise<void> {
  await recordRevocation(deps.database.prisma, who);
  await deps.backplane
    .publishControl(JSON.stringify({ v: 1, kind: 'user_revoked', ...who }))
    .catch((error: unknown) =>
      deps.logger.warn({ err: error }, 'a revocation could not be announced; tokens live for at most ten minutes'),
    );
}

/** A sign-in that has not expired is about to be forgotten: its refresh tokens go first. */
export async function forgetTokens(deps: IdentityDeps, loginId: string): Promise<void> {
  await forgetTokensOfLogin(deps.database.prisma, loginId);
}

/** A sign-in was forgotten: its access tokens are refused from now on. */
export async function refuseTokens(deps: IdentityDeps, loginId: string): Promise<void> {
  await announce(deps, { login: loginId });
}

/** Signs the person out of every browser and every program. */
export async function signOutEverywhere(deps: IdentityDeps, userId: string): Promise<void> {
  await forgetAllLogins(deps.database.prisma, userId);
  await announce(deps, { subject: userId });
}

/** Takes from a program what the person gave it. @throws RelayError NOT_FOUND */
export async function revokeApplication(deps: IdentityDeps, userId: string, clientId: unknown): Promise<void> {
  if (typeof clientId !== 'string') throw new RelayError('INVALID_REQUEST', 'In the body, "clientId" is required.');
  if (!(await forgetApplication(deps.database.prisma, userId, clientId)))
    throw new RelayError('NOT_FOUND', 'This application has no access to your account.');
  await announce(deps, { subject: userId, client: clientId });
}

/** What an instance that starts now has to refuse. */
export async function revokedLately(deps: IdentityDeps): Promise<Revocation[]> {
  const recorded = await recentRevocations(deps.database.prisma, accessTokenLifeMs);
  return recorded.flatMap(({ subject, client, login, revokedAt }): Revocation[] => {
    if (login !== undefined) return [{ sid: login }];
    if (subject === undefined) return [];
    return [{ user: subject, before: revokedAt.getTime(), ...(client === undefined ? {} : { client }) }];
  });
}
