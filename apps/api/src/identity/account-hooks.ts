/**
 * Hooks that the library calls before it writes a row: who can create an account, which upstream fields are kept, how long a code
 * lives, and which tokens a revoked sign-in takes along.
 */
import { forgetHalfSignIns, forgetUnfinishedAccount, isDisabled, isTokenGood } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { BetterAuthOptions, GenericEndpointContext } from 'better-auth';
import {
  APIError,
  addOAuthServerContext,
  createAuthMiddleware,
  getOAuthState,
  getSessionFromCtx,
  isAPIError,
} from 'better-auth/api';
import { endAcpTokens } from '../account/end-acp-tokens.ts';
import { notifyChanged } from '../account/notify-changed.ts';
import { requireShowable } from '../devices/names.ts';
import { minPasswordLength } from './account-endpoints.ts';
import { accountGuesses } from './account-guesses.ts';
import { checkBody } from './bodies.ts';
import { accountNotes } from './account-notes.ts';
import { noteAction } from './audit.ts';
import { chainOf, codeRefused, codeUsed } from './code-reuse.ts';
import { isCommonPassword } from './common-passwords.ts';
import type { IdentityDeps } from './deps.ts';
import { endChain, endProgramsWithoutLogin, forgetTokens, refuseTokens } from './end-sign-in.ts';
import { hashToken } from './one-time-token.ts';
import { addPasskey, requireMayAdd, requireRoomForPasskey, signInWithPasskey } from './passkeys.ts';
import { requireRecentLogin } from './recent-login.ts';
import {
  explain,
  isHalf,
  refusalOfCode,
  requireCodeToo,
  requireSecondFactor,
  secondSteps,
  verifyCode,
} from './second-factor.ts';
import { admit, requireWelcome } from './sign-up.ts';
import type { LibraryStorage } from './storage.ts';

const codeLifeMs = 60_000;
const maxNameLength = 200;

/** Errors of the relay, as the library wants them. */
async function refusing<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RelayError) throw new APIError(error.status as 403, { ...error.body });
    throw error;
  }
}

/** Names travel in every token, and people decide by them. */
async function requireName(name: unknown): Promise<void> {
  if (name === undefined) return;
  if (typeof name === 'string' && name.length <= maxNameLength) return refusing(() => requireShowable(name));
  throw new APIError('BAD_REQUEST', {
    code: 'NAME_TOO_LONG',
    message: `A name has at most ${maxNameLength} characters.`,
  });
}

/** The invitation that a page sent along, hashed. */
function invitationIn(body: unknown): string | undefined {
  const { invitation } = (body ?? {}) as { invitation?: unknown };
  return typeof invitation === 'string' && invitation !== '' ? hashToken(invitation) : undefined;
}

/** The hash of the invitation that a person carried through another service. */
async function carriedInvitation(): Promise<string | undefined> {
  const carried = (await getOAuthState())?.serverContext?.['invitation'];
  return typeof carried === 'string' ? carried : undefined;
}

/** @throws APIError PASSWORD_TOO_COMMON */
function refuseCommon(password: unknown, own: readonly unknown[]): void {
  const personal = own.flatMap((text) => (typeof text === 'string' ? [text, ...text.split(/[@\s]/)] : []));
  if (typeof password !== 'string' || password.length < minPasswordLength || !isCommonPassword(password, personal))
    return;
  throw new APIError('BAD_REQUEST', {
    code: 'PASSWORD_TOO_COMMON',
    message: 'This password is one of the first that anyone would guess. Choose another one.',
  });
}

/** Names in the audit of changes to the row of a person. */
const userChanges: ReadonlyMap<string, string> = new Map([
  [verifyCode, 'turnOnSecondFactor'],
  ['/two-factor/disable', 'turnOffSecondFactor'],
]);
/** Requests of a signed-in person with their password. */
const passwordPaths: ReadonlySet<string> = new Set([
  '/change-password',
  '/relay/confirm',
  '/two-factor/enable',
  '/two-factor/disable',
  '/two-factor/generate-backup-codes',
]);

/** A program has given back its refresh token. */
async function programSignedOut(
  deps: IdentityDeps,
  storage: LibraryStorage,
  ctx: { headers?: Headers | undefined },
): Promise<void> {
  const { id = '', authorizationCodeId: chain, userId, clientId: program } = storage.presented() ?? {};
  if (!chain || userId === undefined || program === undefined) return;
  // The library takes back no token of another program, and answers as if it had (RFC 7009, 2.2).
  if (await isTokenGood(deps.database, id)) return;
  await endChain(deps, { chain, userId });
  await noteAction(deps, ctx, { userId, action: 'signOut', program });
}

/** Before a request of a signed-in person with their password: it counts as a guess, and might need the second factor. */
async function checkPersonAgain(
  deps: IdentityDeps,
  guesses: ReturnType<typeof accountGuesses>,
  ctx: GenericEndpointContext,
): Promise<void> {
  const { user, session } = (await getSessionFromCtx(ctx)) ?? {};
  await guesses.count(user?.email);
  try {
    await requireCodeToo(deps, ctx, { userId: user?.id, loginId: session?.id });
  } catch (error) {
    // The password was right.
    if (isAPIError(error) && error.body?.['code'] === 'SECOND_FACTOR_REQUIRED') await guesses.forgive(user?.email);
    throw error;
  }
}

export const accountHooks = (deps: IdentityDeps, storage: LibraryStorage) => {
  const guesses = accountGuesses(deps);
  const { noteAttempt, noteConsent } = accountNotes(deps);

  return {
    databaseHooks: {
      user: {
        create: {
          // The last moment before the row, when all input of the person has been checked: a link is used once.
          before: async (user, ctx) => {
            await requireName(user.name);
            const tokenHash = invitationIn(ctx?.body) ?? (await carriedInvitation());
            const { undo } = await refusing(() => admit(deps, tokenHash));
            storage.onFailure(async () => {
              await forgetUnfinishedAccount(deps.database, user.email);
              await undo();
            });
          },
        },
        update: {
          after: async ({ id: userId }, ctx) => {
            const action = userChanges.get(ctx?.path ?? '') ?? 'changeProfile';
            await noteAction(deps, ctx, { userId, action });
            await notifyChanged(deps, userId, action);
          },
          before: async (user) => requireName(user.name),
        },
      },
      account: {
        create: {
          // Nothing here ever calls another service in the name of a person.
          before: ({ accessToken: _a, refreshToken: _r, idToken: _i, ...account }) =>
            Promise.resolve({ data: { ...account, accessToken: null, refreshToken: null, idToken: null } }),
        },
      },
      verification: {
        create: {
          // The library has one setting for the lifetime of codes and for the time a person has on the sign-in page.
          before: (verification) =>
            Promise.resolve(
              verification.value.startsWith('{"type":"authorization_code"')
                ? { data: { ...verification, expiresAt: new Date(Date.now() + codeLifeMs) } }
                : undefined,
            ),
        },
      },
      session: {
        create: {
          before: async ({ userId }, ctx) => {
            if (await isDisabled(deps.database, userId))
              throw new APIError('FORBIDDEN', {
                code: 'ACCOUNT_DISABLED',
                message: 'This account is disabled. Ask the operator of this relay.',
              });
            await requireSecondFactor(deps, userId, ctx);
          },
          after: async ({ id: target, userId }, ctx) =>
            noteAction(deps, ctx, {
              ...{ userId, action: ctx?.path === signInWithPasskey ? 'signInWithPasskey' : 'signIn' },
              ...((await isHalf(deps, userId, ctx)) ? { outcome: 'SECOND_FACTOR_REQUIRED' } : { target }),
            }),
        },
        delete: {
          // An expired sign-in revokes nothing else: programs have their own 30 days.
          before: async (login, ctx) => {
            if (login.expiresAt > new Date() && !(await isHalf(deps, login.userId, ctx)))
              await forgetTokens(deps, login.id);
          },
          after: async (login, ctx) => {
            if (login.expiresAt <= new Date() || (await isHalf(deps, login.userId, ctx))) return;
            await refuseTokens(deps, login.id);
            await noteAction(deps, ctx, { userId: login.userId, action: 'signOut', target: login.id });
          },
        },
      },
    },
    hooks: {
      before: createAuthMiddleware(async (ctx) => {
        const body = ctx.body as Record<string, unknown> | undefined;
        await refusing(() => checkBody(ctx.path, body));
        const tokenHash = invitationIn(body);
        // A person who cannot create an account must not learn whether an address has one either.
        if (ctx.path === '/sign-up/email') {
          await refusing(() => requireWelcome(deps, tokenHash));
          refuseCommon(body?.['password'], [body?.['name'], body?.['email']]);
        }
        if (ctx.path === '/change-password' && body) {
          refuseCommon(body['newPassword'], []);
          // A person who knows the old password might be signed in elsewhere.
          body['revokeOtherSessions'] = true;
        }
        if (ctx.path === '/oauth2/token' && typeof body?.['code'] === 'string') storage.begins(chainOf(body['code']));
        if (ctx.path === '/oauth2/consent' && body?.['accept'] !== false)
          await refusing(async () => requireRecentLogin(deps, (await getSessionFromCtx(ctx))?.session.id));
        if (ctx.path.startsWith('/passkey/')) await requireName(body?.['name']);
        await refusing(() => requireMayAdd(deps, ctx));
        if (ctx.path === '/sign-in/email') await guesses.count(body?.['email']);
        if (passwordPaths.has(ctx.path)) await checkPersonAgain(deps, guesses, ctx);
        const refusal = secondSteps.has(ctx.path) ? await refusalOfCode(deps, ctx) : undefined;
        if (refusal) {
          await noteAttempt(ctx, refusal);
          throw refusal;
        }
        // On the way to another service and back only a hash of the invitation is kept.
        if (ctx.path === '/sign-in/social' && tokenHash !== undefined)
          await addOAuthServerContext({ invitation: tokenHash });
      }),
      after: createAuthMiddleware(async (ctx) => {
        const { returned } = ctx.context as { returned?: unknown };
        const refused = isAPIError(returned);
        // An outage does not mean that the password was wrong.
        const mayBeWrong = refused && returned.statusCode < 500;
        if (ctx.path === '/sign-in/email' && !mayBeWrong)
          await guesses.forgive((ctx.body as { email?: unknown } | undefined)?.email);
        if (passwordPaths.has(ctx.path) && !mayBeWrong) {
          const user = (ctx.context.session ?? (await getSessionFromCtx(ctx)))?.user;
          await guesses.forgive(user?.email);
          // A person who knows the old password might be waiting for the second step.
          if (user && !refused && ctx.path === '/change-password')
            await Promise.all([
              forgetHalfSignIns(deps.database, user.id),
              endProgramsWithoutLogin(deps, user.id),
              endAcpTokens(deps, user.id),
            ]);
        }
        if (refused && /^\/(?:two-factor|passkey)\//.test(ctx.path)) explain(returned);
        if (ctx.path === addPasskey && !refused) await requireRoomForPasskey(deps, returned);
        // Before the answer, which carries the code: if the notification of the person fails, the program must not receive the
        // code.
        if (ctx.path === '/oauth2/consent' && !refused) {
          const userId = (await getSessionFromCtx(ctx))?.user.id;
          const target = await noteConsent(ctx.body, userId);
          if (userId !== undefined && target !== undefined)
            await noteAction(deps, ctx, { userId, action: 'allowProgram', target });
        }
        await noteAttempt(ctx, refused ? returned : undefined);
        if (ctx.path === '/oauth2/revoke' && !refused) await programSignedOut(deps, storage, ctx);
        if (ctx.path === '/oauth2/token') {
          const { code } = (ctx.body ?? {}) as { code?: unknown };
          if (typeof code !== 'string' || storage.presented()) return;
          const { access_token: token } = (returned ?? {}) as { access_token?: unknown };
          if (refused) await codeRefused(deps, code);
          else if (typeof token === 'string') await codeUsed(deps, code, token);
        }
      }),
    },
  } satisfies Pick<BetterAuthOptions, 'hooks' | 'databaseHooks'>;
};
