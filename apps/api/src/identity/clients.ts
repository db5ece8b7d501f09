/** The programs that the relay knows by itself, and what tokens are for. All public: PKCE proves them, no secret does. */
import { knownScopes } from '@relay/auth';
import type { FirstPartyClient } from '@relay/database';

/** With `offline_access` a program may get a refresh token; the web app has the browser's sign-in instead. */
const peopleScopes = ['openid', 'profile', 'email'];
export const allScopes = [...peopleScopes, 'offline_access', ...knownScopes];
const webScopes = [...peopleScopes, ...knownScopes];

/** The audience of access tokens: the claim `aud`. */
export const audienceOf = (publicUrl: string): string => `${publicUrl}/api`;

/** Redirect addresses match exactly; of a loopback address (RFC 8252 §7.3) any port does. */
export function firstPartyClients(publicUrl: string): FirstPartyClient[] {
  return [
    {
      clientId: 'relay-web',
      name: 'Web app',
      applicationType: 'web',
      redirectUris: [`${publicUrl}/callback`],
      postLogoutRedirectUris: [`${publicUrl}/`],
      scopes: webScopes,
      skipConsent: true,
    },
    {
      clientId: 'relay-mobile',
      name: 'Mobile app',
      applicationType: 'native',
      redirectUris: ['io.relay.mobile:/callback'],
      postLogoutRedirectUris: [],
      scopes: allScopes,
      skipConsent: false,
    },
    {
      clientId: 'relay-cli',
      name: 'Command line',
      applicationType: 'native',
      redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
      postLogoutRedirectUris: [],
      scopes: allScopes,
      skipConsent: false,
    },
  ];
}
