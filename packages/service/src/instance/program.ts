/** The code that the programs that start an instance share. */
import { existsSync, readFileSync } from 'node:fs';
import { BackplaneError, InstallationError, RedisAddressError } from '@relay/backplane';
import { ConfigError } from '@relay/config';
import { DatabaseError } from '@relay/database';

const forPeople = [ConfigError, DatabaseError, BackplaneError, RedisAddressError, InstallationError];

/** Whether the message of a startup error is written for people: it gives advice. */
export const isForPeople = (error: unknown): boolean => forPeople.some((kind) => error instanceof kind);

/**
 * The version in the package.json above the folder of this module (`import.meta.url`). A development build is a pre-release of the next minor
 * version, with its commit, which `build.json` beside the module has.
 */
export function versionOf(moduleUrl: string): string {
  const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, moduleUrl), 'utf8'));
  const { version } = read('../package.json') as { version: string };
  const { commit } = existsSync(new URL('build.json', moduleUrl)) ? (read('build.json') as { commit?: string }) : {};
  if (commit === undefined) return version;
  const [major, minor] = version.split('.').map(Number);
  return `${major}.${minor! + 1}.0-dev.${commit}`;
}
