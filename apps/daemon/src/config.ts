/** The config record of a registration (specification §4.1): everything but the secret. */
import { rmSync } from 'node:fs';
import type { Home } from './home.ts';
import { Failure, exitCodes, reasonOf } from './failure.ts';
import { readIfPresent, replaceOwnerFile } from './owner-file.ts';

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

/**
 * A base address as a person types it → how it is stored. Throws a Failure (usage) for anything but http and https, and for
 * an address that carries a user, a query or a fragment.
 */
export function serverAddress(text: string): string {
  const refuse = (why: string) =>
    new Failure(
      'BAD_SERVER',
      `"${text}" is not the address of a relay: ${why}. Example: http://localhost:4000`,
      exitCodes.usage,
    );
  if (!URL.canParse(text)) throw refuse('it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('it must begin with http:// or https://');
  if (url.username || url.password || url.search || url.hash) throw refuse('it may hold only host, port and path');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** http://host/path → ws://host/path/ws/daemon, and https → wss (specification §4.2: same host). */
export function daemonSocketAddress(server: string): string {
  return `${serverAddress(server).replace(/^http/, 'ws')}/ws/daemon`;
}

/** True when a credential sent to this address could be read on the way. */
export function travelsInClear(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
