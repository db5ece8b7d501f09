/**
 * What no frame and no command brings about (backplane, commands; contract §2, §9): times that end, instances that died, and
 * wake-ups that were lost. Every gateway sweeps what is its own; what is of the whole fleet is swept by one of them at a time. All of
 * it may be done twice.
 */
import type { Backplane } from '@relay/backplane';
import {
  type Database,
  abandonedTasks,
  addNotification,
  closedAmong,
  devicesWithExpired,
  devicesWithQueue,
  eraseAccount,
  expireTasks,
  forgetDeletion,
  markLost,
  markUnknown,
  onlineDevices,
  purge,
  touchDevices,
  unfinishedDeletions,
  withDevice,
} from '@relay/database';
import type { RelayConfig } from '@relay/config';
import type { Logger } from '@relay/telemetry';
import type { Cancels } from './cancels.ts';
import type { Hub } from './hub.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Presence } from './presence.ts';
import { type Publisher } from '@relay/attention';
import { watchTimeline } from './timeline.ts';
import type { TaskWriter } from './tasks-out.ts';
import type { Watching } from './watching.ts';

export interface SweepDeps {
  config: RelayConfig;
  database: Database;
  backplane: Backplane;
  hub: Hub;
  presence: Presence;
  publisher: Publisher;
  writer: TaskWriter;
  cancels: Cancels;
  watching: Watching;
  logger: Logger;
  metrics: Pick<GatewayMetrics, 'leasesLost' | 'setBacks'>;
  notify(): void;
  /** What is remembered about the credential of a device is not true any more. */
  forget(deviceId: string): void;
}

const wakingAtOnce = 8;
const purgeEveryMs = 3_600_000;
const sweepJitter = 1 / 3;
const jitter = (ms: number, part: number) => ms * (1 - part + Math.random() * 2 * part);

export interface Sweeps {
  /** Does at once what cannot wait for its turn after this instance was cut off from the others. */
  catchUp(): void;
  stop(): Promise<void>;
}

export function startSweeps(deps: SweepDeps): Sweeps {
  const { config, database, backplane, hub, presence, publisher, writer, cancels, watching } = deps;
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const run = (name: string, work: () => Promise<void>): Promise<void> => {
    const done = work()
      .catch((error: unknown) => deps.logger.warn({ err: error, sweep: name }, 'a sweep failed'))
      .finally(() => running.delete(done));
    running.add(done);
    return done;
  };
  const every = (ms: number, part: number, firstMs: number, name: string, work: () => Promise<void>) => {
    const plan = (delayMs: number) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        void run(name, work).then(() => {
          if (!stopped) plan(jitter(ms, part));
        });
      }, delayMs);
      timer.unref();
      timers.add(timer);
    };
    plan(firstMs);
  };

  /**
   * For the whole fleet: whichever gateway comes first does it, and no other as long as the shortest pause of a single one. When the
   * backplane cannot say who came first, it is done.
   */
  const ofFleet = (name: string, ms: number, work: () => Promise<void>) => async () => {
    const pauseMs = ms * (1 - sweepJitter) * 0.9;
    if (await backplane.once('sweep', [name], pauseMs).catch(() => true)) await work();
  };

  const expire = async () => {
    for (const deviceId of await devicesWithExpired(database.prisma)) {
      await publisher.sessions(await withDevice(database.prisma, deviceId, (tx) => expireTasks(tx, deviceId)));
    }
  };

  const abandon = async () => {
    for (const { deviceId, taskId } of await abandonedTasks(database.prisma, config.deviceGoneMs)) {
      const { keys, notified } = await withDevice(database.prisma, deviceId, async (tx) => {
        const unknown = await markUnknown(tx, [taskId]);
        const keys = await markLost(tx, [taskId]);
        let notified = false;
        for (const sessionKey of keys) {
          notified =
            (await addNotification(tx, { sessionKey, cause: 'failed', taskId, windowMs: config.dedupeWindowMs })) ||
            notified;
        }
        return { keys: [...unknown, ...keys], notified };
      });
      await publisher.sessions(keys);
      if (notified) deps.notify();
    }
  };

  /** Accounts whose deletion a request began and did not finish, and what was being written while it did. */
  const deletions = async () => {
    const control = (body: object) => backplane.publishControl(JSON.stringify({ v: 1, ...body }));
    for (const { userId, erased } of await unfinishedDeletions(database.prisma)) {
      if (!erased) await control({ kind: 'user_revoked', subject: userId });
      // A person whom another service knows may have begun anew since.
      if (!erased || !userId.includes('|')) {
        await eraseAccount(database.prisma, userId, (deviceId) =>
          control({ kind: 'device_closed', deviceId, why: 'deleted' }),
        );
        await backplane.forget(userId);
      }
      await forgetDeletion(database.prisma, userId);
    }
  };

  /** Devices that count as online while nobody holds their lease: their instance died. */
  const orphans = async () => {
    let after = '';
    for (;;) {
      const page = await onlineDevices(database.prisma, config.offlineGraceMs, after);
      if (page.length === 0) return;
      const owners = await backplane.owners(page.map((device) => device.id));
      for (const device of page) if (!owners.has(device.id)) await presence.offline(device.id, device.fence);
      after = page.at(-1)!.id;
    }
  };

  const wake = async () => {
    // Before anything else is written: what comes next in a session comes after its cancel.
    await cancels.repeat(hub.all());
    const ids = hub.all().map((connection) => connection.deviceId);
    const due = new Set(await devicesWithQueue(database.prisma, ids));
    // Tasks of a claim that an error cut off are not queued, so nothing else finds them.
    for (const connection of hub.all()) if (writer.hasOpenClaim(connection)) due.add(connection.deviceId);
    // A few at a time: one that reads slowly must not hold up all others, and all at once would fill the pool.
    const rest = due.values();
    const some = async () => {
      for (const deviceId of rest) {
        const connection = hub.get(deviceId);
        if (connection) await writer.drain(connection);
      }
    };
    await Promise.all(Array.from({ length: wakingAtOnce }, some));
  };

  const changes = async () => {
    // What is shown of sessions is read again with the next frame about them.
    for (const { memory } of hub.all()) if (memory.tasks.size > 0) memory.forgetRecords();
    await watching.again(hub.all());
  };

  const recheck = async () => {
    for (const { id, removed } of await closedAmong(
      database.prisma,
      hub.all().map((connection) => connection.deviceId),
    )) {
      // Nobody told this instance, or it did not hear it: else the device would be let in again for as long as it is remembered.
      deps.forget(id);
      hub.get(id)?.close(removed ? 'deviceDeleted' : 'credential');
    }
  };

  const refresh = async () => {
    const leases = hub
      .all()
      .filter((connection) => connection.live && Date.now() - connection.lastInboundAt < config.silenceTimeoutMs)
      .map((connection) => ({ device: connection.deviceId, connection: connection.id, fence: connection.fence }));
    const lost = new Set(await backplane.refresh(leases));
    deps.metrics.leasesLost.inc(lost.size);
    // Only under the fence that was refreshed: the newer owner may be a connection of this very instance.
    for (const { device, fence } of leases) if (lost.has(device)) hub.get(device, fence)?.close('replaced');
    const held = leases.filter(({ device, fence }) => !lost.has(device) && hub.get(device, fence)?.live);
    await presence.stillHere(new Map(held.map(({ device, fence }) => [device, fence])));
  };

  const sweep = config.sweepIntervalMs;
  every(sweep, sweepJitter, sweep / 3, 'expire', ofFleet('expire', sweep, expire));
  every(sweep, sweepJitter, sweep, 'abandon', ofFleet('abandon', sweep, abandon));
  every(sweep, sweepJitter, Math.min(sweep, config.offlineGraceMs), 'orphans', ofFleet('orphans', sweep, orphans));
  every(sweep, sweepJitter, sweep, 'deletions', ofFleet('deletions', sweep, deletions));
  every(sweep, sweepJitter, sweep, 'wake', wake);
  every(sweep, sweepJitter, sweep, 'changes', changes);
  // In a single process the memory of the backplane ends with it, and so does every restore of its data folder begin with a start.
  if (config.redisUrl !== undefined)
    every(
      sweep,
      sweepJitter,
      // At once: after a restore with all doors shut no daemon shall be faster.
      0,
      'timeline',
      ofFleet('timeline', sweep, () => watchTimeline(deps)),
    );
  every(config.leaseRefreshMs, 1 / 5, config.leaseRefreshMs, 'leases', refresh);
  every(config.credentialRecheckMs, 1 / 5, config.credentialRecheckMs, 'credentials', recheck);
  every(config.lastSeenFlushMs, 1 / 5, config.lastSeenFlushMs, 'last seen', () =>
    touchDevices(
      database.prisma,
      hub
        .all()
        .filter((connection) => connection.live)
        .map((connection) => connection.deviceId),
    ),
  );
  every(
    purgeEveryMs,
    sweepJitter,
    600_000,
    'purge',
    ofFleet('purge', purgeEveryMs, () => purge(database.prisma, config.idempotencyTtlSeconds)),
  );

  return {
    catchUp: () => {
      if (stopped) return;
      // Who else owns a device by now, whose credential ended, what was queued, cancelled and changed without a word to us.
      void run('leases', refresh);
      void run('credentials', recheck);
      void run('wake', wake);
      void run('changes', changes);
    },
    stop: async () => {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled([...running]);
    },
  };
}
