/** Sweeps of the whole fleet (rules, 15.1): one gateway at a time does them, and doing one twice changes nothing. */
import { type Publisher, message, newMessage } from '@relay/attention';
import type { Leases, Shared, UserFrames } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  type Fired,
  type Released,
  abandonedTasks,
  addNotification,
  countDevices,
  countLater,
  devicesWithDueLater,
  devicesWithDueSchedules,
  devicesWithExpired,
  devicesWithLateSteers,
  devicesWithLeftPrompts,
  devicesWithResetLimits,
  endExpiredItems,
  endLeftPrompts,
  endSnoozes,
  eraseAccount,
  expireTasks,
  fireSchedules,
  forgetDeletion,
  longestWait,
  markLost,
  markUnknown,
  onlineDevices,
  purge,
  purgeTasks,
  readSessions,
  releaseLater,
  releaseLimits,
  requeueLateSteers,
  sweepDeviceItems,
  unfinishedDeletions,
  withDevice,
} from '@relay/database';
import { userItemUuid } from '@relay/protocol/identity';
import type { Logger } from '@relay/telemetry';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { Presence } from '../door/presence.ts';
import type { Job } from './schedule.ts';
import { watchTimeline } from './timeline.ts';

export interface FleetSweepDeps {
  config: RelayConfig;
  database: Database;
  backplane: Leases & UserFrames & Shared;
  presence: Presence;
  publisher: Publisher;
  logger: Logger;
  metrics: Pick<GatewayMetrics, 'setBacks' | 'devices' | 'longestWait' | 'devicesCounted'>;
  notify: () => void;
  /** Queued tasks of a device are due. */
  wakeOwner: (deviceId: string) => void;
}

/** A device that has been away for this long while work waits gets an item of the inbox (rules, 14.16). */
const deviceAwayMs = 300_000;
/** A message with a time joins its queue at most this time later, and a third more. Tests sweep more often. */
const releaseEveryMs = 2000;
const countEveryMs = 60_000;
const purgeEveryMs = 3_600_000;
const purgeTasksEveryMs = 24 * 3_600_000;
export const sweepJitter = 1 / 3;
/** Deadlines that people were promised. */
const promised: ReadonlySet<string> = new Set(['expire', 'prompts', 'release', 'schedules']);

export function fleetSweeps(deps: FleetSweepDeps): Job[] {
  const { config, database, backplane, presence, publisher } = deps;

  const expire = async () => {
    for (const deviceId of await devicesWithExpired(database)) {
      await publisher.sessions(await withDevice(database, deviceId, (tx) => expireTasks(tx, deviceId)));
      deps.notify();
    }
    for (const deviceId of await devicesWithLateSteers(database))
      await publisher.sessions(await withDevice(database, deviceId, (tx) => requeueLateSteers(tx, deviceId)));
  };

  const release = async () => {
    for (const deviceId of await devicesWithDueLater(database)) {
      const { released, moved } = await withDevice(database, deviceId, (tx) => releaseLater(tx, deviceId));
      await publishReleased(deps, released);
      await publisher.sessions(moved);
      if (released.length > 0) deps.wakeOwner(deviceId);
    }
    for (const deviceId of await devicesWithResetLimits(database)) {
      await publisher.sessions(await withDevice(database, deviceId, (tx) => releaseLimits(tx, deviceId)));
      deps.wakeOwner(deviceId);
    }
  };

  const schedules = async () => {
    if ((await devicesWithDueSchedules(database)).length === 0) return;
    // After a restore of the database, a run can exist in the lost time.
    if (config.redisUrl !== undefined) await watchTimeline(deps);
    for (const deviceId of await devicesWithDueSchedules(database)) {
      const fired = await withDevice(
        database,
        deviceId,
        async (tx, device) =>
          device && { ...(await fireSchedules(tx, device, config.sessionsPerDevice)), ownerId: device.ownerId },
      );
      if (!fired) continue;
      await publishFired(deps, fired.ownerId, fired);
      deps.notify();
      if (fired.released.length > 0) deps.wakeOwner(deviceId);
    }
  };

  const leftPrompts = async () => {
    for (const deviceId of await devicesWithLeftPrompts(database)) {
      await publisher.sessions(await withDevice(database, deviceId, (tx) => endLeftPrompts(tx, deviceId)));
    }
  };

  const abandon = async () => {
    for (const { deviceId, taskId } of await abandonedTasks(database, config.deviceGoneMs)) {
      const { keys, notified } = await withDevice(database, deviceId, async (tx, device) => {
        // The device might have reconnected since, and its daemon knows the outcome of the task.
        if (device?.status !== 'offline') return { keys: [], notified: false };
        const unknown = await markUnknown(tx, [taskId]);
        const lost = await markLost(tx, [taskId]);
        let notified = false;
        for (const [sessionKey, cause] of [
          ...unknown.map((key) => [key, 'unknown'] as const),
          ...lost.map((key) => [key, 'failed'] as const),
        ]) {
          const notification = { sessionKey, cause, taskId, windowMs: config.dedupeWindowMs } as const;
          notified = (await addNotification(tx, notification)) || notified;
        }
        return { keys: [...unknown, ...lost], notified };
      });
      await publisher.sessions(keys);
      if (notified) deps.notify();
    }
  };

  /** Changes that time makes to the inboxes of people. */
  const inboxes = async () => {
    await endExpiredItems(database);
    await sweepDeviceItems(database, deviceAwayMs);
    if ((await endSnoozes(database)) > 0) deps.notify();
  };

  /** Finishes account deletions that a request began, including rows written during the deletion. */
  const deletions = async () => {
    const control = (body: object) => backplane.publishControl(JSON.stringify({ v: 1, ...body }));
    for (const { userId, erased } of await unfinishedDeletions(database)) {
      if (!erased) await control({ kind: 'user_revoked', subject: userId });
      // A person with an external identity might have signed in again since.
      if (!erased || !userId.includes('|')) {
        await eraseAccount(database, userId, (deviceId) =>
          control({ kind: 'device_closed', deviceId, why: 'deleted' }),
        );
        await backplane.forget(userId);
      }
      await forgetDeletion(database, userId);
    }
  };

  const devices = async () => {
    const [counts, wait] = await Promise.all([countDevices(database), longestWait(database)]);
    // Set them immediately: the next scrape drops old counts.
    deps.metrics.devicesCounted();
    for (const [state, count] of Object.entries(counts)) deps.metrics.devices.set({ state }, count);
    deps.metrics.longestWait.set(wait);
  };

  /** Devices that count as online although no instance holds their lease: that instance died. */
  const orphans = async () => {
    let after = '';
    for (;;) {
      const page = await onlineDevices(database, config.offlineGraceMs, after);
      if (page.length === 0) return;
      const owners = await backplane.owners(page.map((device) => device.id));
      for (const device of page) if (!owners.has(device.id)) await presence.offline(device.id, device.fence);
      after = page.at(-1)!.id;
    }
  };

  /**
   * The first gateway to claim the job runs it; the others skip it for the shortest interval of a single gateway.
   * During an outage of the backplane every gateway keeps the deadlines and skips the other jobs: fifty gateways would
   * query the database for the same.
   */
  const job = (name: string, ms: number, firstMs: number, work: () => Promise<void>): Job => ({
    name,
    ms,
    jitter: sweepJitter,
    firstMs,
    work: async () => {
      const pauseMs = ms * (1 - sweepJitter) * 0.9;
      if (await backplane.once('sweep', [name], pauseMs).catch(() => promised.has(name))) await work();
    },
  });

  const ms = config.sweepIntervalMs;
  const dueMs = Math.min(releaseEveryMs, ms);
  return [
    job('release', dueMs, dueMs, release),
    job('schedules', dueMs, dueMs, schedules),
    job('expire', ms, ms / 3, expire),
    job('prompts', ms, ms, leftPrompts),
    job('abandon', ms, ms, abandon),
    job('orphans', ms, Math.min(ms, config.offlineGraceMs), orphans),
    job('inboxes', ms, ms, inboxes),
    job('deletions', ms, ms, deletions),
    // In a single process the backplane's memory dies with the process, and a restore of the data folder needs a start.
    // With Redis the first run is immediate: after a restore with all instances stopped it must run before a daemon
    // connects.
    ...(config.redisUrl === undefined ? [] : [job('timeline', ms, 0, () => watchTimeline(deps))]),
    job('devices', countEveryMs, 5000, devices),
    job('purge', purgeEveryMs, 600_000, () => purge(database, config.idempotencyTtlSeconds)),
    job('purge-tasks', purgeTasksEveryMs, 900_000, () => purgeTasks(database)),
  ];
}

/** Publishes messages that joined their queues, in their order. A session that was deleted since is left out. */
async function publishReleased(
  { database, publisher }: Pick<FleetSweepDeps, 'database' | 'publisher'>,
  released: readonly Released[],
): Promise<void> {
  const records = await readSessions(
    database,
    released.map(({ sessionKey }) => sessionKey),
  );
  const byKey = new Map(records.map((record) => [record.key, record]));
  for (const { sessionKey, taskId, content } of released) {
    const record = byKey.get(sessionKey);
    if (!record) continue;
    const { ownerId, session } = record;
    const sent = message(userItemUuid(taskId), 'USER', content, session.updatedAt);
    await publisher.markPublished(ownerId, sessionKey, { role: 'USER', content, uuid: sent.uuid });
    await publisher.append(ownerId, newMessage(session.id, sent));
  }
  for (const record of records) await publisher.session(record);
}

/** Publishes the runs of schedules that were due. The session first: an app must know the session of a message. */
async function publishFired(
  deps: Pick<FleetSweepDeps, 'database' | 'publisher'>,
  ownerId: string,
  { released, moved }: Fired,
): Promise<void> {
  await deps.publisher.sessions([...moved, ...released.map(({ sessionKey }) => sessionKey)]);
  await publishReleased(deps, released);
  const count = await countLater(deps.database, ownerId);
  await deps.publisher.append(ownerId, { type: 'later_changed', count }, 'x');
}
