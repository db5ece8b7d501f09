/** Rotation of the key for push services of browsers, from the command line of the relay. */
import type { RelayConfig } from '@relay/config';
import { type Database, rotateServerKey } from '@relay/database';
import { createSeal } from './sealed.ts';
import { makeVapidKey, vapidPurpose } from './vapid.ts';

/**
 * Makes a new key for browsers; browsers with the previous key stay reachable for 90 days. Every api has the new key within a
 * minute. Returns its public half; undefined if the operator provides the keys (`VAPID_PRIVATE_KEY`) or no secret can seal it.
 */
export async function rotatePushKey({
  config,
  database,
}: {
  config: Pick<RelayConfig, 'pushSecret' | 'vapidPrivateKey'>;
  database: Database;
}): Promise<string | undefined> {
  if (config.vapidPrivateKey.length > 0 || config.pushSecret.length === 0) return undefined;
  const { publicKey, privatePem } = makeVapidKey();
  await rotateServerKey(database, vapidPurpose, { publicKey, sealed: createSeal(config.pushSecret).seal(privatePem) });
  return publicKey;
}
