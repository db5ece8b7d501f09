/** An api with everything it needs to know who is asking: the built-in sign-in, if configured, and the issuers it trusts. */
import { createJwtVerifier, openDevIssuer } from '@relay/auth';
import type { ApiDeps } from './deps.ts';
import { createIdentity } from './identity/identity.ts';
import { type Api, createApi } from './server.ts';

export interface OpenApi {
  readonly api: Api;
  /** Where the first account is created, as long as there is none. */
  readonly setupLink: string | undefined;
}

/** Reads the keys of the sign-in from the database, or makes them. @throws DatabaseError when that cannot be had */
export async function openApi(deps: Omit<ApiDeps, 'jwtVerifier' | 'identity'>): Promise<OpenApi> {
  const { config } = deps;
  const identity = config.authBuiltin ? await createIdentity(deps) : undefined;
  const issuers = [
    ...(identity ? [identity.issuer] : []),
    ...config.authIssuers,
    ...(config.authDevIssuer ? [openDevIssuer(config.dataDir, { audience: `${config.publicUrl}/api` }).config] : []),
  ];
  const api = createApi({ ...deps, identity, jwtVerifier: createJwtVerifier({ issuers }) });
  return { api, setupLink: identity?.setupLink };
}
