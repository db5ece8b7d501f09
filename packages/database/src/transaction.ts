/**
 * The only way to change state: a short transaction that begins by locking the row of its device. This orders all
 * changes to the sessions and tasks of a device, on whichever instance they run, and prevents deadlocks.
 */
import type { Db, Transactions } from './db.ts';
import { type Sql, sql } from './sql.ts';

export type { Db, Transactions, Whole, WithModels } from './db.ts';

export interface DeviceLock {
  id: string;
  ownerId: string;
  agentType: string;
  status: 'online' | 'offline';
  fence: number;
}

/** The claim of one connection on a device. The row of the device has the fence of the newest claim. */
export interface Claim {
  readonly deviceId: string;
  readonly fence: number;
}

/**
 * Runs `work` in a transaction that holds the lock of the device. `work` gets undefined if the device does not exist
 * (or was removed). Everything in `work` must use the transaction's client. Throws the error of `work`, after a
 * rollback.
 */
export async function withDevice<T>(
  db: Transactions,
  deviceId: string,
  work: (tx: Db, device: DeviceLock | undefined) => Promise<T>,
): Promise<T> {
  return withDeviceAnd(db, deviceId, undefined, work);
}

/** As `withDevice`; sends `read` along with the lock, so that it sees the protected state. `work` gets its rows. */
export async function withDeviceAnd<T, Row>(
  db: Transactions,
  deviceId: string,
  read: Sql | undefined,
  work: (tx: Db, device: DeviceLock | undefined, rows: Row[]) => Promise<T>,
): Promise<T> {
  return db.sql.transaction(
    async (tx, [locked = [], rows = []]) => {
      const [row] = locked as LockedRow[];
      const device = row && {
        id: row.id,
        ownerId: row.owner_id,
        agentType: row.agent_type,
        status: row.status,
        fence: Number(row.connection_fence),
      };
      return work(tx, device, rows as Row[]);
    },
    [lockOf(deviceId), ...(read ? [read] : [])],
  );
}

/** Sends a statement that is a transaction of its own: a call that takes the lock of its device itself. */
export const inOneStatement = <Row, T>(db: Transactions, call: Sql, read: (rows: Row[]) => T): Promise<T> =>
  db.sql.transaction((_tx, [rows]) => Promise.resolve(read(rows as Row[])), [call], 'alone');

interface LockedRow {
  id: string;
  owner_id: string;
  agent_type: string;
  status: 'online' | 'offline';
  connection_fence: bigint;
}

/** The statement that takes the lock; a later statement sees everything committed under the lock before. */
const lockOf = (deviceId: string): Sql => sql`
  SELECT id, owner_id, agent_type, status, connection_fence FROM devices
  WHERE id = ${deviceId} AND removed_at IS NULL FOR NO KEY UPDATE`;

/**
 * As `withDevice`, if `claim` is still the newest one on the device; otherwise resolves to undefined without running
 * `work`.
 *
 * For everything that an instance does or concludes on behalf of a connection: claiming tasks, and judging them by a
 * `status`, a report or the daemon's history. A newer connection has its own view of the same tasks. An event needs no
 * claim: it is the daemon's own statement about a task or session, so it is true over any connection, and the daemon
 * does not repeat it.
 */
export async function withOwned<T>(
  db: Transactions,
  claim: Claim,
  work: (tx: Db, device: DeviceLock) => Promise<T>,
): Promise<T | undefined> {
  return withDevice(db, claim.deviceId, async (tx, device) =>
    device?.fence === claim.fence ? work(tx, device) : undefined,
  );
}
