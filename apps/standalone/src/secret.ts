/** The secret of the built-in sign-in where none is configured: made once, kept in the data folder for its owner alone. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RelayConfig } from '@relay/config';
import { makeDataFolder, refusedFolder } from '@relay/database';

/** The built-in sign-in and the addresses to notify need a secret; where none is configured, one is made and kept. */
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
 * The secret of this folder: 256 bits, base64url; made the first time (file mode 600, folder mode 700 if it is made too).
 * @throws DatabaseError DATA_DIR_UNUSABLE that says what to do; Error that names the file if what is in it cannot be a secret
 */
export function keptSecret(dataDir: string): string {
  const file = join(dataDir, fileName);
  makeDataFolder(dataDir);
  let secret: string;
  try {
    if (!existsSync(file)) create(file);
    // A copy or a backup may have opened it to others.
    chmodSync(file, 0o600);
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw refusedFolder(dataDir, error) ?? error;
  }
  if (secret.length < minLength)
    throw new Error(`${file} holds no secret. Restore it from a backup; or delete it, then everybody signs in again.`);
  return secret;
}

/** Appears whole or not at all; if another process was first, its secret stays. */
function create(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
