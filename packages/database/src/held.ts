/** Sessions of a device that another program has open, as its daemon reports them. Must run inside `withDevice`. */
import type { Held } from '@relay/protocol';
import { prefixOfWait } from './held-waits.ts';
import { addNotification } from './notifications.ts';
import type { Db } from './transaction.ts';

interface HeldSession {
  nativeId: string;
  held: Held;
}

/** Saves a whole report: every other session of the device is not held. Returns the keys of changed sessions. */
export async function replaceHeld(db: Db, deviceId: string, reported: readonly HeldSession[]): Promise<string[]> {
  const entries = reported.map(({ nativeId, held }) => ({ native_id: nativeId, held }));
  const rows = await db.sql.query<{ key: string }>`
    WITH reported AS (SELECT * FROM json_to_recordset(${JSON.stringify(entries)}::json) AS r(native_id text, held jsonb)
    ), wanted AS (
      SELECT s.key, r.held FROM sessions s LEFT JOIN reported r ON r.native_id = s.native_id
      WHERE s.device_id = ${deviceId} AND s.deleted_at IS NULL AND s.held IS DISTINCT FROM r.held)
    UPDATE sessions s SET held = w.held FROM wanted w WHERE s.key = w.key RETURNING s.key`;
  return rows.map(({ key }) => key);
}

/** Saves the holder of one session. Returns whether that changed anything. */
export async function saveHeld(db: Db, key: string, held: Held | null): Promise<boolean> {
  const text = held === null ? null : JSON.stringify(held);
  const rows = await db.sql.query<{ key: string }>`
    UPDATE sessions SET held = ${text}::jsonb
    WHERE key = ${key} AND deleted_at IS NULL AND held IS DISTINCT FROM ${text}::jsonb RETURNING key`;
  return rows.length > 0;
}

/**
 * Enqueues a notification if the program of a watched session has waited for its person since `at`. Each `at` notifies
 * once, and a question that apps show notifies by itself. Returns whether it wrote a notification.
 */
export async function notifyOfHeld(db: Db, key: string, at: string): Promise<boolean> {
  const [row] = await db.sql.query<{ key: string }>`
    SELECT s.key FROM sessions s WHERE s.key = ${key} AND s.deleted_at IS NULL
      AND s.held->>'state' = 'waiting' AND s.held->>'at' = ${at}
      AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.session_key = s.key AND p.state = 'open')
      AND (s.notify = 'all' OR EXISTS (SELECT 1 FROM watched_sessions w WHERE w.session_key = s.key AND w.user_id = s.owner_id))`;
  if (!row) return false;
  return addNotification(db, { sessionKey: key, cause: 'needs_you', taskId: `${prefixOfWait}${at}`, windowMs: 0 });
}
