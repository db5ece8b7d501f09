/**
 * Two daemons share one registration (rules, 9.13): the owner keeps the device for a while, so that its tasks can
 * complete, and the gateway refuses the other daemon before the upgrade. Devices without a contest cost nothing.
 */
import type { Leases, Shared } from '@relay/backplane';
import { type ConflictHold, type Database, noteReplacement, withDevice } from '@relay/database';
import { RelayError, capabilities } from '@relay/protocol';
import type { DaemonConnection, Peer } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';

interface ContestDeps {
  database: Database;
  backplane: Leases & Shared;
  metrics: Pick<GatewayMetrics, 'conflicts'>;
  notify: () => void;
}

export interface Contests {
  /** The daemon of this connection was alive when another daemon replaced it. */
  replaced(connection: DaemonConnection): Promise<void>;
  /** Another instance, or the database, knows that this device is contested. */
  learn(deviceId: string, hold: ConflictHold): void;
  /** @throws RelayError as `waitYourTurn`, while the device is contested and owned */
  refuse(peer: Peer): Promise<void>;
}

/** 429 for a daemon that declared to understand it; the others know 503, which they answer by connecting again. */
export function waitYourTurn(peer: Peer, message: string, retryAfter: number): RelayError {
  const understands = peer.capabilities.includes(capabilities.refusals);
  return new RelayError(understands ? 'RATE_LIMITED' : 'SERVICE_UNAVAILABLE', message, { retryAfter });
}

const maxHeld = 10_000;

export function createContests({ database, backplane, metrics, notify }: ContestDeps): Contests {
  const held = new Map<string, { untilMs: number; retryAfter: number }>();

  const learn = (deviceId: string, { heldMs, retryAfter }: ConflictHold) => {
    if (held.size >= maxHeld) held.clear();
    held.set(deviceId, { untilMs: Date.now() + heldMs, retryAfter });
  };

  return {
    learn,
    replaced: async (connection) => {
      const { deviceId, id: connectionId } = connection;
      const hold = await withDevice(database, deviceId, (tx, device) =>
        device ? noteReplacement(tx, { deviceId, connectionId }) : Promise.resolve(undefined),
      );
      if (!hold) return;
      const { heldMs, retryAfter, begun } = hold;
      learn(deviceId, hold);
      if (begun) {
        metrics.conflicts.inc();
        connection.logger.warn('two daemons use one registration and take the place from each other');
        notify();
      }
      await backplane.publishControl(JSON.stringify({ v: 1, kind: 'device_contested', deviceId, heldMs, retryAfter }));
    },
    refuse: async (peer) => {
      const hold = held.get(peer.deviceId);
      if (!hold) return;
      const leftMs = hold.untilMs - Date.now();
      if (leftMs <= 0) {
        held.delete(peer.deviceId);
        return;
      }
      // The owner might have left: then accept this daemon. If the lookup fails, the claim decides.
      const owners = await backplane.owners([peer.deviceId]).catch(() => undefined);
      if (!owners?.has(peer.deviceId)) return;
      throw waitYourTurn(
        peer,
        'Two daemons use this registration, and the other one is connected. Register one of the two machines again, then both can be used.',
        Math.min(hold.retryAfter, Math.ceil(leftMs / 1000)),
      );
    },
  };
}
