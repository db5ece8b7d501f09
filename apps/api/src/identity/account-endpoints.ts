/**
 * Account functions that the library lacks, as endpoints of the library: it checks the sign-in
 * (`sessionMiddleware`), the origin of every request that changes something, and the rate, as for its own.
 */
import { confirmSignIn, hasAccounts, listApplications, listBrowsers, listPasskeys, loginToken } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware, sessionMiddleware } from 'better-auth/api';
import { deleteSessionCookie } from 'better-auth/cookies';
import { noteAction } from './audit.ts';
import type { IdentityDeps } from './deps.ts';
import { revokeApplication, signOutEverywhere } from './end-sign-in.ts';
import { secondFactorState } from './second-factor.ts';
import { invite, readInvitation } from './sign-up.ts';

export const minPasswordLength = 10;
export const maxPasswordLength = 128;

/** Errors of the relay, in its own shape. */
async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw new APIError(error.status as 400, { ...error.body }, error.headers);
  }
}

const field = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;

export const accountEndpoints = (deps: IdentityDeps) =>
  ({
    id: 'relay-account',
    endpoints: {
      relayStatus: createAuthEndpoint('/relay/status', { method: 'GET' }, async (ctx) =>
        ctx.json({
          signUp: deps.config.authSignup,
          hasAccounts: await hasAccounts(deps.database),
          minPasswordLength,
          contact: deps.config.operatorContact,
          providers: deps.config.authUpstream.map(({ id, name }) => ({ id, name })),
        }),
      ),
      relayCheckInvitation: createAuthEndpoint('/relay/invitations/check', { method: 'POST' }, async (ctx) =>
        ctx.json(await answering(() => readInvitation(deps, field(ctx.body, 'token')))),
      ),
      relayInvite: createAuthEndpoint(
        '/relay/invitations',
        { method: 'POST', use: [sessionMiddleware] },
        async (ctx) => {
          const { id: userId } = ctx.context.session.user;
          const invitation = await answering(() => invite(deps, userId));
          await noteAction(deps, ctx, { userId, action: 'invite' });
          ctx.setStatus(201);
          return ctx.json(invitation);
        },
      ),
      relayMe: createAuthEndpoint('/relay/me', { method: 'GET', use: [sessionMiddleware] }, (ctx) => {
        const { user, session } = ctx.context.session;
        const { id, createdAt, expiresAt } = session;
        return Promise.resolve(
          ctx.json({
            id: user.id,
            email: user.email,
            name: user.name,
            login: { id, createdAt, expiresAt },
          }),
        );
      }),
      relaySecondFactor: createAuthEndpoint(
        '/relay/second-factor',
        { method: 'GET', use: [sessionMiddleware] },
        async (ctx) => ctx.json(await secondFactorState(deps, ctx.context.session.user.id, ctx)),
      ),
      relayPasskeys: createAuthEndpoint('/relay/passkeys', { method: 'GET', use: [sessionMiddleware] }, async (ctx) =>
        ctx.json({ passkeys: await listPasskeys(deps.database, ctx.context.session.user.id) }),
      ),
      relayConfirm: createAuthEndpoint(
        '/relay/confirm',
        { method: 'POST', use: [sensitiveSessionMiddleware] },
        async (ctx) => {
          const { user, session } = ctx.context.session;
          const typed = field(ctx.body, 'password');
          const credential = await ctx.context.internalAdapter.findCredentialAccount(user.id);
          const hash = credential?.password;
          if (
            typeof typed !== 'string' ||
            typed.length > maxPasswordLength ||
            !hash ||
            !(await ctx.context.password.verify({ hash, password: typed }))
          )
            throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD', message: 'This is not your password.' });
          await confirmSignIn(deps.database, session.id);
          return ctx.json({ email: user.email });
        },
      ),
      relayApplications: createAuthEndpoint(
        '/relay/applications',
        { method: 'GET', use: [sessionMiddleware] },
        async (ctx) => ctx.json({ applications: await listApplications(deps.database, ctx.context.session.user.id) }),
      ),
      relayRevokeApplication: createAuthEndpoint(
        '/relay/applications/revoke',
        { method: 'POST', use: [sessionMiddleware] },
        async (ctx) => {
          const { id: userId } = ctx.context.session.user;
          const target = field(ctx.body, 'clientId');
          await answering(() => revokeApplication(deps, userId, target));
          await noteAction(deps, ctx, { userId, action: 'revokeProgram', target: String(target) });
          return ctx.json({ revoked: true });
        },
      ),
      relayBrowsers: createAuthEndpoint('/relay/browsers', { method: 'GET', use: [sessionMiddleware] }, async (ctx) => {
        const { user, session } = ctx.context.session;
        return ctx.json({ browsers: await listBrowsers(deps.database, user.id, session.id) });
      }),
      relayEndBrowser: createAuthEndpoint(
        '/relay/browsers/end',
        { method: 'POST', use: [sessionMiddleware] },
        async (ctx) => {
          const id = field(ctx.body, 'id');
          const token =
            typeof id === 'string' ? await loginToken(deps.database, ctx.context.session.user.id, id) : undefined;
          if (token === undefined)
            throw new APIError('NOT_FOUND', { code: 'NOT_FOUND', message: 'You are not signed in in this browser.' });
          await ctx.context.internalAdapter.deleteSession(token);
          return ctx.json({ ended: true });
        },
      ),
      relaySignOutEverywhere: createAuthEndpoint(
        '/relay/sign-out-everywhere',
        { method: 'POST', use: [sessionMiddleware] },
        async (ctx) => {
          const { id: userId } = ctx.context.session.user;
          await signOutEverywhere(deps, userId);
          await noteAction(deps, ctx, { userId, action: 'signOutEverywhere' });
          deleteSessionCookie(ctx);
          return ctx.json({ success: true });
        },
      ),
    },
  }) satisfies BetterAuthPlugin;
