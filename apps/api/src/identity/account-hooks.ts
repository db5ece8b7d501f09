/**
 * Where the library asks us before it writes something down: who may create an account, what is kept of an account elsewhere, how
 * long a code lives, and what ends with a sign-in.
 */
import { createPublisher } from '@relay/attention';
import {
  addAccessNotice,
  clientName,
  forgetUnfinishedAccount,
  isDisabled,
  listPeople,
  readSessions,
} from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { BetterAuthOptions } from 'better-auth';
import {
  APIError,
  addOAuthServerContext,
  createAuthMiddleware,
  getOAuthState,
  getSessionFromCtx,
  isAPIError,
} from 'better-auth/api';
import { tellAllowed } from '../account/tell-allowed.ts';
import { minPasswordLength } from './account-endpoints.ts';
import { accountGuesses } from './account-guesses.ts';
import { checkBody } from './bodies.ts';
import { noteAction } from './audit.ts';
import { codeRefused, codeUsed } from './code-reuse.ts';
import { isCommonPassword } from './common-passwords.ts';
import type { IdentityDeps } from './deps.ts';
import { forgetTokens, refuseTokens } from './end-sign-in.ts';
import { hashToken } from './one-time-token.ts';
import { requireRecentLogin } from './recent-login.ts';
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

/** Names travel in every token. */
function requireShortName(name: unknown): void {
  if (name === undefined || (typeof name === 'string' && name.length <= maxNameLength)) return;
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

/** The invitation with which a person went to another service, hashed. */
async function carriedInvitation(): Promise<string | undefined> {
  const carried = (await getOAuthState())?.serverContext?.['invitation'];
  return typeof carried === 'string' ? carried : undefined;
}

/** @throws APIError PASSWORD_TOO_COMMON */
function refuseCommon(password: unknown, own: readonly unknown[]): void {
  const known = own.flatMap((text) => (typeof text === 'string' ? [text, ...text.split(/[@\s]/)] : []));
  if (typeof password !== 'string' || password.length < minPasswordLength || !isCommonPassword(password, known)) return;
  throw new APIError('BAD_REQUEST', {
    code: 'PASSWORD_TOO_COMMON',
    message: 'This password is among the first that anybody would try. Choose another one.',
  });
}

/** Attempts with a password, and their names in the audit. A sign-in that succeeds is recorded with its row. */
const attempts: ReadonlyMap<string, string> = new Map([
  ['/sign-in/email', 'signIn'],
  ['/change-password', 'changePassword'],
  ['/relay/confirm', 'confirmPassword'],
]);

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

const codeOf = (refusal: { body?: unknown }): string => {
  const { code } = (refusal.body ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'REFUSED';
};

export const accountHooks = (deps: IdentityDeps, storage: LibraryStorage) => {
  const guesses = accountGuesses(deps);
  const publisher = createPublisher({
    channel: deps.backplane,
    windowMs: deps.config.dedupeWindowMs,
    readSessions: (keys) => readSessions(deps.database, keys),
    onError: (error) => deps.logger.warn({ err: error }, 'a frame for apps could not be published'),
  });
  const noteConsent = async (body: unknown, userId: string | undefined) => {
    const { accept, oauth_query } = (body ?? {}) as { accept?: unknown; oauth_query?: unknown };
    const clientId = typeof oauth_query === 'string' ? new URLSearchParams(oauth_query).get('client_id') : null;
    if (accept === false || userId === undefined || clientId === null) return undefined;
    const name = await clientName(deps.database, clientId);
    await addAccessNotice(deps.database, { userId, name });
    await tellAllowed({ ...deps, publisher }, userId, { kind: 'program', name });
    return clientId;
  };
  /** Of passwords: the person is the one whose address was typed, or who is signed in. */
  const noteAttempt = async (ctx: Context, action: string, outcome: string) => {
    const { email } = (ctx.body ?? {}) as { email?: unknown };
    const userId =
      ctx.path === '/sign-in/email'
        ? // PostgreSQL takes no U+0000, so no address has one.
          typeof email === 'string' && !email.includes('\u0000') && (await listPeople(deps.database, email))[0]?.id
        : (ctx.context.session ?? (await getSessionFromCtx(ctx)))?.user.id;
    if (!userId) return;
    const noted = noteAction(deps, ctx, { userId, action, outcome });
    // How long a refusal takes must not tell whether the address has an account.
    if (ctx.path !== '/sign-in/email') await noted;
  };
  return {
    databaseHooks: {
      user: {
        create: {
          // The last moment before the row, when all input of the person has been checked: a link is used once.
          before: async (user, ctx) => {
            requireShortName(user.name);
            const tokenHash = invitationIn(ctx?.body) ?? (await carriedInvitation());
            const { undo } = await refusing(() => admit(deps, tokenHash));
            storage.onFailure(async () => {
              await forgetUnfinishedAccount(deps.database, user.email);
              await undo();
            });
          },
        },
        update: {
          after: ({ id: userId }, ctx) => noteAction(deps, ctx, { userId, action: 'changeProfile' }),
          before: (user) => {
            requireShortName(user.name);
            return Promise.resolve();
          },
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
          // The library has one number for codes and for how long a person may look at the sign-in page.
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
          before: async ({ userId }) => {
            if (!(await isDisabled(deps.database, userId))) return;
            throw new APIError('FORBIDDEN', {
              code: 'ACCOUNT_DISABLED',
              message: 'This account is disabled. Ask the operator of this relay.',
            });
          },
          after: ({ id: target, userId }, ctx) => noteAction(deps, ctx, { userId, action: 'signIn', target }),
        },
        delete: {
          // A sign-in that simply expired ends nothing else: programs have their own 30 days.
          before: async (login) => {
            if (login.expiresAt > new Date()) await forgetTokens(deps, login.id);
          },
          after: async (login, ctx) => {
            if (login.expiresAt <= new Date()) return;
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
        // A person who may not create an account does not learn either whether an address has one.
        if (ctx.path === '/sign-up/email') {
          await refusing(() => requireWelcome(deps, tokenHash));
          refuseCommon(body?.['password'], [body?.['name'], body?.['email']]);
        }
        if (ctx.path === '/change-password' && body) {
          refuseCommon(body['newPassword'], []);
          // A person who knows the old password may be signed in elsewhere.
          body['revokeOtherSessions'] = true;
        }
        if (ctx.path === '/oauth2/consent' && body?.['accept'] !== false)
          await refusing(async () => requireRecentLogin(deps, (await getSessionFromCtx(ctx))?.session.id));
        if (ctx.path === '/sign-in/email') await guesses.count(body?.['email']);
        if (ctx.path === '/change-password' || ctx.path === '/relay/confirm')
          await guesses.count((await getSessionFromCtx(ctx))?.user.email);
        // On the way to another service and back only a hash of the invitation is kept.
        if (ctx.path === '/sign-in/social' && tokenHash !== undefined)
          await addOAuthServerContext({ invitation: tokenHash });
      }),
      after: createAuthMiddleware(async (ctx) => {
        const { returned } = ctx.context as { returned?: unknown };
        const refused = isAPIError(returned);
        if (ctx.path === '/sign-in/email' && !refused)
          await guesses.forgive((ctx.body as { email?: unknown } | undefined)?.email);
        if (ctx.path === '/change-password' && !refused)
          await guesses.forgive((returned as { user?: { email?: unknown } } | undefined)?.user?.email);
        if (ctx.path === '/relay/confirm' && !refused)
          await guesses.forgive((returned as { email?: unknown } | undefined)?.email);
        // Before the answer, which has the code: a program that the person is not told of gets none.
        if (ctx.path === '/oauth2/consent' && !refused) {
          const userId = (await getSessionFromCtx(ctx))?.user.id;
          const target = await noteConsent(ctx.body, userId);
          if (userId !== undefined && target !== undefined)
            await noteAction(deps, ctx, { userId, action: 'allowProgram', target });
        }
        const attempt = attempts.get(ctx.path);
        if (attempt !== undefined && (refused || ctx.path !== '/sign-in/email'))
          await noteAttempt(ctx, attempt, refused ? codeOf(returned) : 'done');
        if (ctx.path === '/oauth2/token') {
          const { code } = (ctx.body ?? {}) as { code?: unknown };
          if (typeof code !== 'string') return;
          const { access_token: token } = (returned ?? {}) as { access_token?: unknown };
          if (refused) await codeRefused(deps, code);
          else if (typeof token === 'string') await codeUsed(deps, code, token);
        }
      }),
    },
  } satisfies Pick<BetterAuthOptions, 'hooks' | 'databaseHooks'>;
};
