/**
 * The secret of the built-in sign-in if it is not configured: created once, stored in the data folder for its owner
 * alone.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { RelayConfig } from '@relay/config';
import { keep, readKept } from './kept-file.ts';

/** The built-in sign-in and notification addresses need a secret; creates and stores one unless it is configured. */
export function withSecret(config: RelayConfig): RelayConfig {
  if (config.authBuiltin && config.authSecret.length === 0) {
    const secret = [keptSecret(config.dataDir)];
    return { ...config, authSecret: secret, pushSecret: config.pushSecret.length > 0 ? config.pushSecret : secret };
  }
  return config.pushSecret.length > 0 ? config : { ...config, pushSecret: [keptSecret(config.dataDir)] };
}

const fileName = 'auth-secret';
const minLength = 32;

/**
 * The secret of this folder: 256 bits, base64url; created on first use (file mode 600, and folder mode 700 for a new
 * folder).
 * @throws DatabaseError DATA_DIR_UNUSABLE with advice; Error that names the file if its content is not a valid secret
 */
export function keptSecret(dataDir: string): string {
  const secret = readKept(dataDir, fileName) ?? keep(dataDir, fileName, randomBytes(32).toString('base64url'));
  if (secret.length < minLength)
    throw new Error(
      `${join(dataDir, fileName)} holds no secret. Restore it from a backup; or delete it: then all people must sign in and add their addresses to notify again, and relay-admin rotate-push-key makes a new key for browsers.`,
    );
  return secret;
}
