/** Where the daemon can send a credential: over an encrypted connection, or on this machine. */
import { Failure } from '@relay/daemon-kit';
import { travelsInClear } from '@relay/protocol';

/**
 * The daemon reaches a relay on another machine over https, unless the person declares the network in between trusted
 * (rules, 16.2).
 * @throws Failure INSECURE_ADDRESS, with `exitCode`
 */
export function refuseClear(server: string, insecure: boolean, exitCode: number): void {
  if (insecure || !travelsInClear(server)) return;
  throw new Failure(
    'INSECURE_ADDRESS',
    `${server} is not encrypted: anyone on the network could read the credential of this device and every message. Use an https:// address ("relay-daemon register --force --server https://..." replaces this registration). If you trust the network in between, add --insecure.`,
    exitCode,
  );
}
