/** Where a client that knows only the address of the relay finds who signs people in (RFC 9728). Needs no credential. */
import type { Express } from 'express';
import { type Scope, agentScope } from '@relay/auth';
import type { RelayConfig } from '@relay/config';
import { type Route, acpScopes, routes } from '@relay/protocol';

const maxAgeSeconds = 300;

/** The address of the document about a resource of the relay: of its API, or of the tools of agents. */
export const protectedResourceOf = (publicUrl: string, resource: 'api' | 'mcp' | 'acp'): string =>
  `${publicUrl}/.well-known/oauth-protected-resource/${resource}`;

/**
 * GET `/.well-known/oauth-protected-resource/api`, `…/mcp` and `…/acp` (for every device), and the first also without the last part for clients that do not know the
 * resource: `{resource, authorization_servers, scopes_supported, bearer_methods_supported, resource_name}`. The servers are the built-in
 * sign-in first, then `AUTH_ISSUERS`.
 */
export function mountProtectedResource(app: Express, config: RelayConfig, builtin: string | undefined): void {
  const scopes = new Set<Scope>();
  for (const { scope = [] } of Object.values<Route>(routes)) for (const one of [scope].flat()) scopes.add(one);
  const serve = (paths: string[], resource: 'api' | 'mcp' | 'acp', supported: readonly Scope[], name: string) => {
    const document = {
      resource: `${config.publicUrl}/${resource}`,
      authorization_servers: [
        ...(builtin === undefined ? [] : [builtin]),
        ...config.authIssuers.map(({ issuer }) => issuer),
      ],
      scopes_supported: supported,
      bearer_methods_supported: ['header'],
      resource_name: name,
    };
    app.get(paths, (_request, response) => {
      response.setHeader('Cache-Control', `public, max-age=${maxAgeSeconds}`);
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.json(document);
    });
  };
  const place = '/.well-known/oauth-protected-resource';
  serve([place, `${place}/api`], 'api', [...scopes], 'Agent session relay');
  serve([`${place}/mcp`], 'mcp', [agentScope], 'Agent session relay, for agents');
  serve([`${place}/acp`, `${place}/acp/:id`], 'acp', acpScopes, 'Agent session relay, for ACP clients');
}
