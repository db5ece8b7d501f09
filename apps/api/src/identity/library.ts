/**
 * better-auth with the settings of this relay. A setting that closes an attack has a test that shows it failing
 * (test/identity/attacks.test.ts); the library's own defaults differ.
 */
import { createHash } from 'node:crypto';
import { oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth } from 'better-auth';
import { prismaAdapter } from 'better-auth/adapters/prisma';
import { jwt } from 'better-auth/plugins';
import { createSignInLimits } from '../http/rate-limit.ts';
import { addressHeader } from './audit.ts';
import { accountEndpoints, maxPasswordLength, minPasswordLength } from './account-endpoints.ts';
import { accountHooks } from './account-hooks.ts';
import { acpAppScopes, acpAudienceOf, agentAudienceOf, agentScopes, allScopes, audienceOf } from './clients.ts';
import type { IdentityDeps } from './deps.ts';
import { passkeyPlugin } from './passkeys.ts';
import { createPasswords } from './passwords.ts';
import { secondFactorPlugin } from './second-factor.ts';
import type { LibraryStorage } from './storage.ts';
import { upstreamProviders } from './upstream.ts';

const minutes = 60;
const days = 24 * 60 * minutes;

export const basePath = '/auth';
/** `__Host-`: no other host of the domain can set such a cookie. */
export const cookiePrefix = (publicUrl: string) => (publicUrl.startsWith('https:') ? '__Host-relay' : 'relay');
/** Every secret keeps its number when the list changes, so that text encrypted with the second one stays readable. */
const numbered = (secret: string) => ({
  version: createHash('sha256').update(secret).digest().readUInt32BE(0),
  value: secret,
});

export type Library = ReturnType<typeof createLibrary>;

export function createLibrary(deps: IdentityDeps, storage: LibraryStorage) {
  const { config, logger } = deps;
  const { publicUrl } = config;
  const audience = audienceOf(publicUrl);
  const isHttps = publicUrl.startsWith('https:');
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
      // This keeps the library from writing refusals, which are not faults, to the console.
      onError: (error) => {
        // Our own endpoints and hooks ask the database too.
        // The library has two classes of refusals, and throws the second one before it looks at a body.
        const { statusCode } = (error ?? {}) as { statusCode?: unknown };
        if (typeof statusCode === 'number' && statusCode < 500) return;
        if (!storage.noteFailure(error)) logger.error({ err: error }, 'the sign-in failed');
      },
    },
    logger: {
      level: 'warn',
      // Most of it is the mistyped input of strangers, and can quote it: the beginning of the sentence is the library's own.
      log: (level, message) => logger.debug({ room: 'sign-in', severity: level }, message.split(/[:"'`(]/, 1)[0] ?? ''),
    },
    // `/token` sells a sign-in as a bearer, and a device code must never buy one. The door lets few other paths in.
    disabledPaths: ['/token', '/device/token'],
    emailAndPassword: {
      enabled: true,
      minPasswordLength,
      maxPasswordLength,
      autoSignIn: true,
      password: createPasswords(deps.passwords),
    },
    user: { modelName: 'user' },
    // Here a session is a conversation.
    // The age of a sign-in is judged here (rules, 8.11), not by the library.
    session: { modelName: 'login', expiresIn: 30 * days, updateAge: 5 * minutes, freshAge: 0 },
    // An e-mail address is never an account key: who comes from elsewhere with an address that is taken is refused.
    account: { modelName: 'credential', accountLinking: { enabled: false }, updateAccountOnSignIn: false },
    verification: { modelName: 'verification' },
    rateLimit: {
      enabled: true,
      customStorage: createSignInLimits(deps.backplane),
      window: 60,
      max: config.rateLimitPerMinute,
      customRules: {
        '/jwks': false,
        '/oauth2/*': { window: 60, max: config.rateLimitPerMinute },
        '/sign-in/*': { window: 60, max: config.signInPerMinute },
        '/sign-up/*': { window: 60, max: config.signInPerMinute },
        '/change-password': { window: 60, max: config.signInPerMinute },
        '/two-factor/*': { window: 60, max: config.signInPerMinute },
        '/passkey/*': { window: 60, max: config.signInPerMinute },
        '/relay/confirm': { window: 60, max: config.signInPerMinute },
        '/relay/invitations/check': { window: 60, max: config.signInPerMinute },
      },
    },
    advanced: {
      cookiePrefix: cookiePrefix(publicUrl),
      // The library would put its own `__Secure-` before it.
      useSecureCookies: false,
      defaultCookieAttributes: { sameSite: 'lax', httpOnly: true, secure: isHttps, path: '/' },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // The library leaves both out where NODE_ENV is "test".
      disableOriginCheck: false,
      disableCSRFCheck: false,
    },
    ...accountHooks(deps, storage),
    plugins: [
      jwt({
        jwt: { issuer: publicUrl },
        // The default, EdDSA, is nothing that the verifier takes.
        jwks: { keyPairConfig: { alg: 'ES256' }, rotationInterval: 30 * days, gracePeriod: days },
        disableSettingJwtHeader: true,
        schema: { jwks: { modelName: 'signingKey' } },
      }),
      // Before the next plugin, which answers a sign-in with a code: a sign-in that waits for its second step receives no code.
      secondFactorPlugin(publicUrl),
      passkeyPlugin(deps),
      oauthProvider({
        loginPage: `${publicUrl}/sign-in`,
        consentPage: `${publicUrl}/consent`,
        scopes: allScopes,
        grantTypes: ['authorization_code', 'refresh_token'],
        resources: [
          { identifier: audience, name: 'Relay', allowedScopes: allScopes },
          { identifier: agentAudienceOf(publicUrl), name: 'Relay for agents', allowedScopes: agentScopes },
          { identifier: acpAudienceOf(publicUrl), name: 'Relay for ACP clients', allowedScopes: acpAppScopes },
        ],
        resourceSeedMode: 'overwrite',
        enforcePerClientResources: false,
        accessTokenExpiresIn: 10 * minutes,
        codeExpiresIn: 10 * minutes,
        refreshTokenExpiresIn: 30 * days,
        refreshTokenReuseInterval: 30,
        prefix: { refreshToken: 'rly_urt_' },
        // Otherwise every signed-in person could register programs.
        clientPrivileges: () => false,
        resourcePrivileges: () => false,
        customAccessTokenClaims: ({ user, scopes }) => ({
          chain: storage.chain(),
          ...(user && scopes.includes('email') ? { email: user.email } : {}),
          ...(user && scopes.includes('profile') ? { name: user.name } : {}),
        }),
      }),
      upstreamProviders(config.authUpstream),
      accountEndpoints(deps),
    ],
  });
}
