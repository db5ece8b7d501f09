/**
 * The noun connection: opening and closing connections of daemons, for many devices in one statement. A writer of the
 * connections of a device holds the lock of its row. A statement for several devices never waits for a lock: it skips
 * devices locked elsewhere, and the caller retries each alone, so that one device does not block the rest and nothing
 * deadlocks.
 */
import type { DeviceAgent } from '@relay/protocol';
import { type ConflictHold, holdOf } from './conflicts.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

export interface Beginning {
  deviceId: string;
  fence: number;
  connectionId: string;
  daemonVersion: string;
  capabilities: readonly string[];
  agents: readonly DeviceAgent[];
  instance: string;
  /** The address it came from; empty if unknown. */
  hostname: string;
  address: string;
}

export interface Connected {
  ownerId: string;
  wasOnline: boolean;
  reportHash: string | null;
  /** Two daemons use this registration: the current owner keeps the device for a while. */
  hold?: ConflictHold | undefined;
}

const waiting = sql`FOR NO KEY UPDATE OF d`;
const skipping = sql`FOR NO KEY UPDATE OF d SKIP LOCKED`;

/**
 * Marks devices online under the fences of their new connections, and saves the connections. Each device must appear
 * once. `gone`: a newer connection came first, or the device was removed; the caller must leave. Absent: the device
 * does not exist, or its row is locked elsewhere.
 */
export async function devicesConnected(
  db: Db,
  beginnings: readonly Beginning[],
): Promise<Map<string, Connected | 'gone'>> {
  return connected(db, beginnings, skipping);
}

/** `devicesConnected` for one device, which waits for the lock of its row. Undefined: the caller must leave. */
export async function deviceConnected(db: Db, beginning: Beginning): Promise<Connected | undefined> {
  const found = (await connected(db, [beginning], waiting)).get(beginning.deviceId);
  return found === 'gone' ? undefined : found;
}

async function connected(
  db: Db,
  beginnings: readonly Beginning[],
  lock: Sql,
): Promise<Map<string, Connected | 'gone'>> {
  if (beginnings.length === 0) return new Map();
  const rows = await db.sql.query<{
    id: string;
    owner_id: string | null;
    was: string | null;
    report_hash: string | null;
    conflict: unknown;
    now: Date;
  }>`
    WITH asked AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(beginnings)}::json)
        AS a("deviceId" text, fence bigint, "connectionId" text, "daemonVersion" text, capabilities text[], agents jsonb, instance text, hostname text, address text)
    ), held AS (
      SELECT d.id, d.status FROM devices d WHERE d.id IN (SELECT "deviceId" FROM asked) ${lock}
    ), online AS (
      UPDATE devices d SET status = 'online', connection_fence = a.fence, last_seen_at = now(), capabilities = a.capabilities,
        agents = COALESCE(a.agents, '[]')
      FROM held JOIN asked a ON a."deviceId" = held.id
      WHERE d.id = held.id AND d.connection_fence < a.fence AND d.removed_at IS NULL AND d.revoked_at IS NULL
      RETURNING d.id, d.owner_id, d.report_hash, d.conflict, held.status AS was,
        a.fence, a."connectionId", a."daemonVersion", a.instance, a.hostname, a.address
    ), lost AS (
      UPDATE device_connections c SET disconnected_at = now(), reason = 'lost'
      FROM online WHERE c.device_id = online.id AND c.disconnected_at IS NULL
    ), noted AS (
      INSERT INTO device_connections (id, device_id, fence, daemon_version, instance, hostname, address)
      SELECT "connectionId", id, fence, "daemonVersion", instance, hostname, address FROM online
    ), trimmed AS (
      DELETE FROM device_connections WHERE id IN (
        SELECT old.id FROM online CROSS JOIN LATERAL (
          SELECT c.id FROM device_connections c WHERE c.device_id = online.id ORDER BY c.connected_at DESC OFFSET 49) old)
    )
    SELECT held.id, online.owner_id, online.was, online.report_hash, online.conflict, now() AS now FROM held LEFT JOIN online ON online.id = held.id`;
  return new Map<string, Connected | 'gone'>(
    rows.map(({ id, owner_id: ownerId, was, report_hash: reportHash, conflict, now }) => {
      if (ownerId === null) return [id, 'gone'];
      const hold = holdOf(conflict, now.getTime());
      return [id, { ownerId, wasOnline: was === 'online', reportHash, ...(hold ? { hold } : {}) }];
    }),
  );
}

export interface ClosedConnection {
  deviceId: string;
  fence: number;
  connectionId: string;
  code: number;
  reason: string;
}

/**
 * Saves the close of connections, and when their devices were last seen. Each device must appear once. Returns the
 * saved devices; absent as for `devicesConnected`.
 */
export async function connectionsClosed(db: Db, endings: readonly ClosedConnection[]): Promise<Set<string>> {
  return closed(db, endings, skipping);
}

/** `connectionsClosed` for one device, which waits for the lock of its row. */
export async function connectionClosed(db: Db, ending: ClosedConnection): Promise<void> {
  await closed(db, [ending], waiting);
}

async function closed(db: Db, endings: readonly ClosedConnection[], lock: Sql): Promise<Set<string>> {
  if (endings.length === 0) return new Set();
  // The reason is text of the other side; PostgreSQL cannot store U+0000.
  const closings = JSON.stringify(endings.map((one) => ({ ...one, reason: one.reason.replaceAll('\0', '') })));
  const rows = await db.sql.query<{ id: string }>`
    WITH asked AS (
      SELECT * FROM json_to_recordset(${closings}::json)
        AS a("deviceId" text, fence bigint, "connectionId" text, code int, reason text)
    ), held AS (
      SELECT d.id FROM devices d WHERE d.id IN (SELECT "deviceId" FROM asked) ${lock}
    ), closed AS (
      UPDATE device_connections c SET disconnected_at = now(), close_code = a.code, reason = a.reason
      FROM held JOIN asked a ON a."deviceId" = held.id WHERE c.id = a."connectionId"
    ), seen AS (
      UPDATE devices d SET last_seen_at = now()
      FROM held JOIN asked a ON a."deviceId" = held.id
      WHERE d.id = held.id AND d.connection_fence <= a.fence AND d.removed_at IS NULL
    )
    SELECT id FROM held`;
  return new Set(rows.map(({ id }) => id));
}
