/**
 * Sign-in with an account elsewhere: GitHub, or any OpenID Connect service. An outage of the service only affects people who sign
 * in with it: the relay looks the service up on first use, not at the start. Only the name is kept from its answers.
 */
import type { UpstreamSettings } from '@relay/config';
import { RelayError } from '@relay/protocol';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError } from 'better-auth/api';
import { type GenericOAuthConfig, genericOAuth } from 'better-auth/plugins';
import { type UpstreamProfile, githubProfile, openIdProfile } from './upstream-profiles.ts';

type Initialised = Awaited<ReturnType<NonNullable<ReturnType<typeof genericOAuth>['init']>>>;
type Provider = NonNullable<NonNullable<Initialised['context']>['socialProviders']>[number];
type InitContext = Parameters<NonNullable<BetterAuthPlugin['init']>>[0];

/** The limit for all requests to the service within one request of ours. */
const patienceMs = 10_000;

const unavailable = (name: string, cause?: unknown) =>
  new RelayError(
    'SERVICE_UNAVAILABLE',
    `${name} does not answer. Try again in a few seconds, or sign in another way.`,
    {
      retryAfter: 5,
      cause,
    },
  );

function withinPatience<T>(name: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(name)), patienceMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function configOf(settings: UpstreamSettings): GenericOAuthConfig {
  const common = {
    providerId: settings.id,
    clientId: settings.clientId,
    ...(settings.clientSecret === undefined ? {} : { clientSecret: settings.clientSecret }),
    pkce: true,
  };
  if (settings.kind === 'github') {
    const { address } = settings;
    const api = address === 'https://github.com' ? 'https://api.github.com' : `${address}/api/v3`;
    return {
      ...common,
      authorizationUrl: `${address}/login/oauth/authorize`,
      tokenUrl: `${address}/login/oauth/access_token`,
      scopes: ['read:user', 'user:email'],
      getUserInfo: async (tokens) => {
        const profile = await githubProfile(api, tokens, patienceMs);
        return profile && { emailVerified: profile.user.emailVerified, profile };
      },
    };
  }
  return {
    ...common,
    discoveryUrl: `${settings.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    scopes: ['openid', 'email', 'profile'],
  };
}

/** The provider as the library makes it, once the service can be reached. @throws RelayError SERVICE_UNAVAILABLE */
function lookUp(settings: UpstreamSettings, context: InitContext): () => Promise<Provider> {
  const look = async (): Promise<Provider> => {
    const made = await genericOAuth({ config: [configOf(settings)] }).init?.({ ...context, socialProviders: [] });
    const provider = made?.context?.socialProviders?.[0];
    if (!provider) throw unavailable(settings.name);
    // This check keeps another service's document from acting under this one's name.
    if (settings.kind === 'oidc' && provider.issuer !== settings.issuer)
      throw unavailable(settings.name, new Error(`it calls itself ${String(provider.issuer)}, not ${settings.issuer}`));
    return provider;
  };
  let cached: Promise<Provider> | undefined;
  return () =>
    (cached ??= withinPatience(settings.name, look()).catch((error: unknown) => {
      cached = undefined;
      throw error;
    }));
}

/** The properties of a provider that the library needs before the endpoints of the service are known. */
function provider(settings: UpstreamSettings, context: InitContext): Provider {
  const found = lookUp(settings, context);
  const ask = <T>(work: (upstream: Provider) => T | Promise<T>): Promise<T> =>
    withinPatience(
      settings.name,
      found().then((upstream) => work(upstream)),
    );
  const isOpenId = settings.kind === 'oidc';
  return {
    id: settings.id,
    name: settings.name,
    ...(isOpenId ? { issuer: settings.issuer } : {}),
    // The ID token has to be the answer to this very question.
    requiresIdTokenNonce: isOpenId,
    accountSubject: ({ profile }) => (profile as UpstreamProfile).subject,
    // Neither scopes nor parameters that a page asks for: the question is always the same.
    createAuthorizationURL: async ({ state, codeVerifier, redirectURI, idTokenNonce }) => {
      const nonce = idTokenNonce === undefined ? {} : { idTokenNonce };
      try {
        return await ask((upstream) => upstream.createAuthorizationURL({ state, codeVerifier, redirectURI, ...nonce }));
      } catch (error) {
        if (!(error instanceof RelayError)) throw error;
        context.logger.warn(`the sign-in service ${settings.id} cannot be used`, error.cause ?? error);
        throw new APIError('SERVICE_UNAVAILABLE', { ...error.body });
      }
    },
    // A person who returns from the service always gets a page: it shows any failure from here on.
    validateAuthorizationCode: (data) => ask((upstream) => upstream.validateAuthorizationCode(data)),
    getUserInfo: async (tokens) => {
      const answer = await ask((upstream) => upstream.getUserInfo(tokens)).catch(() => null);
      if (!answer) return null;
      const profile = isOpenId
        ? openIdProfile(tokens, answer.data, settings.clientId)
        : (answer.data as unknown as { profile: UpstreamProfile }).profile;
      return profile && { user: { ...profile.user }, data: profile };
    },
  };
}

/** The services that are configured, as providers of the library. */
export const upstreamProviders = (upstreams: readonly UpstreamSettings[]): BetterAuthPlugin => ({
  id: 'relay-upstream',
  init: (context) => ({
    context: { socialProviders: upstreams.map((settings) => provider(settings, context)) },
  }),
});
