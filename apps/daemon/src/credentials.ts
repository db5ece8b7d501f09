/** Stores the refresh token of the device in a file that only its owner can read (specification §4.1). */
import { rmSync } from 'node:fs';
import { Failure, readOwnerFile, replaceOwnerFile } from '@relay/machine';
import type { Home } from './home.ts';
import { exitCodes } from '@relay/daemon-kit';

export function writeCredentials(home: Home, refreshToken: string): void {
  replaceOwnerFile(home.credentialsFile, `${JSON.stringify({ refresh_token: refreshToken }, null, 2)}\n`);
}

/** Returns the refresh token. @throws Failure NO_CREDENTIALS, CREDENTIALS_UNSAFE */
export function readCredentials(home: Home): string {
  const path = home.credentialsFile;
  const again = 'Run "relay-daemon register --force".';
  const text = readOwnerFile(path, again, exitCodes.config);
  if (text === undefined) throw new Failure('NO_CREDENTIALS', `${path} does not exist. ${again}`, exitCodes.config);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'refresh_token' in value) {
      const token = value.refresh_token;
      // A line break in the token would split the header.
      if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
    }
  } catch {
    // Falls through: the text of a parse error could show parts of the secret.
  }
  throw new Failure('CREDENTIALS_UNSAFE', `${path} holds no refresh token. ${again}`, exitCodes.config);
}

export function forgetCredentials(home: Home): void {
  rmSync(home.credentialsFile, { force: true });
}
