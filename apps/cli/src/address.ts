/** The relay address of a command. */
import { baseAddress, travelsInClear } from '@relay/protocol';
import { Failure } from '@relay/machine';
import { exitCodes, usage } from './failure.ts';
import type { CommonOptions } from './commands/shared-options.ts';
import type { Home } from './home.ts';
import { readProfiles } from './profiles.ts';

export const localRelay = 'http://localhost:4000';

/** Normalises a typed base address for storage. @throws Failure (usage) if it is not a relay address */
function relayAddress(text: string): string {
  const base = baseAddress(text);
  if ('address' in base) return base.address;
  throw usage(`"${text}" is not a relay address: ${base.why}. Example: https://relay.example.com`);
}

/** Returns the chosen address: `--url`, else RELAY_CLI_URL; undefined if both are absent. */
export function chosenAddress({ url }: CommonOptions, env: NodeJS.ProcessEnv): string | undefined {
  const chosen = url ?? (env.RELAY_CLI_URL || undefined);
  return chosen === undefined ? undefined : relayAddress(chosen);
}

/** Returns the chosen relay, else the relay of the newest sign-in. @throws Failure NOT_SIGNED_IN */
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
 * Plain http to another machine exposes the credential on the network, so it needs the user's explicit consent (rules, 16.2). `consent`:
 * how to give it.
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
