/**
 * Periodic work without a frame or command as trigger (rules, 2.16): expired deadlines, dead instances, lost wake-ups.
 * Every gateway sweeps its own connections here; `fleet-sweeps.ts` has the shared sweeps. All of it is safe to repeat.
 */
import { closedAmong, devicesWithQueue, touchDevices } from '@relay/database';
import { type Balance, closesPerSecond, windowMs } from '../door/balance.ts';
import type { Cancels } from '../tasks/cancels.ts';
import { type FleetSweepDeps, fleetSweeps, sweepJitter } from './fleet-sweeps.ts';
import type { Hub } from '../connection/hub.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { type Job, Schedule } from './schedule.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';
import type { Watching } from '../sessions/watching.ts';

interface SweepDeps extends FleetSweepDeps {
  hub: Hub;
  writer: TaskWriter;
  cancels: Cancels;
  watching: Watching;
  metrics: Pick<GatewayMetrics, 'leasesLost' | 'setBacks' | 'devices' | 'longestWait' | 'devicesCounted'>;
  balance: Balance;
  /** Releases this number of daemons, spread over `overMs`; returns at once. */
  letGo: (count: number, overMs: number) => void;
  /** Whether all connections are being closed anyway. */
  isLeaving: () => boolean;
  /** Drops the cached credential of a device because it is stale. */
  forget: (deviceId: string) => void;
}

const wakingAtOnce = 8;
const jitter = 1 / 5;
/** Often enough that each window has the number of this gateway. */
const spreadMs = windowMs / 2;
/** A sweep of the fleet can take minutes, and touches no connection of this instance. Another gateway does the rest. */
const fleetStopMs = 1000;

interface Sweeps {
  /** Runs urgent jobs immediately after this instance was cut off from the others. */
  catchUp(): void;
  stop(): Promise<void>;
}

export function startSweeps(deps: SweepDeps): Sweeps {
  const { config, database, backplane, hub, presence, writer, cancels, watching } = deps;

  /** Devices whose queue needs a look, and devices with a write in progress. */
  const due = new Set<string>();
  const writing = new Set<string>();
  const write = async () => {
    for (const deviceId of due) {
      due.delete(deviceId);
      writing.add(deviceId);
      const connection = hub.get(deviceId);
      if (connection) await writer.drain(connection);
      writing.delete(deviceId);
    }
  };

  const wake = async () => {
    // Before other writes: a later task of a session must follow its cancel.
    await cancels.repeat(hub.all());
    const found: string[] = [];
    for (const deviceIds of hub.parts) found.push(...(await devicesWithQueue(database, deviceIds)));
    // Tasks of a claim that an error cut off are not queued, so nothing else finds them.
    for (const connection of hub.all()) if (writer.hasOpenClaim(connection)) found.push(connection.deviceId);
    for (const deviceId of found) if (!writing.has(deviceId)) due.add(deviceId);
    // A few at a time, because all at once would fill the pool. A slow reader delays neither other devices nor the next
    // sweep.
    for (let free = Math.min(wakingAtOnce - writing.size, due.size); free > 0; free -= 1) void write();
  };

  const changes = async () => {
    // The shown sessions are read again with the next frame about them.
    for (const { sessions } of hub.all()) sessions.forgetRecords();
    await watching.again(hub);
  };

  const recheck = async () => {
    const ids = hub.all().map((connection) => connection.deviceId);
    for (const { id, removed } of await closedAmong(database, ids)) {
      // This instance missed the message about the device, and its cached credential would accept the device again.
      deps.forget(id);
      hub.get(id)?.close(removed ? 'deviceDeleted' : 'credential');
    }
  };

  const refresh = async () => {
    const leases = hub
      .all()
      .filter((connection) => connection.live && performance.now() - connection.lastInboundAt < config.silenceTimeoutMs)
      .map((connection) => ({ device: connection.deviceId, connection: connection.id, fence: connection.fence }));
    const lost = new Set(await backplane.refresh(leases));
    deps.metrics.leasesLost.inc(lost.size);
    // Only under the refreshed fence: the newer owner can be a connection of this very instance.
    for (const { device, fence } of leases) if (lost.has(device)) hub.get(device, fence)?.close('replaced');
    await presence.stillHere(hub.parts, (offline) => {
      const held = leases.filter(
        ({ device, fence }) => offline.has(device) && !lost.has(device) && hub.get(device, fence)?.live,
      );
      return new Map(held.map(({ device, fence }) => [device, fence]));
    });
  };

  const touch = () => {
    const live = hub.all().filter((connection) => connection.live);
    return touchDevices(
      database,
      live.map((connection) => connection.deviceId),
    );
  };

  const spread = async () => {
    if (deps.isLeaving()) return;
    const surplus = await deps.balance.surplus(hub.size);
    if (surplus > 0) deps.letGo(Math.min(surplus, (closesPerSecond * spreadMs) / 1000), spreadMs);
  };

  const schedule = new Schedule(deps.logger);
  const fleet = new Schedule(deps.logger);
  /** Finds devices with a new owner, expired credentials, and unnoticed changes of tasks and sessions. */
  const own: readonly Job[] = [
    { name: 'leases', ms: config.leaseRefreshMs, jitter, work: refresh },
    { name: 'credentials', ms: config.credentialRecheckMs, jitter, work: recheck },
    { name: 'wake', ms: config.sweepIntervalMs, jitter: sweepJitter, work: wake },
    { name: 'changes', ms: config.sweepIntervalMs, jitter: sweepJitter, work: changes },
  ];
  const lastSeen: Job = { name: 'last seen', ms: config.lastSeenFlushMs, jitter, work: touch };
  const evenly: Job = { name: 'balance', ms: spreadMs, jitter, work: spread };
  for (const job of [...own, lastSeen, evenly]) schedule.add(job);
  for (const job of fleetSweeps(deps)) fleet.add(job);

  return {
    catchUp: () => {
      for (const job of own) void schedule.run(job);
    },
    stop: async () => {
      await Promise.all([schedule.stop(), fleet.stop(fleetStopMs)]);
    },
  };
}
