/**
 * Notices that the database was set back in time while Redis and the daemons live on (rules, 15.6): restored from a backup, or a standby
 * took over that had not got everything. The number in the database rises with every look; the backplane remembers the highest.
 */
import type { Shared, UserFrames } from '@relay/backplane';
import {
  type Database,
  type TimelineMark,
  allOwners,
  devicesQueuedBefore,
  devicesWithDueSchedules,
  doubtQueued,
  raiseMark,
  skipLostRuns,
  withDevice,
} from '@relay/database';
import { type Publisher, publishReload } from '@relay/attention';
import type { Logger } from '@relay/telemetry';
import type { GatewayMetrics } from '../connection/metrics.ts';

interface TimelineDeps {
  database: Database;
  backplane: UserFrames & Shared;
  publisher: Publisher;
  logger: Logger;
  metrics: Pick<GatewayMetrics, 'setBacks'>;
}

const key = 'timeline';
/** Longer than all instances are stopped for a repair. */
const rememberMs = 7 * 24 * 3_600_000;
/** Users to publish to at a time. */
const atOnce = 50;

/**
 * One look, by one gateway at a time. Takes out the highest number before it creates a new one: the new number is
 * higher than any that other gateways remember, unless the database went back. A failed look puts it back, so that the
 * next look finds out.
 */
export async function watchTimeline(deps: TimelineDeps): Promise<void> {
  const { database, backplane } = deps;
  const kept = await backplane.take(key);
  let remembered = kept;
  try {
    const mark = await raiseMark(database);
    const seen = kept === undefined ? undefined : (JSON.parse(kept) as TimelineMark);
    const isBack = seen !== undefined && mark.value <= seen.value;
    if (isBack) await setBack(deps, seen, mark);
    remembered = JSON.stringify(isBack ? await raiseMark(database, seen.value) : mark);
  } finally {
    if (remembered !== undefined) await backplane.put(key, remembered, rememberMs);
  }
}

async function setBack(deps: TimelineDeps, seen: TimelineMark, found: TimelineMark): Promise<void> {
  const { database, backplane, publisher, logger, metrics } = deps;
  const cause = `${seen.value}`;
  // Before daemons get these tasks: they might have been written in the lost time.
  for (const deviceId of await devicesQueuedBefore(database, seen.atMs)) {
    const keys = await withDevice(database, deviceId, (tx) => doubtQueued(tx, deviceId, seen.atMs));
    await publisher.sessions(keys);
  }
  for (const deviceId of await devicesWithDueSchedules(database))
    await withDevice(database, deviceId, (tx) => skipLostRuns(tx, deviceId));
  await backplane.publishControl(JSON.stringify({ v: 1, kind: 'database_set_back', cause }));
  metrics.setBacks.inc();
  logger.error(
    { seen: seen.value, seenAt: new Date(seen.atMs).toISOString(), found: found.value },
    'the database was set back in time: what was written last is lost. Apps reload and daemons connect again; see "Back up and restore" in docs/operations.md for what else is to be done',
  );
  const owners = await allOwners(database);
  while (owners.length > 0)
    await Promise.all(owners.splice(0, atOnce).map((owner) => publishReload(backplane, owner, cause)));
}
