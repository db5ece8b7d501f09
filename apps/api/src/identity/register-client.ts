/**
 * Registration of programs that run agents (RFC 7591), as clients of MCP expect it. Nothing is stored and nothing can be made up: each
 * gets the one client that the relay has for all of them (§3.2.1 allows it), which leads back to the same computer only.
 */
import { agentClientId, agentDefaultScopes, agentRedirects } from './clients.ts';

const known = new Set(agentRedirects);

/** The address without its port, which is free on a loopback address (RFC 8252 §7.3). */
function withoutPort(address: unknown): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  url.port = '';
  return url.href;
}

/** The answer to a registration: 201 with the client, or 400 with an error of RFC 7591. */
export function registerClient(asked: Readonly<Record<string, unknown>>): { status: 201 | 400; body: object } {
  const redirects = asked['redirect_uris'];
  const fits = Array.isArray(redirects) && redirects.length > 0 && redirects.length <= 20;
  if (!fits || !redirects.every((one) => known.has(withoutPort(one) ?? '')))
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
