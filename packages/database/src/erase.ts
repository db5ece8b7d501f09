/**
 * Deleting (rules, 8.17): the texts are gone from every table at once. The session leaves a tombstone, a row whose native id
 * is a hash, so that a daemon that still reports it does not restore it before something happens in it. Must run inside
 * `withDevice` where the device is still there.
 */
import { createHash } from 'node:crypto';
import { formatSessionId, parseSessionId } from '@relay/protocol';
import { move } from './move.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

const prefix = 'DELETED-';

/** The native id of a tombstone. */
export const tombstoneOf = (nativeId: string): string =>
  nativeId.startsWith(prefix) ? nativeId : prefix + createHash('sha256').update(nativeId).digest('hex');

/** The id of a session after its deletion, as the audit of its owner names it. */
export function erasedSessionId(sessionId: string): string {
  const parts = parseSessionId(sessionId);
  return parts ? formatSessionId({ ...parts, nativeId: tombstoneOf(parts.nativeId) }) : sessionId;
}

/** `tombstoneOf` a column. */
const tombstone = (column: Sql) => sql`CASE WHEN ${column} LIKE ${`${prefix}%`} THEN ${column}
  ELSE ${prefix} || encode(sha256(convert_to(${column}, 'UTF8')), 'hex') END`;

/** A choice of sessions, as a condition about `s`. */
const one = (key: string) => sql`s.key = ${key}`;
const ofDevice = (deviceId: string) => sql`s.device_id = ${deviceId}`;

export const eraseSession = (db: Db, key: string): Promise<void> => erase(db, one(key));
export const eraseSessionsOf = (db: Db, deviceId: string): Promise<void> => erase(db, ofDevice(deviceId));

/** Erases data of deleted sessions that an older release only hid, and late writes into a tombstone. Needs no lock. */
export async function eraseLeftovers(db: Db): Promise<void> {
  const left = await db.sql.query<{ key: string }>`
    SELECT s.key FROM sessions s WHERE s.deleted_at IS NOT NULL AND (s.native_id NOT LIKE ${sql.raw(`'${prefix}%'`)} OR s.title <> ''
      OR s.last_message <> '' OR s.prompt IS NOT NULL OR s.progress IS NOT NULL OR s.project_path <> '' OR s.file_path <> '')
    LIMIT 5000`;
  // One by one: no other writer waits for more than one session, and nothing deadlocks.
  for (const { key } of left) await erase(db, sql`s.key = ${key} AND s.deleted_at IS NOT NULL`);
  const devices = await db.sql.query<{ id: string }>`
    UPDATE devices SET name = '', hostname = '', report_hash = NULL, capabilities = '{}', agents = '[]', continues = '{}', conflict = NULL
    WHERE removed_at IS NOT NULL AND (name <> '' OR hostname <> '') RETURNING id`;
  for (const { id } of devices) await eraseOfDevice(db, id);
  // A release before this one left these behind when it removed a device.
  await db.sql.execute`
    DELETE FROM slash_command_sets c USING devices d WHERE d.id = c.device_id AND d.removed_at IS NOT NULL`;
}

/** Refuses the credential of a device for good and empties its row. */
export async function removeDeviceRow(db: Db, deviceId: string): Promise<void> {
  await db.sql.execute`
    UPDATE devices SET removed_at = now(), revoked_at = COALESCE(revoked_at, now()), status = 'offline',
      name = '', hostname = '', report_hash = NULL, capabilities = '{}', agents = '[]', continues = '{}', conflict = NULL
    WHERE id = ${deviceId}`;
}

/** Erases the rows of a device except its sessions and its own row. */
export async function eraseOfDevice(db: Db, deviceId: string): Promise<void> {
  await db.sql.execute`DELETE FROM slash_commands WHERE device_id = ${deviceId}`;
  await db.sql.execute`DELETE FROM notifications WHERE device_id = ${deviceId}`;
  await db.sql.execute`DELETE FROM slash_command_sets WHERE device_id = ${deviceId}`;
  await db.sql.execute`DELETE FROM device_connections WHERE device_id = ${deviceId}`;
  await db.sql.execute`DELETE FROM device_codes WHERE device_id = ${deviceId}`;
  await db.sql.execute`DELETE FROM acp_tokens WHERE device_id = ${deviceId}`;
  await eraseSchedules(db, sql`c.device_id = ${deviceId}`);
}

/** Runs go with their schedules. */
async function eraseSchedules(db: Db, which: Sql): Promise<void> {
  await db.sql.execute`
    WITH gone AS (DELETE FROM schedules c WHERE ${which} RETURNING c.id, c.owner_id)
    DELETE FROM inbox_items i USING gone g WHERE i.user_id = g.owner_id AND i.kind = 'missed' AND i.session_key = '' AND i.subject = g.id`;
}

/** Open tasks are cancelled, watches and schedules removed. */
async function erase(db: Db, which: Sql): Promise<void> {
  // The answer to a request that began a session stays without texts, so that the request repeated still runs nothing. One repeated in
  // the session finds no session.
  await db.sql.execute`
    DELETE FROM idempotency_keys i USING tasks t JOIN sessions s ON s.key = t.session_key
    WHERE ${which} AND i.user_id = s.owner_id AND i.response->>'taskId' = t.id AND i.response->'sessionId' IS NOT NULL`;
  await db.sql.execute`
    UPDATE idempotency_keys i SET response = response - 'prompt' - 'prompts' - 'progress' - 'held'
      || jsonb_build_object('title', '', 'lastMessage', '', 'projectPath', '')
    FROM tasks t JOIN sessions s ON s.key = t.session_key
    WHERE ${which} AND i.user_id = s.owner_id AND i.response->>'taskId' = t.id AND i.response->'title' IS NOT NULL`;
  await db.sql.execute`
    DELETE FROM slash_commands c USING sessions s WHERE ${which} AND c.device_id = s.device_id AND c.native_id = s.native_id`;
  await db.sql.execute`DELETE FROM prompts p USING sessions s WHERE ${which} AND p.session_key = s.key`;
  await db.sql.execute`DELETE FROM notifications n USING sessions s WHERE ${which} AND n.session_key = s.key`;
  await db.sql.execute`DELETE FROM session_turns t USING sessions s WHERE ${which} AND t.session_key = s.key`;
  await db.sql.execute`DELETE FROM watched_sessions w USING sessions s WHERE ${which} AND w.session_key = s.key`;
  await db.sql.execute`
    UPDATE audit_entries e SET target = s.device_id || ':' || s.agent_type || ':' || ${tombstone(sql`known.native_id`)}
    FROM sessions s CROSS JOIN LATERAL (
      SELECT s.native_id UNION SELECT a.native_id FROM session_aliases a WHERE a.session_key = s.key
    ) known
    WHERE ${which} AND e.user_id = s.owner_id AND e.target = s.device_id || ':' || s.agent_type || ':' || known.native_id`;
  await eraseSchedules(db, sql`c.session_key IN (SELECT s.key FROM sessions s WHERE ${which})`);
  await move(db, 'erase', sql`t.session_key IN (SELECT s.key FROM sessions s WHERE ${which})`);
  await db.sql.execute`
    UPDATE tasks t SET instruction = '', images = NULL, result = NULL, error_text = NULL, note = NULL
    FROM sessions s WHERE ${which} AND t.session_key = s.key AND t.state IN ('completed', 'expired')`;
  await db.sql.execute`
    DELETE FROM session_aliases a USING session_aliases o JOIN sessions s ON s.key = o.session_key
    WHERE ${which} AND a.device_id = o.device_id AND a.agent_type = o.agent_type AND a.native_id = ${tombstone(sql`o.native_id`)}
      AND a.native_id <> o.native_id`;
  await db.sql.execute`
    UPDATE session_aliases a SET native_id = ${tombstone(sql`a.native_id`)}
    FROM sessions s WHERE ${which} AND a.session_key = s.key`;
  await db.sql.execute`
    DELETE FROM sessions o USING sessions s
    WHERE ${which} AND o.key <> s.key AND o.device_id = s.device_id AND o.agent_type = s.agent_type
      AND o.native_id = ${tombstone(sql`s.native_id`)}`;
  await db.sql.execute`
    UPDATE sessions s SET native_id = ${tombstone(sql`s.native_id`)}, deleted_at = COALESCE(s.deleted_at, now()),
      first_words = NULL, title = '', title_source = 'report', project_path = '', file_path = '', last_message = '', message_count = 0,
      status = 'idle', progress = NULL, held = NULL, prompt = NULL, schedule_id = NULL, queue_held = false, usage_limit = NULL, held_until = NULL, archived = false, pinned_at = NULL, notify = NULL, news_at = NULL,
      read_at = NULL
    WHERE ${which}`;
}

/** Removes the tombstones of a native id that a session is about to take: they are in its way and obsolete. */
export async function removeTombstone(db: Db, deviceId: string, agentType: string, nativeId: string): Promise<void> {
  const name = tombstoneOf(nativeId);
  await db.sql.execute`
    DELETE FROM session_aliases WHERE device_id = ${deviceId} AND agent_type = ${agentType} AND native_id = ${name}`;
  await db.sql.execute`
    DELETE FROM sessions WHERE device_id = ${deviceId} AND agent_type = ${agentType} AND native_id = ${name} AND deleted_at IS NOT NULL`;
}
