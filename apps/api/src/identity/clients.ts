/**
 * The programs that the relay knows by itself, and the purpose of their tokens. All are public clients: PKCE proves them, no
 * secret does.
 */
import { agentAnswerScope, agentScope, knownScopes, ordinaryScopes } from '@relay/auth';
import type { FirstPartyClient } from '@relay/database';
import { acpScopes } from '@relay/protocol';

/** `offline_access` lets a program receive a refresh token; the web app uses the browser's sign-in instead. */
const peopleScopes = ['openid', 'profile', 'email'];
export const allScopes = [...peopleScopes, 'offline_access', ...knownScopes];
const webScopes = [...peopleScopes, ...ordinaryScopes];
const programScopes = [...webScopes, 'offline_access'];
/** Scopes that a program that runs agents gets unless it asks for more: the tools at `/mcp`, for sessions that it starts. */
export const agentDefaultScopes = [agentScope, 'offline_access'];
/** All scopes that it can ask for. */
export const agentScopes = [...agentDefaultScopes, agentAnswerScope];

/** Scopes for ACP clients: sessions only. */
export const acpAppScopes = [...acpScopes, 'offline_access'];

/** The audience of access tokens: the claim `aud`. */
export const audienceOf = (publicUrl: string): string => `${publicUrl}/api`;
/** The audience of access tokens for the tools of agents (RFC 8707: clients of MCP name the address that they call). */
export const agentAudienceOf = (publicUrl: string): string => `${publicUrl}/mcp`;
/** The audience of access tokens that ACP clients ask for. */
export const acpAudienceOf = (publicUrl: string): string => `${publicUrl}/acp`;

/** The client of every program that runs agents: these programs have neither a secret nor a verifiable name. */
export const agentClientId = 'relay-mcp';
/** Where known programs wait for the code, each on a port of its own. The library has these; `isAgentRedirect` accepts others. */
const agentPaths = ['/callback', '/', '/oauth/callback', '/oauth_callback', '/mcp/oauth/callback'];
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];
export const agentRedirects = [
  ...loopbackHosts.flatMap((host) => agentPaths.map((path) => `http://${host}${path}`)),
  'cursor://anysphere.cursor-mcp/oauth/callback',
];

/** Whether the address leads to a program on the computer of the person: any port and path of a loopback address, or Cursor's own scheme. */
export function isAgentRedirect(address: unknown): address is string {
  if (typeof address !== 'string' || address.length > 512 || /[?#@\s\\]/.test(address) || !URL.canParse(address))
    return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'cursor:' || (protocol === 'http:' && loopbackHosts.includes(hostname));
}

/** The client of the pages. Its person is not asked, so its code goes to one address alone. */
export const webClientId = 'relay-web';
export const webRedirect = (publicUrl: string): string => `${publicUrl}/callback`;

/** Redirect addresses match exactly; for native programs any port of a loopback address does (RFC 8252 §7.3). The door compares the address of the pages. */
export function firstPartyClients(publicUrl: string): FirstPartyClient[] {
  return [
    {
      clientId: webClientId,
      name: 'Web app',
      applicationType: 'web',
      redirectUris: [webRedirect(publicUrl)],
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
      scopes: programScopes,
      skipConsent: false,
    },
    {
      clientId: 'relay-cli',
      name: 'Command line',
      applicationType: 'native',
      redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
      postLogoutRedirectUris: [],
      scopes: programScopes,
      skipConsent: false,
    },
    {
      clientId: agentClientId,
      name: 'Agents (MCP)',
      applicationType: 'native',
      redirectUris: agentRedirects,
      postLogoutRedirectUris: [],
      scopes: agentScopes,
      skipConsent: false,
    },
  ];
}
