/** Where a client that knows only the address of the relay finds who signs people in (RFC 9728). Needs no credential. */
import type { Express } from 'express';
import type { RelayConfig } from '@relay/config';
import { type Route, type Scope, routes } from '@relay/protocol';

const maxAgeSeconds = 300;

/**
 * GET `/.well-known/oauth-protected-resource/api`, and without the last part for clients that do not know the resource:
 * `{resource, authorization_servers, scopes_supported, bearer_methods_supported, resource_name}`. The servers are the built-in sign-in
 * first, then `AUTH_ISSUERS`.
 */
export function mountProtectedResource(app: Express, config: RelayConfig, builtin: string | undefined): void {
  const scopes = new Set<Scope>();
  for (const { scope = [] } of Object.values<Route>(routes)) for (const one of [scope].flat()) scopes.add(one);
  const document = {
    resource: `${config.publicUrl}/api`,
    authorization_servers: [
      ...(builtin === undefined ? [] : [builtin]),
      ...config.authIssuers.map(({ issuer }) => issuer),
    ],
    scopes_supported: [...scopes],
    bearer_methods_supported: ['header'],
    resource_name: 'Agent session relay',
  };
  app.get(
    ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/api'],
    (_request, response) => {
      response.setHeader('Cache-Control', `public, max-age=${maxAgeSeconds}`);
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.json(document);
    },
  );
}
