/**
 * What daemons report about their sessions, written in batches: one statement for 500 entries, and rows that would not change
 * are not touched. Must run inside `withDevice`.
 */
import type { DeviceLock, Db } from './transaction.ts';
import { newUlid } from './ulids.ts';

export interface SessionFacts {
  nativeId: string;
  title: string;
  projectPath: string;
  filePath: string;
  lastMessage: string;
  messageCount: number;
  /** undefined: the daemon did not say. */
  active: boolean | undefined;
  /** undefined: the daemon did not say, or not in a way that can be read. */
  lastActivity: Date | undefined;
}

const batchSize = 500;

/**
 * Brings the rows of a device into line with what its daemon reports, and returns the keys of those that changed. Empty texts
 * and a count of 0 mean "not known" and overwrite nothing. `discover` also creates rows for sessions not seen before.
 *
 * A title that the user gave stays. While a task of the relay is open in a session, the report changes neither its status nor
 * its last message: the task's own events are newer. A waiting session waits until its answer is sent. A deleted session
 * comes back when it was active after its deletion.
 */
export async function applyFacts(
  db: Db,
  device: DeviceLock,
  facts: readonly SessionFacts[],
  discover: boolean,
): Promise<string[]> {
  const changed: string[] = [];
  // The last entry of a session wins; one statement must not meet the same row twice.
  const unique = [...new Map(facts.map((fact) => [fact.nativeId, fact])).values()];
  for (let start = 0; start < unique.length; start += batchSize) {
    changed.push(...(await applyBatch(db, device, unique.slice(start, start + batchSize), discover)));
  }
  return changed;
}

async function applyBatch(
  db: Db,
  device: DeviceLock,
  batch: readonly SessionFacts[],
  discover: boolean,
): Promise<string[]> {
  // One JSON text, not an array per column: arrays are copied element by element on the way through Prisma and the driver.
  const reported = batch.map((fact) => ({
    key: newUlid(),
    native_id: fact.nativeId,
    title: fact.title,
    project_path: fact.projectPath,
    file_path: fact.filePath,
    last_message: fact.lastMessage,
    message_count: fact.messageCount,
    active: fact.active,
    activity: fact.lastActivity,
  }));
  const rows = await db.$queryRaw<{ key: string }[]>`
    WITH reported AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(reported)}::json) AS r(key text, native_id text, title text,
        project_path text, file_path text, last_message text, message_count int, active boolean, activity timestamptz)
      WHERE NOT EXISTS (SELECT 1 FROM session_aliases a
        WHERE a.device_id = ${device.id} AND a.agent_type = ${device.agentType} AND a.native_id = r.native_id)
    ), fresh AS (
      SELECT s.key,
        CASE WHEN s.title_source = 'user' OR r.title = '' THEN s.title ELSE r.title END AS title,
        CASE WHEN s.title_source = 'user' OR r.title = '' THEN s.title_source ELSE 'report' END AS title_source,
        COALESCE(NULLIF(r.project_path, ''), s.project_path) AS project_path,
        COALESCE(NULLIF(r.file_path, ''), s.file_path) AS file_path,
        CASE WHEN busy.busy OR r.last_message = '' THEN s.last_message ELSE r.last_message END AS last_message,
        CASE WHEN busy.busy OR r.message_count = 0 THEN s.message_count ELSE r.message_count END AS message_count,
        CASE WHEN busy.busy OR s.status IN ('pending', 'waiting') OR r.active IS NULL THEN s.status
             WHEN r.active THEN 'active' WHEN s.status = 'active' THEN 'idle' ELSE s.status END AS status,
        CASE WHEN busy.busy OR r.active IS NOT false THEN s.progress END AS progress,
        CASE WHEN r.activity > s.deleted_at THEN NULL ELSE s.deleted_at END AS deleted_at,
        -- GREATEST and LEAST skip NULL: a daemon that does not say when is believed when something was said.
        CASE WHEN r.activity IS NOT NULL THEN GREATEST(s.updated_at, LEAST(r.activity, now()))
             WHEN NOT busy.busy AND ((r.last_message <> '' AND r.last_message <> s.last_message)
               OR (r.message_count > 0 AND r.message_count <> s.message_count)) THEN now()
             ELSE s.updated_at END AS updated_at
      FROM reported r
      JOIN sessions s ON s.device_id = ${device.id} AND s.agent_type = ${device.agentType} AND s.native_id = r.native_id
      CROSS JOIN LATERAL (SELECT EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = s.key AND t.state IN ('queued', 'sent', 'running')) AS busy) busy
    ), updated AS (
      UPDATE sessions s SET title = f.title, title_source = f.title_source, project_path = f.project_path, file_path = f.file_path,
        last_message = f.last_message, message_count = f.message_count, status = f.status, progress = f.progress,
        deleted_at = f.deleted_at, updated_at = f.updated_at
      FROM fresh f WHERE s.key = f.key
        AND (s.title, s.title_source, s.project_path, s.file_path, s.last_message, s.message_count, s.status, s.deleted_at, s.updated_at)
          IS DISTINCT FROM (f.title, f.title_source, f.project_path, f.file_path, f.last_message, f.message_count, f.status, f.deleted_at, f.updated_at)
      RETURNING s.key
    ), created AS (
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, file_path, last_message,
        message_count, status, created_at, updated_at)
      SELECT r.key, ${device.ownerId}, ${device.id}, ${device.agentType}, r.native_id, r.title, 'report', r.project_path, r.file_path,
        r.last_message, r.message_count, CASE WHEN r.active THEN 'active' ELSE 'idle' END,
        COALESCE(LEAST(r.activity, now()), now()), COALESCE(LEAST(r.activity, now()), now())
      FROM reported r
      WHERE ${discover} AND NOT EXISTS (SELECT 1 FROM sessions s
        WHERE s.device_id = ${device.id} AND s.agent_type = ${device.agentType} AND s.native_id = r.native_id)
      ON CONFLICT (device_id, agent_type, native_id) DO NOTHING
      RETURNING key
    )
    SELECT key FROM updated UNION ALL SELECT key FROM created`;
  return rows.map((row) => row.key);
}

/** Remembers the hash of the last report, so that the same report costs nothing after a reconnect either. */
export async function saveReportHash(db: Db, deviceId: string, hash: string): Promise<void> {
  await db.$executeRaw`UPDATE devices SET report_hash = ${hash} WHERE id = ${deviceId}`;
}
