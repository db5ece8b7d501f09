/**
 * Detects that the database was restored to an older state (rules, 15.6): a number in it only rises, and the highest one is kept
 * outside.
 */
import { markUnknown } from './task-ends.ts';
import { move } from './move.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

export interface TimelineMark {
  value: number;
  /** When it was raised, by the clock of the database, in ms since 1970. */
  atMs: number;
}

/** Raises the number above its old value and above `atLeast`. One statement. */
export async function raiseMark(db: Db, atLeast = 0): Promise<TimelineMark> {
  const [row] = await db.sql.query<{ value: bigint; raised_at: Date }>`
    INSERT INTO timeline AS t (id, value, raised_at) VALUES (1, ${atLeast}::bigint + 1, now())
    ON CONFLICT (id) DO UPDATE SET value = GREATEST(t.value, ${atLeast}::bigint) + 1, raised_at = now()
    RETURNING value, raised_at`;
  return { value: Number(row!.value), atMs: row!.raised_at.getTime() };
}

const isDoubtful = (atMs: number) => sql`GREATEST(t.not_before, t.created_at) <= ${new Date(atMs)}`;

/** Devices with messages that are queued since before `atMs`, or whose time came before. */
export async function devicesQueuedBefore(db: Db, atMs: number): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>`
    SELECT DISTINCT device_id FROM tasks t WHERE t.state IN ('later', 'queued') AND ${isDoubtful(atMs)}`;
  return rows.map((row) => row.device_id);
}

/**
 * queued → sent → unknown for tasks accepted before `atMs`, whose time came before: each might have been written in the lost time, and is never
 * written twice. Returns the keys of their sessions. Must run inside `withDevice`.
 */
export async function doubtQueued(db: Db, deviceId: string, atMs: number): Promise<string[]> {
  const before = sql`${isDoubtful(atMs)} AND t.expires_at > now()`;
  const doubted = await move(db, 'doubt', sql`t.device_id = ${deviceId} AND ${before}`);
  return markUnknown(
    db,
    doubted.map(({ id }) => id),
  );
}

/** Every person who has a device. */
export async function allOwners(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ owner_id: string }>`
    SELECT DISTINCT owner_id FROM devices WHERE removed_at IS NULL`;
  return rows.map((row) => row.owner_id);
}
