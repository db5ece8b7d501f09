/**
 * Sessions whose daemon has not named them (rules, 3.11): the facts that match them to a later report. Reads only.
 */
import { createHash } from 'node:crypto';
import { open } from './task-states.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** A first task that was written to the daemon, which has not named its session. */
export interface UnnamedStart {
  key: string;
  taskId: string;
  /** `firstWordsOf` its instruction. */
  firstWords: string;
  sentAtMs: number;
  /** False while the task runs: the daemon can still name the session itself. */
  ended: boolean;
}

/** A session that only the daemon has begun, as far as the relay knows. */
export interface Discovered {
  key: string;
  nativeId: string;
}

const maxStarts = 50;

/** A hash of the instruction that began a session. Of two sessions with the same instruction it differs. */
export const firstWordsOf = (key: string, instruction: string): string =>
  createHash('sha256').update(`${key}\n${instruction.trim()}`).digest('base64url');

/**
 * About `s`: unnamed, and its first task runs or finished a few minutes ago: daemons report every 30 s, and directly
 * after a reconnect.
 */
const isUnnamed = sql`s.placeholder AND s.first_words IS NOT NULL AND s.deleted_at IS NULL
  AND s.created_at > now() - interval '7 days'
  AND EXISTS (SELECT 1 FROM tasks f WHERE f.session_key = s.key AND f.kind = 'start'
    AND (f.finished_at IS NULL OR f.finished_at > now() - interval '10 minutes'))`;

/** Whether the device has a session that it has not named, as an SQL condition about `devices`. */
export const hasUnnamed = sql`EXISTS (SELECT 1 FROM sessions s WHERE s.device_id = devices.id AND ${isUnnamed})`;

/** The newest 50 written first tasks of a device whose sessions are unnamed, including running tasks. */
export async function unnamedStarts(db: Db, deviceId: string): Promise<UnnamedStart[]> {
  const rows = await db.sql.query<{ key: string; task_id: string; first_words: string; sent_at: Date; ended: boolean }>`
    SELECT s.key, t.id AS task_id, s.first_words, t.sent_at, t.state NOT IN ${open} AS ended
    FROM sessions s JOIN tasks t ON t.session_key = s.key AND t.kind = 'start' AND t.sent_at IS NOT NULL
    WHERE s.device_id = ${deviceId} AND ${isUnnamed} ORDER BY s.key DESC LIMIT ${maxStarts}`;
  return rows.map((row) => ({
    key: row.key,
    taskId: row.task_id,
    firstWords: row.first_words,
    sentAtMs: row.sent_at.getTime(),
    ended: row.ended,
  }));
}

/**
 * The oldest sessions of a device after `key` that the daemon reported and no relay task began, except those in
 * `except`.
 */
export async function discoveredSince(
  db: Db,
  deviceId: string,
  key: string,
  except: readonly string[],
  limit: number,
): Promise<Discovered[]> {
  const rows = await db.sql.query<{ key: string; native_id: string }>`
    SELECT s.key, s.native_id FROM sessions s
    WHERE s.device_id = ${deviceId} AND s.key > ${key} AND NOT s.placeholder AND s.deleted_at IS NULL
      AND s.key <> ALL(${except}::text[])
      AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = s.key AND t.kind = 'start')
    ORDER BY s.key LIMIT ${limit}`;
  return rows.map((row) => ({ key: row.key, nativeId: row.native_id }));
}
