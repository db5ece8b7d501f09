/**
 * Registration of programs that run agents (RFC 7591), as clients of MCP expect it. Nothing is stored and nothing can be made up: each
 * gets the one client that the relay has for all of them (§3.2.1 allows it), which leads back to the same computer only.
 */
import { agentClientId, agentDefaultScopes, agentRedirects, isAgentRedirect } from './clients.ts';

/** The answer to a registration: 201 with the client and the redirect addresses that the relay accepts, or 400 with an error of RFC 7591. */
export function registerClient(metadata: Readonly<Record<string, unknown>>): { status: 201 | 400; body: object } {
  const given = metadata['redirect_uris'];
  const redirects = Array.isArray(given) && given.length <= 20 ? given.filter(isAgentRedirect) : [];
  if (redirects.length === 0)
    return {
      status: 400,
      body: {
        error: 'invalid_redirect_uri',
        error_description: `Only programs on the computer of the person can register, with redirect addresses such as ${agentRedirects[0] ?? ''} on any port.`,
      },
    };
  return {
    status: 201,
    body: {
      client_id: agentClientId,
      client_name: 'Agents (MCP)',
      redirect_uris: redirects,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      scope: agentDefaultScopes.join(' '),
    },
  };
}
