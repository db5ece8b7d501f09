/**
 * Seals values again with the first secret that a later secret has sealed: addresses, the keys for browsers, the keys of answers.
 * Then the operator can remove the later secrets (rules, 14.7). A value that no secret opens stays unchanged.
 */
import { type Database, resealAddress, resealServerKey, sealedAddresses, sealedServerKeys } from '@relay/database';
import type { Logger } from '@relay/telemetry';
import { createPace } from '../notify/pace.ts';
import type { Seal } from './sealed.ts';
import { type Target, addressOf, identityOf } from './targets.ts';

interface ResealDeps {
  database: Database;
  logger: Logger;
  seal: Seal;
}

/**
 * Begins after `afterMs`, and again after the same time if it failed; logs when it is done. Instances can do it at the same time.
 * The timer does not keep the process alive.
 */
export function startReseal(deps: ResealDeps, afterMs: number): { stop(): Promise<void> } {
  const { logger } = deps;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= resealAll(deps, stopping.signal)
      .then(() => clearInterval(timer))
      .catch((error: unknown) => logger.warn({ err: error }, 'addresses to notify could not be sealed again'))
      .finally(() => (running = undefined));
  }, afterMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

async function resealAll({ database, logger, seal }: ResealDeps, signal: AbortSignal): Promise<void> {
  const pace = createPace();
  const count = { addresses: 0, keys: 0, unreadable: 0 };
  for (const sealed of await sealedServerKeys(database)) {
    const pem = seal.openOlder(sealed);
    if (pem !== undefined) {
      await resealServerKey(database, sealed, seal.seal(pem));
      count.keys += 1;
    } else if (seal.open(sealed) === undefined) count.unreadable += 1;
  }
  const resealOne = async (row: { id: string; sealed: string }) => {
    const target = seal.openOlder(row.sealed) as Target | undefined;
    if (target !== undefined) {
      const address = addressOf(target);
      const { unique } = identityOf(target, address === undefined ? undefined : new URL(address));
      await resealAddress(database, row, { sealed: seal.seal(target), addressHash: seal.hashes(unique)[0]! });
      count.addresses += 1;
    } else if (seal.open(row.sealed) === undefined) count.unreadable += 1;
  };
  for (let afterId = ''; !signal.aborted; await pace.rest(signal)) {
    const rows = await pace.spend(() => sealedAddresses(database, afterId));
    for (const row of rows) await pace.spend(() => resealOne(row));
    const last = rows.at(-1);
    if (!last) {
      logger.info(
        count,
        'addresses to notify are sealed with the first secret: those behind it are not needed for them',
      );
      return;
    }
    afterId = last.id;
  }
}
