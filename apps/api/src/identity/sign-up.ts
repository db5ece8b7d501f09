/** Decides who can create an account: the first person by the link on the console, further people by AUTH_SIGNUP. */
import {
  withdrawInvitations,
  createInvitation,
  restoreInvitation,
  findInvitation,
  hasAccounts,
  useInvitation,
} from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { IdentityDeps } from './deps.ts';
import { createToken, hashToken } from './one-time-token.ts';

const inviteTtlSeconds = 7 * 24 * 60 * 60;

type Deps = Pick<IdentityDeps, 'config' | 'database'>;

/** Tokens are in the fragment, behind `#`: it reaches neither a log nor another site. */
const link = (publicUrl: string, page: string, token: string) => `${publicUrl}/${page}#token=${token}`;

/** A fresh link for the first account, instead of the one this instance gave before; undefined when there are accounts. */
export async function renewSetupLink({ config, database }: Deps): Promise<string | undefined> {
  await withdrawInvitations(database, 'setup', config.instanceName);
  if (await hasAccounts(database)) return undefined;
  const token = createToken();
  await createInvitation(database, {
    kind: 'setup',
    tokenHash: hashToken(token),
    createdBy: config.instanceName,
  });
  return link(config.publicUrl, 'setup', token);
}

/** @throws RelayError FORBIDDEN when invitations are off, TOO_MANY_INVITATIONS */
export async function invite({ config, database }: Deps, userId: string): Promise<{ url: string; expiresAt: string }> {
  if (config.authSignup === 'closed') {
    throw new RelayError('FORBIDDEN', 'This relay accepts no new accounts (AUTH_SIGNUP is closed). Ask its operator.');
  }
  const token = createToken();
  const made = await createInvitation(database, {
    kind: 'invite',
    tokenHash: hashToken(token),
    createdBy: userId,
    ttlSeconds: inviteTtlSeconds,
    max: config.invitationsPerUser,
  });
  if (!made)
    throw new RelayError(
      'TOO_MANY_INVITATIONS',
      `You have ${config.invitationsPerUser} unused invitations, which is the limit. Wait until one is used or expires after a week.`,
    );
  return { url: link(config.publicUrl, 'invite', token), expiresAt: made.expiresAt ?? '' };
}

const linkOver = 'This link was used or has expired. Ask for a new one.';

/** @throws RelayError NOT_FOUND when the link was never valid, or no longer is */
export async function readInvitation(
  { config, database }: Deps,
  token: unknown,
): Promise<{ kind: 'setup' | 'invite'; expiresAt?: string }> {
  const found = typeof token === 'string' ? await findInvitation(database, hashToken(token)) : undefined;
  if (!found || (found.kind === 'invite' && config.authSignup === 'closed')) {
    throw new RelayError('NOT_FOUND', linkOver);
  }
  return { kind: found.kind, ...(found.expiresAt === undefined ? {} : { expiresAt: found.expiresAt }) };
}

const notWelcome = (tokenHash: string | undefined) =>
  new RelayError(
    'FORBIDDEN',
    tokenHash === undefined
      ? 'You need an invitation to create an account here. Ask someone who has an account.'
      : linkOver,
  );

async function isWelcome({ config, database }: Deps, tokenHash: string | undefined): Promise<boolean> {
  if (tokenHash === undefined) return config.authSignup === 'open';
  const found = await findInvitation(database, tokenHash);
  return found !== undefined && (found.kind === 'setup' || config.authSignup !== 'closed');
}

/**
 * Checks that a person with the link of this hash, or without a link, can create an account at all. @throws RelayError FORBIDDEN
 */
export async function requireWelcome(deps: Deps, tokenHash: string | undefined): Promise<void> {
  if (!(await isWelcome(deps, tokenHash))) throw notWelcome(tokenHash);
}

/**
 * Lets one account be created, or refuses. The link of this hash is used up; a caller that fails afterwards restores it with `undo`.
 * @throws RelayError FORBIDDEN
 */
export async function admit(deps: Deps, tokenHash: string | undefined): Promise<{ undo: () => Promise<void> }> {
  await requireWelcome(deps, tokenHash);
  const { database } = deps;
  if (tokenHash === undefined) return { undo: () => Promise.resolve() };
  // Another person might have been faster.
  if (!(await useInvitation(database, tokenHash))) throw notWelcome(tokenHash);
  return { undo: () => restoreInvitation(database, tokenHash) };
}
