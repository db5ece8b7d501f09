/** The code that the programs that start an instance share. */
import { readFileSync } from 'node:fs';
import { BackplaneError, RedisAddressError } from '@relay/backplane';
import { ConfigError } from '@relay/config';
import { DatabaseError } from '@relay/database';

const forPeople = [ConfigError, DatabaseError, BackplaneError, RedisAddressError];

/** Whether an error of the start was written for people: its message says what to do. */
export const isForPeople = (error: unknown): boolean => forPeople.some((kind) => error instanceof kind);

/** The version in the package.json above the folder of this module (`import.meta.url`). */
export function versionOf(moduleUrl: string): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', moduleUrl), 'utf8')) as { version: string };
  return version;
}
