/** The noun device: its owner, whether it is online, and its removal. */
import { type ConnectionList, type Device, type DeviceAgent, type DeviceStatus, limits } from '@relay/protocol';
import { conflictOf } from './conflicts.ts';
import { eraseOfDevice, eraseSessionsOf, removeDeviceRow } from './erase.ts';
import { move } from './move.ts';
import { sql } from './sql.ts';
import type { Db, WithModels } from './transaction.ts';

interface DeviceRow {
  id: string;
  name: string;
  hostname: string;
  agentType: string;
  status: string;
  lastSeenAt: Date;
  capabilities: string[];
  agents: unknown;
  continues: string[];
  conflict: unknown;
}

/** The agent of the registration first, whether its daemon declared it or not. */
function agentsOf(agentType: string, stored: unknown): DeviceAgent[] {
  const declared = Array.isArray(stored) ? (stored as DeviceAgent[]) : [];
  const own = declared.find((agent) => agent.agentType === agentType) ?? { agentType };
  return [own, ...declared.filter((agent) => agent.agentType !== agentType)].slice(0, limits.agents);
}

/** The agents of a device; must run under the device lock, so that the list does not change. */
export async function agentTypesOf(db: Db, device: { id: string; agentType: string }): Promise<string[]> {
  const [row] = await db.sql.query<{ agents: unknown }>`SELECT agents FROM devices WHERE id = ${device.id}`;
  return agentsOf(device.agentType, row?.agents).map(({ agentType }) => agentType);
}

const toDevice = (row: DeviceRow): Device => ({
  id: row.id,
  name: row.name,
  hostname: row.hostname,
  agentType: row.agentType,
  status: row.status as DeviceStatus,
  lastSeenAt: row.lastSeenAt.toISOString(),
  capabilities: row.capabilities,
  agents: agentsOf(row.agentType, row.agents),
  ...(row.continues.length === 0 ? {} : { continues: row.continues }),
  conflict: conflictOf(row.conflict, Date.now()),
});

export async function listDevices(db: WithModels, ownerId: string): Promise<Device[]> {
  const rows = await db.models.device.findMany({
    where: { ownerId, removedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(toDevice);
}

/** A device of this owner; undefined if it does not exist, belongs to another user, or was removed. */
export async function findDevice(db: WithModels, ownerId: string, deviceId: string): Promise<Device | undefined> {
  const row = await db.models.device.findFirst({ where: { id: deviceId, ownerId, removedAt: null } });
  return row ? toDevice(row) : undefined;
}

/** Renames a device; undefined as for `findDevice`. */
export async function renameDevice(
  db: WithModels,
  ownerId: string,
  deviceId: string,
  name: string,
): Promise<Device | undefined> {
  const { count } = await db.models.device.updateMany({
    where: { id: deviceId, ownerId, removedAt: null },
    data: { name },
  });
  return count === 0 ? undefined : findDevice(db, ownerId, deviceId);
}

interface DeviceCredential {
  tokenHash: string;
  ownerId: string;
  agentType: string;
  removedAt: Date | null;
  revokedAt: Date | null;
  /** The time at which it expires unless its device connects again (rules, 7.7). */
  expiresAt: Date;
}

/** The credentials of these devices, by device, for checking their tokens; includes removed devices. */
export async function readCredentials(db: Db, deviceIds: readonly string[]): Promise<Map<string, DeviceCredential>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await db.sql.query<{
    id: string;
    token_hash: string;
    owner_id: string;
    agent_type: string;
    removed_at: Date | null;
    revoked_at: Date | null;
    last_seen_at: Date;
  }>`
    SELECT id, token_hash, owner_id, agent_type, removed_at, revoked_at, last_seen_at FROM devices
    WHERE id = ANY(${sql.texts(deviceIds)})`;
  // Field by field: thousands of these are cached, and a copy of the rest of a row is three times as large.
  return new Map(
    rows.map((row) => [
      row.id,
      {
        tokenHash: row.token_hash,
        ownerId: row.owner_id,
        agentType: row.agent_type,
        removedAt: row.removed_at,
        revokedAt: row.revoked_at,
        expiresAt: new Date(row.last_seen_at.getTime() + limits.deviceTokenIdleSeconds * 1000),
      },
    ]),
  );
}

/** `readCredentials` for one device. */
export async function readCredential(db: Db, deviceId: string): Promise<DeviceCredential | undefined> {
  return (await readCredentials(db, [deviceId])).get(deviceId);
}

/** Returns the ids of those devices that were removed or lost their credential. */
export async function closedAmong(
  db: WithModels,
  deviceIds: readonly string[],
): Promise<{ id: string; removed: boolean }[]> {
  if (deviceIds.length === 0) return [];
  const rows = await db.models.device.findMany({
    where: { id: { in: [...deviceIds] }, OR: [{ removedAt: { not: null } }, { revokedAt: { not: null } }] },
    select: { id: true, removedAt: true },
  });
  return rows.map((row) => ({ id: row.id, removed: row.removedAt !== null }));
}

/**
 * Removes a device for good: its credential is refused, its queued and running tasks are cancelled, its sessions are erased, and so is
 * everything else about it. Must run inside `withDevice`.
 */
export async function removeDevice(db: Db, deviceId: string): Promise<void> {
  await removeDeviceRow(db, deviceId);
  await move(db, 'remove', sql`t.device_id = ${deviceId}`);
  await eraseSessionsOf(db, deviceId);
  await eraseOfDevice(db, deviceId);
}

/** The capabilities that the daemon of a device declared when it last connected. */
export async function capabilitiesOf(db: Db, deviceId: string): Promise<string[]> {
  const [device] = await db.sql.query<{ capabilities: string[] }>`
    SELECT capabilities FROM devices WHERE id = ${deviceId}`;
  return device?.capabilities ?? [];
}

/** The daemon that last connected for a device; empty before the first connection. */
export async function daemonOf(
  db: Db,
  deviceId: string,
): Promise<{ agentType: string; daemonVersion: string; capabilities: string[] }> {
  const [daemon] = await db.sql.query<{ agentType: string; daemonVersion: string; capabilities: string[] }>`
    SELECT agent_type AS "agentType", capabilities, COALESCE((SELECT c.daemon_version FROM device_connections c
      WHERE c.device_id = d.id ORDER BY c.connected_at DESC, c.id DESC LIMIT 1), '') AS "daemonVersion"
    FROM devices d WHERE id = ${deviceId}`;
  return daemon ?? { agentType: '', daemonVersion: '', capabilities: [] };
}

/** Marks a device offline unless a newer connection has come. Returns its owner when that changed anything. */
export async function deviceOffline(db: Db, deviceId: string, fence: number): Promise<string | undefined> {
  const rows = await db.sql.query<{ owner_id: string }>`
    UPDATE devices SET status = 'offline' WHERE id = ${deviceId} AND connection_fence <= ${fence} AND status = 'online' AND removed_at IS NULL
    RETURNING owner_id`;
  return rows[0]?.owner_id;
}

/** Whether the device is marked online. */
export async function isOnline(db: Db, deviceId: string): Promise<boolean> {
  const rows = await db.sql
    .query<object>`SELECT FROM devices WHERE id = ${deviceId} AND status = 'online' AND removed_at IS NULL`;
  return rows.length > 0;
}

/** The devices among these that are marked offline. */
export async function offlineAmong(db: Db, deviceIds: readonly string[]): Promise<string[]> {
  const rows = await db.sql.query<{ id: string }>`
    SELECT id FROM devices WHERE id = ANY(${sql.texts(deviceIds)}) AND status = 'offline' AND removed_at IS NULL`;
  return rows.map(({ id }) => id);
}

/**
 * Marks devices online that are offline in the database although these fences are still their newest claims. Returns
 * the changed devices with their owners. `held`: the fence of each connected device.
 */
export async function markOnlineAgain(
  db: Db,
  held: ReadonlyMap<string, number>,
): Promise<{ deviceId: string; ownerId: string }[]> {
  if (held.size === 0) return [];
  return db.sql.query<{ deviceId: string; ownerId: string }>`
    UPDATE devices d SET status = 'online'
    FROM unnest(${[...held.keys()]}::text[], ${[...held.values()]}::bigint[]) AS held (id, fence)
    WHERE d.id = held.id AND d.connection_fence = held.fence AND d.status = 'offline' AND d.removed_at IS NULL
    RETURNING d.id AS "deviceId", d.owner_id AS "ownerId"`;
}

/**
 * Devices that count as online and were not seen for `quietMs`, by id, 500 at a time after `afterId`: either their
 * instance crashed, or they are merely quiet. The backplane knows which.
 */
export async function onlineDevices(
  db: Db,
  quietMs: number,
  afterId: string,
): Promise<{ id: string; fence: number }[]> {
  const rows = await db.sql.query<{ id: string; connection_fence: bigint }>`
    SELECT id, connection_fence FROM devices
    WHERE status = 'online' AND id > ${afterId} AND last_seen_at < now() - ${quietMs}::double precision * interval '1 millisecond'
    ORDER BY id LIMIT 500`;
  return rows.map((row) => ({ id: row.id, fence: Number(row.connection_fence) }));
}

/**
 * Saves that these devices are alive; called rarely and for many at once. Skips devices locked elsewhere: waiting for
 * one lock would hold all locks of the batch.
 */
export async function touchDevices(db: Db, deviceIds: readonly string[]): Promise<void> {
  if (deviceIds.length === 0) return;
  await db.sql.execute`UPDATE devices SET last_seen_at = now() WHERE id IN (
    SELECT id FROM devices WHERE id = ANY(${deviceIds}::text[]) AND status = 'online' FOR NO KEY UPDATE SKIP LOCKED)`;
}

/** The newest 50 connections of a device, newest first. */
export async function listConnections(db: WithModels, deviceId: string): Promise<ConnectionList['connections']> {
  const rows = await db.models.deviceConnection.findMany({
    where: { deviceId },
    orderBy: [{ connectedAt: 'desc' }, { id: 'desc' }],
    take: 50,
  });
  return rows.map((row) => ({
    connectedAt: row.connectedAt.toISOString(),
    ...(row.disconnectedAt ? { disconnectedAt: row.disconnectedAt.toISOString() } : {}),
    ...(row.closeCode === null ? {} : { closeCode: row.closeCode }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    daemonVersion: row.daemonVersion,
    instance: row.instance,
  }));
}

/**
 * The highest fence any device ever had, 0 without devices: fences must keep rising after a restart, even if the clock
 * was set back.
 */
export async function newestFence(db: WithModels): Promise<number> {
  const { _max: newest } = await db.models.device.aggregate({ _max: { connectionFence: true } });
  return Number(newest.connectionFence ?? 0);
}
