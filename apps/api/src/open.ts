/** An api with everything it needs to know who is asking: the built-in sign-in, if configured, and the issuers it trusts. */
import { type IssuerConfig, createJwtVerifier, openDevIssuer } from '@relay/auth';
import type { ApiDeps } from './deps.ts';
import type { IdentityDeps } from './identity/deps.ts';
import { type Identity, createIdentity } from './identity/identity.ts';
import { type Api, createApi } from './server.ts';

interface OpenApi {
  readonly api: Api;
  /** Present with `authBuiltin`. */
  readonly identity: Identity | undefined;
  /** Printed at the start: where to create the first account, until it exists. */
  readonly welcome: readonly string[];
}

interface OpenApiDeps extends Omit<ApiDeps, 'jwtVerifier' | 'identity'> {
  /** Issuers to trust besides the configured ones. Default: an empty list. */
  issuers?: readonly IssuerConfig[] | undefined;
  /** As in `IdentityDeps`. */
  passwords?: IdentityDeps['passwords'];
}

/** Reads the keys of the sign-in from the database, or makes them. @throws DatabaseError when that cannot be had */
export async function openApi({ issuers: further = [], passwords, ...deps }: OpenApiDeps): Promise<OpenApi> {
  const { config } = deps;
  const identity = config.authBuiltin ? await createIdentity({ ...deps, passwords }) : undefined;
  const issuers = [
    ...(identity ? [identity.issuer] : []),
    ...further,
    ...config.authIssuers,
    ...(config.authDevIssuer ? [openDevIssuer(config.dataDir, { audience: `${config.publicUrl}/api` }).config] : []),
  ];
  const api = createApi({ ...deps, identity, jwtVerifier: createJwtVerifier({ issuers }) });
  const setupLink = identity?.setupLink;
  return { api, identity, welcome: setupLink === undefined ? [] : [`Create the first account: ${setupLink}`] };
}
