/**
 * The promises of `backplane.ts` as one suite. Every implementation passes it unchanged, or it is wrong. It uses no fake
 * clock: times are shortened by options, and pass through `advance` where an implementation has it.
 */
import { describe } from '@jest/globals';
import { describeCommands } from './contract/commands.ts';
import type { MakeBus } from './contract/harness.ts';
import { describeHistories } from './contract/histories.ts';
import { describeInstances } from './contract/instances.ts';
import { describeLeases } from './contract/leases.ts';
import { describePokes } from './contract/pokes.ts';
import { describeRequests } from './contract/requests.ts';
import { describeShared } from './contract/shared.ts';
import { describeSubscribers } from './contract/subscribers.ts';
import { describeVersions } from './contract/versions.ts';

export type { ContractBus, MakeBus } from './contract/harness.ts';

/** Declares the suite. `makeBus` is called once or more per test; every bus is empty, its own, and closed after the test. */
export function describeBackplaneContract(name: string, makeBus: MakeBus): void {
  describe(`the backplane contract, ${name}`, () => {
    describeLeases(makeBus);
    describeCommands(makeBus);
    describeRequests(makeBus);
    describeSubscribers(makeBus);
    describeHistories(makeBus);
    describeVersions(makeBus);
    describeShared(makeBus);
    describeInstances(makeBus);
    describePokes(makeBus);
  });
}
