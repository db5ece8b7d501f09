/** The sessions that a user watches (rules, 14.1). */
import { formatSessionId, type WatchList } from '@relay/protocol';
import { oneAtATime } from './one-at-a-time.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** Starts watching, in a transaction. `full`: the user watches `max` sessions, and not this one. */
export async function watchSession(
  tx: Db,
  userId: string,
  key: string,
  max = Infinity,
): Promise<'first' | 'known' | 'full'> {
  await oneAtATime(tx, 'watches', userId);
  const [state] = await tx.sql.query<{ watched: boolean; count: number }>`
    SELECT COALESCE(bool_or(session_key = ${key}), false) AS watched, count(*)::int AS count FROM watched_sessions WHERE user_id = ${userId}`;
  if (state?.watched) return 'known';
  if ((state?.count ?? 0) >= max) return 'full';
  await tx.sql.execute`
    INSERT INTO watched_sessions (user_id, session_key) VALUES (${userId}, ${key}) ON CONFLICT DO NOTHING`;
  return 'first';
}

/** Stops watching; true when it was watched. */
export async function unwatchSession(db: Db, userId: string, key: string): Promise<boolean> {
  const count = await db.sql.execute`DELETE FROM watched_sessions WHERE user_id = ${userId} AND session_key = ${key}`;
  return count > 0;
}

/** The sessions that the user watches, oldest watch first. */
export async function listWatches(db: Db, userId: string): Promise<WatchList['watchedSessions']> {
  // One index has all of it; erasing a session deletes its watch. With statistics PostgreSQL expects one watch of a person,
  // and would find each by the primary key, because that index is flatter. Of a range it expects many.
  const rows = await db.sql.query<{ device_id: string; agent_type: string; native_id: string; created_at: Date }>`
    SELECT device_id, agent_type, native_id, created_at FROM watched_sessions
    WHERE user_id >= ${userId} AND user_id <= ${userId} ORDER BY user_id, created_at, session_key`;
  return rows.map((row) => ({
    sessionId: formatSessionId({ deviceId: row.device_id, agentType: row.agent_type, nativeId: row.native_id }),
    createdAt: row.created_at.toISOString(),
  }));
}

export interface WatchedNative {
  key: string;
  nativeId: string;
  filePath: string;
}

/** The named sessions of these devices that a user watches, by device: to be sent to a daemon after it connects. */
export async function watchedOnDevices(db: Db, deviceIds: readonly string[]): Promise<Map<string, WatchedNative[]>> {
  const byDevice = new Map<string, WatchedNative[]>();
  if (deviceIds.length === 0) return byDevice;
  const rows = await db.sql.query<{ device_id: string; key: string; native_id: string; file_path: string }>`
    -- OFFSET 0 makes PostgreSQL start with the watches of the device, of which there are few, and find each session by its key.
    SELECT s.device_id, s.key, s.native_id, s.file_path FROM unnest(${sql.texts(deviceIds)}) AS wanted(id)
      CROSS JOIN LATERAL (SELECT session_key FROM watched_sessions WHERE device_id = wanted.id OFFSET 0) w
      CROSS JOIN LATERAL (SELECT * FROM sessions WHERE key = w.session_key OFFSET 0) s
    WHERE NOT s.placeholder AND s.deleted_at IS NULL ORDER BY s.key`;
  for (const row of rows) {
    const sessions = byDevice.get(row.device_id) ?? [];
    byDevice.set(row.device_id, sessions);
    sessions.push({ key: row.key, nativeId: row.native_id, filePath: row.file_path });
  }
  return byDevice;
}
