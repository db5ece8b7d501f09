/** Where a credential may be sent: encrypted, or not off this machine. */
import { Failure } from '@relay/daemon-kit';
import { travelsInClear } from '@relay/protocol';

/**
 * A relay on another machine is reached over https, unless the person says that the network in between is trusted (rules, 16.2).
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
