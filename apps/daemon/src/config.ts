/** The config record of a registration (specification §4.1): everything but the secret. */
import { rmSync } from 'node:fs';
import type { Home } from './home.ts';
import { exitCodes, Failure, readIfPresent, reasonOf, replaceOwnerFile } from '@relay/daemon-kit';

export interface Config {
  /** Base address of the relay, without a slash at the end. */
  server: string;
  device_id: string;
  hostname: string;
  name: string;
  agent_type: string;
  registered_at: string;
}

const fields = ['server', 'device_id', 'hostname', 'name', 'agent_type', 'registered_at'] as const;

/** undefined when this home has no registration. A file that cannot be understood is a Failure, never an empty config. */
export function readConfig(home: Home): Config | undefined {
  const text = readIfPresent(home.configFile);
  if (text === undefined) return undefined;
  const broken = (why: string) =>
    new Failure(
      'CONFIG_BROKEN',
      `${home.configFile} cannot be used: ${why}. Run "relay-daemon register --force" to write it anew.`,
      exitCodes.config,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw broken(reasonOf(error));
  }
  if (typeof value !== 'object' || value === null) throw broken('it is not a JSON object');
  const record = value as Record<string, unknown>;
  const missing = fields.find((field) => typeof record[field] !== 'string' || record[field] === '');
  if (missing) throw broken(`"${missing}" is missing`);
  return value as Config;
}

/** Like `readConfig`, for commands that cannot do anything without a registration. */
export function requireConfig(home: Home): Config {
  const config = readConfig(home);
  if (config) return config;
  throw new Failure(
    'NOT_REGISTERED',
    `This machine is not registered (no ${home.configFile}). Run "relay-daemon register --server <address>" first.`,
    exitCodes.config,
  );
}

export function writeConfig(home: Home, config: Config): void {
  replaceOwnerFile(home.configFile, `${JSON.stringify(config, null, 2)}\n`);
}

export function forgetConfig(home: Home): void {
  rmSync(home.configFile, { force: true });
}
