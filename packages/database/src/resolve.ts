/**
 * How a session gets its name: a placeholder becomes the native session the daemon started, and remains an alias forever
 * (rules, 1.6). Must run inside `withDevice`.
 */
import { formatSessionId } from '@relay/protocol';
import { eraseSession, removeTombstone, tombstoneOf } from './erase.ts';
import { underWay } from './task-states.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

export interface Resolved {
  /** Key of the row that now is the session: another one when the daemon had reported the native session before. */
  key: string;
  /** The public id it had until now; absent when nothing changed. */
  previousId?: string;
  /** The row that was merged into `key` and is gone. */
  mergedKey?: string;
  /** Set with `mergedKey`: the instructions of the moved open tasks. */
  instructions?: string[];
}

interface Row {
  key: string;
  native_id: string;
  agent_type: string;
  deleted: boolean;
  aliases: number;
}

/**
 * Limit of former names per session: each is a row for the lifetime of the session. Some agents give a conversation a
 * new id with each turn, and an agent that resumes an older id forgets later messages, so this many are not one
 * conversation.
 */
const maxAliases = 1000;

/**
 * Makes `name` the native id of the session `key`; for a deleted session, its tombstone. If the daemon reported that
 * native session before, the session is merged into that row, which keeps the older `createdAt`. `rename`: the daemon
 * insists (SESSION_STARTED); any other event with a former id of the session changes nothing. A session with a thousand
 * former names takes no new one.
 */
export async function resolveSession(
  db: Db,
  deviceId: string,
  key: string,
  name: string,
  rename: boolean,
): Promise<Resolved | undefined> {
  const [current] = await db.sql.query<Row>`
    SELECT key, native_id, agent_type, deleted_at IS NOT NULL AS deleted,
      (SELECT count(*)::int FROM session_aliases WHERE session_key = ${key}) AS aliases
    FROM sessions WHERE key = ${key}`;
  if (!current) return undefined;
  const nativeId = current.deleted ? tombstoneOf(name) : name;
  if (current.native_id === nativeId) return { key };
  const [alias] = await db.sql.query<{ session_key: string }>`
    SELECT session_key FROM session_aliases
    WHERE device_id = ${deviceId} AND agent_type = ${current.agent_type} AND native_id = ${nativeId}`;
  if (alias?.session_key === key ? !rename : current.aliases >= maxAliases) return { key };
  const previousId = formatSessionId({ deviceId, agentType: current.agent_type, nativeId: current.native_id });
  const [existing] =
    alias && alias.session_key !== key
      ? [{ key: alias.session_key }]
      : await db.sql.query<{ key: string }>`
          SELECT key FROM sessions WHERE device_id = ${deviceId} AND agent_type = ${current.agent_type} AND native_id = ${name}`;
  if (existing) {
    const moving = await db.sql.query<{ instruction: string }>`
      SELECT instruction FROM tasks WHERE session_key = ${key} AND state IN ${underWay} ORDER BY seq`;
    await merge(db, key, existing.key, moving.length > 0);
    await addAlias(db, deviceId, current.agent_type, current.native_id, existing.key);
    if (current.deleted) await eraseSession(db, existing.key);
    return { key: existing.key, previousId, mergedKey: key, instructions: moving.map((row) => row.instruction) };
  }
  await removeTombstone(db, deviceId, current.agent_type, name);
  await db.sql.execute`
    DELETE FROM session_aliases WHERE device_id = ${deviceId} AND agent_type = ${current.agent_type} AND native_id = ${nativeId}`;
  await db.sql
    .execute`UPDATE sessions SET native_id = ${nativeId}, placeholder = false, first_words = NULL, updated_at = now() WHERE key = ${key}`;
  await addAlias(db, deviceId, current.agent_type, current.native_id, key);
  return { key, previousId };
}

async function addAlias(db: Db, deviceId: string, agentType: string, nativeId: string, key: string): Promise<void> {
  await db.sql.execute`
    INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
    VALUES (${deviceId}, ${agentType}, ${nativeId}, ${key})
    ON CONFLICT (device_id, agent_type, native_id) DO UPDATE SET session_key = excluded.session_key`;
}

/**
 * The reported row survives; tasks, aliases, watches and the user's choices move over. `runs`: the moved task is open,
 * so its events are newer than any report. Otherwise the report is newer, unless the session waits for the user.
 */
async function merge(db: Db, from: string, into: string, runs: boolean): Promise<void> {
  const isNews = sql`(${runs} OR f.status = 'waiting' OR t.status = 'idle')`;
  await db.sql.execute`UPDATE tasks SET session_key = ${into} WHERE session_key = ${from}`;
  await db.sql.execute`
    UPDATE prompts p SET session_key = ${into} WHERE session_key = ${from}
      AND NOT EXISTS (SELECT 1 FROM prompts o WHERE o.session_key = ${into} AND o.uuid = p.uuid)`;
  await db.sql.execute`UPDATE session_aliases SET session_key = ${into} WHERE session_key = ${from}`;
  await db.sql.execute`UPDATE notifications SET session_key = ${into} WHERE session_key = ${from}`;
  // An item that both sessions have stays, and is closed with its session.
  await db.sql.execute`
    UPDATE inbox_items i SET session_key = ${into}, version = 0 WHERE i.session_key = ${from} AND i.state <> 'closed'
      AND i.user_id = (SELECT owner_id FROM sessions WHERE key = ${from})
      AND NOT EXISTS (SELECT 1 FROM inbox_items o WHERE o.user_id = i.user_id AND o.kind = i.kind AND o.session_key = ${into}
        AND o.subject = i.subject AND o.state <> 'closed')`;
  await db.sql.execute`
    INSERT INTO watched_sessions (user_id, session_key, created_at)
    SELECT user_id, ${into}, created_at FROM watched_sessions WHERE session_key = ${from} ON CONFLICT DO NOTHING`;
  await db.sql.execute`
    UPDATE sessions t SET
      created_at = LEAST(t.created_at, f.created_at),
      updated_at = now(),
      status = CASE WHEN ${isNews} THEN f.status ELSE t.status END, prompt = CASE WHEN ${isNews} THEN f.prompt ELSE t.prompt END,
      prompt_seq = CASE WHEN ${isNews} THEN f.prompt_seq ELSE t.prompt_seq END,
      progress = CASE WHEN ${isNews} THEN f.progress ELSE t.progress END, queue_held = f.queue_held,
      last_message = CASE WHEN f.last_message = '' OR NOT (${runs} OR t.last_message = '') THEN t.last_message ELSE f.last_message END,
      message_count = GREATEST(t.message_count, f.message_count),
      title = CASE WHEN f.title_source = 'user' OR t.title = '' THEN f.title ELSE t.title END,
      title_source = CASE WHEN f.title_source = 'user' OR t.title = '' THEN f.title_source ELSE t.title_source END,
      project_path = CASE WHEN t.project_path = '' THEN f.project_path ELSE t.project_path END,
      file_path = CASE WHEN t.file_path = '' THEN f.file_path ELSE t.file_path END,
      archived = f.archived, pinned_at = f.pinned_at, notify = COALESCE(f.notify, t.notify), read_at = f.read_at, news_at = GREATEST(f.news_at, t.news_at),
      started_by = COALESCE(t.started_by, CASE WHEN t.created_at >= f.created_at THEN f.started_by END), deleted_at = f.deleted_at, placeholder = false
    FROM sessions f WHERE t.key = ${into} AND f.key = ${from}`;
  await db.sql.execute`DELETE FROM sessions WHERE key = ${from}`;
}
