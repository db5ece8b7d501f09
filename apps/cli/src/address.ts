/** The relay that a command talks to. */
import { baseAddress, travelsInClear } from '@relay/protocol';
import { Failure, exitCodes, usage } from './failure.ts';
import type { Home } from './home.ts';
import { readProfiles } from './profiles.ts';
import type { CommonOptions } from './terminal.ts';

export const localRelay = 'http://localhost:4000';

/** A base address as a person types it → how it is stored. Throws a Failure (usage) for anything else. */
function relayAddress(text: string): string {
  const base = baseAddress(text);
  if ('address' in base) return base.address;
  throw usage(`"${text}" is not a relay address: ${base.why}. Example: https://relay.example.com`);
}

/** The chosen address: `--url`, else RELAY_CLI_URL; undefined without either. */
export function chosenAddress({ url }: CommonOptions, env: NodeJS.ProcessEnv): string | undefined {
  const chosen = url ?? (env.RELAY_CLI_URL || undefined);
  return chosen === undefined ? undefined : relayAddress(chosen);
}

/** The chosen relay, else the one that was signed in to last. Throws a Failure when there is none. */
export function currentAddress(options: CommonOptions, env: NodeJS.ProcessEnv, home: Home): string {
  const address = chosenAddress(options, env) ?? readProfiles(home).at(-1)?.url;
  if (address !== undefined) return address;
  if (env.RELAY_CLI_TOKEN) return localRelay;
  throw new Failure(
    'NOT_SIGNED_IN',
    'You are not signed in to any relay. Run "relay login --url <address>".',
    exitCodes.notSignedIn,
  );
}

/**
 * Over http to another machine a credential is exposed on the network: only when the person says that this is meant (rules, 16.2). `consent`:
 * how it is said.
 * @throws Failure INSECURE_ADDRESS
 */
export function refuseClear(address: string, insecure: boolean, consent: string): void {
  if (insecure || !travelsInClear(address)) return;
  throw new Failure(
    'INSECURE_ADDRESS',
    `${address} is not encrypted: anyone on the network could read your credential and your messages. Use an https:// address. If you trust the network in between, ${consent}.`,
    exitCodes.usage,
  );
}
