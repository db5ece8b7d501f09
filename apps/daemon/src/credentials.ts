/** Stores the refresh token of the device in a file that only its owner can read (specification §4.1). */
import { lstatSync, rmSync } from 'node:fs';
import type { Home } from './home.ts';
import { exitCodes, Failure, readIfPresent, replaceOwnerFile, systemCode } from '@relay/daemon-kit';

export function writeCredentials(home: Home, refreshToken: string): void {
  replaceOwnerFile(home.credentialsFile, `${JSON.stringify({ refresh_token: refreshToken }, null, 2)}\n`);
}

/**
 * Returns the refresh token. Like ssh, refuses a file that is a link, belongs to another user, or is readable by
 * others.
 */
export function readCredentials(home: Home): string {
  const path = home.credentialsFile;
  const unsafe = (why: string, remedy: string) =>
    new Failure('CREDENTIALS_UNSAFE', `${path} ${why}. ${remedy}`, exitCodes.config);
  const again = 'Run "relay-daemon register --force".';
  let stat;
  try {
    stat = lstatSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new Failure('NO_CREDENTIALS', `${path} does not exist. ${again}`, exitCodes.config, { cause: error });
  }
  if (!stat.isFile()) throw unsafe('is not an ordinary file', again);
  if (process.platform !== 'win32') {
    if (stat.uid !== process.getuid?.()) throw unsafe('belongs to another user', again);
    if ((stat.mode & 0o077) !== 0) throw unsafe('may be read by other users', `Run "chmod 600 ${path}".`);
  }
  try {
    const value: unknown = JSON.parse(readIfPresent(path) ?? '');
    if (typeof value === 'object' && value !== null && 'refresh_token' in value) {
      const token = value.refresh_token;
      // A line break in the token would split the header.
      if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
    }
  } catch {
    // Falls through: the text of a parse error could show parts of the secret.
  }
  throw unsafe('holds no refresh token', again);
}

export function forgetCredentials(home: Home): void {
  rmSync(home.credentialsFile, { force: true });
}
