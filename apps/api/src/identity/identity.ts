/** The built-in sign-in of one instance: an issuer of access tokens like any other, and the pages' other half. */
import type { IssuerConfig, Revocation } from '@relay/auth';
import { forgetSigningKeys, seedClients } from '@relay/database';
import type { Express } from 'express';
import { acpAudienceOf, agentAudienceOf, audienceOf, firstPartyClients } from './clients.ts';
import type { IdentityDeps } from './deps.ts';
import { mountSignIn } from './door.ts';
import { endStolenChain, revokedLately } from './end-sign-in.ts';
import { cookiePrefix, createLibrary } from './library.ts';
import { createResigner } from './older-secrets.ts';
import { resealSecondFactors } from './second-factor.ts';
import { renewSetupLink } from './sign-up.ts';
import { createLibraryStorage } from './storage.ts';

export interface Identity {
  /** Configures the verifier of access tokens. Its keys come from the database, without a request. */
  readonly issuer: IssuerConfig;
  /** The revocations that a verifier that starts now has to refuse. */
  readonly revoked: readonly Revocation[];
  /** Reads revocations that an instance cut off from the others can have missed. Rejects if the database is unreachable. */
  revokedLately(): Promise<Revocation[]>;
  /** Where the first account is created: good for one account, until the next start. Undefined when there are accounts. */
  readonly setupLink: string | undefined;
  /** A link for the first account again, once the last one is gone. Undefined when there are accounts. */
  renewSetupLink(): Promise<string | undefined>;
  /** Adds `/auth/*` and `/.well-known/*`. */
  mount(app: Express): void;
}

/**
 * A lost AUTH_SECRET takes the signing keys with it. The relay makes new ones; tokens signed with the old keys become invalid at
 * once.
 */
async function forgetUnreadableKeys({ database, logger }: IdentityDeps, sign: () => Promise<void>): Promise<void> {
  try {
    await sign();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('decrypt')) throw error;
    logger.warn(
      'AUTH_SECRET is not the one that encrypted the signing keys: new keys are made, and people sign in again',
    );
    await forgetSigningKeys(database);
    await sign();
  }
}

/** Writes the clients, and a link for the first account if it is missing. Rejects if the database is unreachable. */
export async function createIdentity(deps: IdentityDeps): Promise<Identity> {
  const { config, database } = deps;
  if (config.authSecret.length === 0) throw new TypeError('the built-in sign-in has no secret');
  const storage = createLibraryStorage(database, (token) => endStolenChain(deps, token));
  const library = createLibrary(deps, storage);
  await forgetUnreadableKeys(deps, async () => {
    await library.api.signJWT({ body: { payload: {} } });
  });
  const { secretConfig, authCookies } = await library.$context;
  await resealSecondFactors(deps, secretConfig);
  const resign = createResigner({
    secrets: config.authSecret,
    prefix: cookiePrefix(config.publicUrl),
    lasting: [authCookies.sessionToken, authCookies.dontRememberToken],
  });
  await seedClients(database, firstPartyClients(config.publicUrl));
  return {
    issuer: {
      issuer: config.publicUrl,
      audience: [audienceOf(config.publicUrl), agentAudienceOf(config.publicUrl), acpAudienceOf(config.publicUrl)],
      ownAccounts: true,
      algorithms: ['ES256'],
      keys: async () => (await library.api.getJwks()).keys,
    },
    revoked: await revokedLately(deps),
    revokedLately: () => revokedLately(deps),
    setupLink: await renewSetupLink(deps),
    renewSetupLink: () => renewSetupLink(deps),
    mount: (app) => mountSignIn(app, library, { storage, resign }, deps),
  };
}
