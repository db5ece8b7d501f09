/**
 * better-auth with the settings of this relay. Those that close an attack have a test that shows it failing
 * (test/identity/attacks.test.ts); the library's own defaults differ.
 */
import { createHash } from 'node:crypto';
import { oauthProvider } from '@better-auth/oauth-provider';
import { forgetUnfinishedAccount } from '@relay/database';
import { RelayError } from '@relay/protocol';
import { betterAuth } from 'better-auth';
import { prismaAdapter } from 'better-auth/adapters/prisma';
import { APIError, addOAuthServerContext, createAuthMiddleware, getOAuthState } from 'better-auth/api';
import { jwt } from 'better-auth/plugins';
import { accountEndpoints, minPasswordLength } from './account-endpoints.ts';
import { allScopes, audienceOf } from './clients.ts';
import type { IdentityDeps } from './deps.ts';
import { forgetTokens, refuseTokens } from './end-sign-in.ts';
import { hashToken } from './one-time-token.ts';
import { admit } from './sign-up.ts';
import type { LibraryStorage } from './storage.ts';
import { upstreamProviders } from './upstream.ts';

const minutes = 60;
const days = 24 * 60 * minutes;
const codeLifeMs = 60_000;

export const basePath = '/auth';
/** Ours, written over whatever a client sends: the library believes the leftmost X-Forwarded-For, which anybody can write. */
export const addressHeader = 'x-relay-client-address';

/** Every secret keeps its number however the list changes, so that what the second one encrypted can still be read. */
const numbered = (secret: string) => ({
  version: createHash('sha256').update(secret).digest().readUInt32BE(0),
  value: secret,
});

/** The invitation with which somebody went to another service, hashed. */
async function carriedInvitation(): Promise<string | undefined> {
  const carried = (await getOAuthState())?.serverContext?.['invitation'];
  return typeof carried === 'string' ? carried : undefined;
}

export type Library = ReturnType<typeof createLibrary>;

export function createLibrary(deps: IdentityDeps, storage: LibraryStorage) {
  const { config, logger } = deps;
  const { publicUrl } = config;
  const audience = audienceOf(publicUrl);
  const publicPath = new URL(publicUrl).pathname.replace(/\/$/, '');

  return betterAuth({
    appName: 'Relay',
    baseURL: new URL(publicUrl).origin,
    basePath: `${publicPath}${basePath}`,
    secrets: config.authSecret.map(numbered),
    database: prismaAdapter(storage.client, { provider: 'postgresql' }),
    trustedOrigins: [new URL(publicUrl).origin],
    telemetry: { enabled: false },
    onAPIError: {
      errorURL: `${publicUrl}/error`,
      // Without this it writes refusals, which are no faults, to the console.
      onError: (error) => {
        if (!(error instanceof APIError) || error.statusCode >= 500) logger.error({ err: error }, 'the sign-in failed');
      },
    },
    logger: {
      level: 'warn',
      // What else it says may quote what people typed.
      log: (level, message) => logger[level === 'error' ? 'error' : 'warn']({ room: 'sign-in' }, message),
    },
    // The door answers for them: `/token` sells a sign-in as a bearer, and a device code must never buy one. The others are about
    // accounts elsewhere: one account is one way to sign in, and what other services give out is not for anybody.
    disabledPaths: [
      '/token',
      '/device/token',
      '/link-social',
      '/unlink-account',
      '/list-accounts',
      '/account-info',
      '/get-access-token',
      '/refresh-token',
    ],
    emailAndPassword: { enabled: true, minPasswordLength, maxPasswordLength: 128, autoSignIn: true },
    user: { modelName: 'user' },
    // Here a session is a conversation.
    session: { modelName: 'login', expiresIn: 30 * days, updateAge: days },
    // An e-mail address is never an account key: who comes from elsewhere with an address that is taken is refused.
    account: { modelName: 'credential', accountLinking: { enabled: false }, updateAccountOnSignIn: false },
    verification: { modelName: 'verification' },
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'rateLimit',
      window: 60,
      max: config.rateLimitPerMinute,
      customRules: {
        '/jwks': false,
        '/oauth2/*': { window: 60, max: config.rateLimitPerMinute },
        '/sign-in/*': { window: 60, max: config.signInPerMinute },
        '/sign-up/*': { window: 60, max: config.signInPerMinute },
        '/change-password': { window: 60, max: config.signInPerMinute },
        '/relay/invitations/check': { window: 60, max: config.signInPerMinute },
      },
    },
    advanced: {
      cookiePrefix: 'relay',
      useSecureCookies: publicUrl.startsWith('https:'),
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // The library leaves both out where NODE_ENV is "test".
      disableOriginCheck: false,
      disableCSRFCheck: false,
    },
    databaseHooks: {
      user: {
        create: {
          // The last moment before the row, when nothing the person typed can be wrong any more: a link is used once.
          before: async (user, ctx) => {
            const body = ctx?.body as { invitation?: unknown } | undefined;
            const token = typeof body?.invitation === 'string' ? body.invitation : '';
            try {
              const { undo } = await admit(deps, token === '' ? await carriedInvitation() : hashToken(token));
              storage.onFailure(async () => {
                await forgetUnfinishedAccount(deps.database.prisma, user.email);
                await undo();
              });
            } catch (error) {
              if (error instanceof RelayError) throw new APIError(error.status as 403, { ...error.body });
              throw error;
            }
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
        delete: {
          // A sign-in that simply expired ends nothing else: programs have their own 30 days.
          before: async (login) => {
            if (login.expiresAt > new Date()) await forgetTokens(deps, login.id);
          },
          after: async (login) => {
            if (login.expiresAt > new Date()) await refuseTokens(deps, login.id);
          },
        },
      },
    },
    hooks: {
      // On the way to another service and back only a hash of the invitation is kept.
      before: createAuthMiddleware(async (ctx) => {
        const { invitation } = (ctx.body ?? {}) as { invitation?: unknown };
        if (ctx.path === '/sign-in/social' && typeof invitation === 'string' && invitation !== '')
          await addOAuthServerContext({ invitation: hashToken(invitation) });
      }),
    },
    plugins: [
      jwt({
        jwt: { issuer: publicUrl },
        // The default, EdDSA, is nothing that the verifier takes.
        jwks: { keyPairConfig: { alg: 'ES256' }, rotationInterval: 30 * days, gracePeriod: days },
        disableSettingJwtHeader: true,
        schema: { jwks: { modelName: 'signingKey' } },
      }),
      oauthProvider({
        loginPage: `${publicUrl}/sign-in`,
        consentPage: `${publicUrl}/consent`,
        scopes: allScopes,
        grantTypes: ['authorization_code', 'refresh_token'],
        resources: [{ identifier: audience, name: 'Relay', allowedScopes: allScopes }],
        resourceSeedMode: 'overwrite',
        enforcePerClientResources: false,
        accessTokenExpiresIn: 10 * minutes,
        codeExpiresIn: 10 * minutes,
        refreshTokenExpiresIn: 30 * days,
        refreshTokenReuseInterval: 30,
        prefix: { refreshToken: 'rly_urt_' },
        // Otherwise everybody who is signed in may register programs.
        clientPrivileges: () => false,
        resourcePrivileges: () => false,
        customAccessTokenClaims: ({ user, scopes }) => ({
          ...(user && scopes.includes('email') ? { email: user.email } : {}),
          ...(user && scopes.includes('profile') ? { name: user.name } : {}),
        }),
      }),
      upstreamProviders(config.authUpstream),
      accountEndpoints(deps),
    ],
  });
}
