/**
 * The noun conflict: two daemons use the registration of one device (a copied home folder, a restored machine) and
 * replace each other's connection forever. The connections of a device show whether it is a single machine: a
 * connection counts only if its daemon was connected and answering at its replacement. A restarted daemon, or one with
 * a broken network, does not answer.
 */
import { type DeviceConflict, limits } from '@relay/protocol';
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** As kept in the row of the device. */
interface Kept extends DeviceConflict {
  /** The number of replacements since the conflict was noticed. */
  step: number;
  /** The current owner keeps the device until then. */
  heldUntil: string;
  /** When the conflict is over, unless another replacement follows. */
  until: string;
}

/** The relevant facts of a closed connection. */
interface EndedConnection {
  hostname: string;
  address: string;
  daemonVersion: string;
  /** It was replaced while its daemon was answering. */
  answered: boolean;
}

/** All replacements of a conflict happen within this time. */
const conflictWindowMs = 2 * 60_000;
/** A, B, A, B, each replaced by the next. */
const alternations = 4;
/**
 * Threshold for indistinguishable machines: more connects than a device can make in a minute before it is slowed down.
 */
const indistinct = 12;
/** The newest connections might be open, or not saved yet. */
const underWay = 2;

const nameOf = ({ hostname, address, daemonVersion }: EndedConnection) =>
  JSON.stringify([hostname, address, daemonVersion]);

/**
 * The machines that replace each other, by the connections of the device that closed within `conflictWindowMs`, newest
 * first; empty without a conflict.
 */
function conflicting(connections: readonly EndedConnection[]): DeviceConflict['machines'] {
  const first = connections.findIndex(({ answered }) => answered);
  if (first < 0 || first > underWay) return [];
  const after = connections.slice(first);
  const length = after.findIndex(({ answered }) => !answered);
  const chain = length < 0 ? after : after.slice(0, length);
  const names = chain.slice(0, alternations).map(nameOf);
  const alternate = names.length === alternations && names[0] !== names[1];
  const returned = alternate && names[0] === names[2] && names[1] === names[3];
  const [one] = chain;
  const sameAll = chain.length >= indistinct && chain.every((each) => nameOf(each) === nameOf(one!));
  if (!returned && !sameAll) return [];
  return distinct(chain.slice(0, alternations));
}

function distinct(
  connections: readonly (EndedConnection | DeviceConflict['machines'][number])[],
): DeviceConflict['machines'] {
  const all = connections.map(({ hostname, address, daemonVersion }) => ({ hostname, address, daemonVersion }));
  return [...new Map(all.map((machine) => [JSON.stringify(machine), machine])).values()].slice(
    0,
    limits.conflictMachines,
  );
}

const holdMs = (step: number) => Math.min(60_000 * 2 ** step, 600_000);
/**
 * Must be less than the extension of the hold below: a refused daemon must come back before the conflict counts as
 * over.
 */
const retrySeconds = (step: number) => Math.min(15 * 2 ** step, 120);
const quietMs = 180_000;

/** A conflict for the gateways: the owner keeps the device for `heldMs`; other connections are refused and must wait. */
export interface ConflictHold {
  heldMs: number;
  retryAfter: number;
}

/** The hold of a conflict stored in a device row; undefined if it is missing or over. */
export function holdOf(kept: unknown, nowMs: number): ConflictHold | undefined {
  const conflict = kept as Kept | null;
  const heldMs = conflict ? Date.parse(conflict.heldUntil) - nowMs : 0;
  return conflict && heldMs > 0 ? { heldMs, retryAfter: retrySeconds(conflict.step) } : undefined;
}

/** The conflict as apps see it; null without one. */
export function conflictOf(kept: unknown, nowMs: number): DeviceConflict | null {
  const conflict = kept as Kept | null;
  if (!conflict || Date.parse(conflict.until) <= nowMs) return null;
  return { machines: conflict.machines, since: conflict.since };
}

/**
 * Saves that the daemon of this connection was answering when another one replaced it. If that begins or continues a conflict, the
 * owner keeps the device, longer each time; if it begins one, the user must be notified. Must run inside `withDevice`.
 */
export async function noteReplacement(
  db: Db,
  { deviceId, connectionId }: { deviceId: string; connectionId: string },
): Promise<(ConflictHold & { begun: boolean }) | undefined> {
  const noted = await db.sql.execute`
    UPDATE device_connections SET answered = true WHERE id = ${connectionId} AND device_id = ${deviceId} AND NOT answered`;
  if (noted === 0) return undefined;
  const [device] = await db.sql.query<{ owner_id: string; conflict: Kept | null; now: Date }>`
    SELECT owner_id, conflict, now() AS now FROM devices WHERE id = ${deviceId}`;
  const ended = await db.sql.query<EndedConnection>`
    SELECT hostname, address, daemon_version AS "daemonVersion", answered FROM device_connections
    WHERE device_id = ${deviceId} AND disconnected_at > now() - ${conflictWindowMs}::double precision * interval '1 millisecond'
    ORDER BY fence DESC`;
  if (!device) return undefined;
  const nowMs = device.now.getTime();
  const before = conflictOf(device.conflict, nowMs) && device.conflict;
  const machines = before ? distinct([...before.machines, ...ended.slice(0, alternations)]) : conflicting(ended);
  if (machines.length === 0) return undefined;
  const step = before ? before.step + 1 : 0;
  const heldMs = holdMs(step);
  const at = (ms: number) => new Date(nowMs + ms).toISOString();
  const kept: Kept = {
    machines,
    since: before?.since ?? at(0),
    step,
    heldUntil: at(heldMs),
    until: at(heldMs + quietMs),
  };
  await db.sql.execute`UPDATE devices SET conflict = ${JSON.stringify(kept)}::jsonb WHERE id = ${deviceId}`;
  if (!before)
    await db.sql.execute`
      INSERT INTO notifications (id, user_id, session_key, session_id, device_id, cause)
      VALUES (${newUlid()}, ${device.owner_id}, '', '', ${deviceId}, 'device_conflict')`;
  return { heldMs, retryAfter: retrySeconds(step), begun: !before };
}
