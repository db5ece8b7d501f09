/** The arguments after `npm start --`. Everything else about a relay is a setting of its environment. */
import { parseArgs } from 'node:util';
import { Refused } from './refused.ts';

export const usage = `Usage: agent-session-relay [--lan] [options]

Starts the relay. Its settings are environment variables (docs/configuration.md).

  --lan               opens it to the local network by https, with its own certificate authority (docs/reach.md)
  --lan-host <host>   the address or name of this machine that phones use, instead of the address of its main network;
                      a name such as laptop.local survives a change of the address, and supports passkeys
  --lan-port <port>   the https port (4443); the next port serves the certificate
  --version           prints the version
  --help              prints this
`;

export interface LanOptions {
  readonly host: string | undefined;
  readonly port: number;
}

interface Arguments {
  /** Print this, and start nothing. */
  readonly only?: 'help' | 'version';
  readonly lan?: LanOptions;
}

/** @throws Refused that lists the valid arguments */
export function readArguments(args: readonly string[]): Arguments {
  const values = parsed(args);
  if (values.help) return { only: 'help' };
  if (values.version) return { only: 'version' };
  const { lan, 'lan-host': host, 'lan-port': port = '4443' } = values;
  if (!lan && (host !== undefined || values['lan-port'] !== undefined))
    throw new Refused('--lan-host and --lan-port need --lan.');
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_534)
    throw new Refused(`--lan-port is "${port}"; it must be a number from 1 to 65534.`);
  return lan ? { lan: { host, port: Number(port) } } : {};
}

function parsed(args: readonly string[]) {
  const options = {
    lan: { type: 'boolean' },
    'lan-host': { type: 'string' },
    'lan-port': { type: 'string' },
    version: { type: 'boolean' },
    help: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Refused(`${(error as Error).message}\n\n${usage}`);
  }
}
