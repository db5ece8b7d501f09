/**
 * Saves daemons' session reports in batches: one statement for 500 entries, without touching unchanged rows. Must run
 * inside `withDevice`.
 */
import { tombstoneOf } from './erase.ts';
import { mayHaveOpenTask, reportedStatus } from './session-status.ts';
import { type Sql, sql } from './sql.ts';
import { open } from './task-states.ts';
import type { Db, DeviceLock } from './transaction.ts';
import { newUlid } from './ulids.ts';
import { hasUnnamed } from './unnamed.ts';

export interface SessionFacts {
  nativeId: string;
  /** undefined: that of the registration. */
  agentType?: string | undefined;
  title: string;
  projectPath: string;
  filePath: string;
  lastMessage: string;
  messageCount: number;
  /** undefined: not reported. */
  active: boolean | undefined;
  /** undefined: not reported, or unreadable. */
  lastActivity: Date | undefined;
}

const batchSize = 500;

/** How reported facts are applied. */
interface Reading {
  /** Also creates rows for sessions not seen before: a report, not the activity of one session. */
  discover: boolean;
  /** The minimum by which the daemon's clock is ahead of ours. */
  clockAheadMs: number;
  /** Session limit of the device; absent: unlimited. */
  maxSessions?: number;
}

/** A clock that is ahead by less than this counts as equal to ours. */
const clockSlackMs = 2_000;

/**
 * Updates the rows of a device from the report of its daemon, and returns the keys of the changed rows. Empty texts and
 * a count of 0 mean "not known" and overwrite nothing.
 *
 * A title from the user stays. While a relay task is open in a session, the report changes neither its status nor its
 * last message: the task's own events are newer. A waiting session waits until its answer is sent, and a failed session
 * stays failed.
 * After a task is over, only newer facts make the session active or set its last message: `last_activity` must be later
 * or, if the daemon's clock is ahead, later than its reports since. Without `last_activity` the relay believes a report
 * a minute later.
 * `last_activity` moves a session only if it rose (rules, 4.6). A deleted session comes back after activity later than
 * its deletion; until then the report writes only its times.
 */
export async function applyFacts(
  db: Db,
  device: DeviceLock,
  facts: readonly SessionFacts[],
  reading: Reading,
): Promise<string[]> {
  return (await applyReport(db, device, facts, reading)).keys;
}

/** The outcome of a report: the keys of the rows that changed or are new, and how many sessions were too many for the device. */
interface AppliedReport {
  keys: string[];
  leftOut: number;
}

/** Saves a report. Leaves out new sessions once the device has `maxSessions`; sessions with the newest activity are created first. */
export async function applyReport(
  db: Db,
  device: DeviceLock,
  facts: readonly SessionFacts[],
  reading: Reading,
): Promise<AppliedReport> {
  const all: AppliedReport = { keys: [], leftOut: 0 };
  // The last entry of a session wins; one statement must not meet the same row twice.
  const unique = [...new Map(facts.map((fact) => [fact.nativeId, fact])).values()];
  for (let start = 0; start < unique.length; start += batchSize) {
    const { keys, leftOut } = await applyBatch(db, device, unique.slice(start, start + batchSize), reading);
    all.keys.push(...keys);
    all.leftOut += leftOut;
  }
  return all;
}

async function applyBatch(
  db: Db,
  device: DeviceLock,
  batch: readonly SessionFacts[],
  reading: Reading,
): Promise<AppliedReport> {
  const { discover, clockAheadMs } = reading;
  const maxSessions = reading.maxSessions ?? null;
  const isAhead = clockAheadMs > clockSlackMs;
  // One JSON text, not an array per column: arrays are copied element by element on the way through Prisma and the driver.
  const reported = batch.map((fact) => ({
    key: newUlid(),
    native_id: fact.nativeId,
    agent_type: fact.agentType ?? device.agentType,
    tombstone: tombstoneOf(fact.nativeId),
    title: fact.title,
    project_path: fact.projectPath,
    file_path: fact.filePath,
    last_message: fact.lastMessage,
    message_count: fact.messageCount,
    active: fact.active,
    activity: fact.lastActivity,
  }));
  // OFFSET 0 keeps the planner at one index lookup per name of each entry. It does not know the number of sessions of
  // this device, and would compare every entry with every session. Each name has its own comparison: it could turn a
  // combined one into a filter.
  const named = (table: Sql) => sql`
    (VALUES (1, r.native_id), (2, NULLIF(r.tombstone, r.native_id))) AS names(n, name) CROSS JOIN LATERAL (
    SELECT ${table} AS whole FROM ${table} WHERE device_id = ${device.id} AND agent_type = r.agent_type AND native_id = names.name OFFSET 0) found`;
  const rows = await db.sql.query<{ key: string | null; left_out: number }>`
    WITH reported AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(reported)}::json) AS r(key text, native_id text, agent_type text, tombstone text, title text,
        project_path text, file_path text, last_message text, message_count int, active boolean, activity timestamptz)
      WHERE NOT EXISTS (SELECT 1 FROM ${named(sql`session_aliases`)} OFFSET 0)
    ), present AS MATERIALIZED (
      -- The only lookup of each session; its row is carried along. Of two rows the deleted one gives way.
      SELECT r.*, found.whole AS session FROM reported r CROSS JOIN LATERAL (SELECT found.whole FROM ${named(sql`sessions`)} ORDER BY names.n LIMIT 1) found
    ), known AS MATERIALIZED (
      -- For an older entry than the one before: nothing rose, and nothing is news.
      SELECT r.*,
        r.activity > s.reported_activity OR (r.activity IS NOT NULL AND s.reported_activity IS NULL) AS rose,
        NOT ${isAhead} AND r.activity <= now() + ${clockSlackMs}::double precision * interval '1 millisecond' AS comparable,
        LEAST(r.activity - ${isAhead ? clockAheadMs : 0}::double precision * interval '1 millisecond', now()) AS active_at,
        ${mayHaveOpenTask} AND EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = s.key AND t.state IN ${open} OFFSET 0) AS busy,
        ended.at AS ended_at, COALESCE(ended.silent, false) AS silent
      FROM present r CROSS JOIN LATERAL (SELECT (r.session).*) s
      LEFT JOIN LATERAL (SELECT t.finished_at AS at, t.state = 'completed' AND COALESCE(t.result, '') = '' AS silent
        FROM tasks t WHERE t.session_key = s.key AND t.sent_at IS NOT NULL ORDER BY t.sent_at DESC, t.seq DESC LIMIT 1) ended ON true
    ), judged AS (
      SELECT k.*,
        CASE WHEN k.ended_at IS NULL THEN k.activity IS NULL OR s.reported_activity IS NULL OR k.activity >= s.reported_activity
             WHEN k.activity IS NULL THEN NOT ${discover} OR k.ended_at < now() - interval '1 minute'
             ELSE COALESCE(k.comparable AND k.activity > k.ended_at, false) OR COALESCE(k.rose AND s.reported_at > k.ended_at, false) END AS news,
        k.rose AND CASE WHEN k.comparable THEN k.activity > s.deleted_at OR s.reported_at > s.deleted_at
                        ELSE s.reported_activity IS NOT NULL END AS again
      FROM known k CROSS JOIN LATERAL (SELECT (k.session).*) s
    ), weighed AS MATERIALIZED (
      SELECT s.key, r.session, r.native_id, s.native_id AS known_as,
        CASE WHEN s.title_source = 'user' OR r.title = '' THEN s.title ELSE r.title END AS title,
        CASE WHEN s.title_source = 'user' OR r.title = '' THEN s.title_source ELSE 'report' END AS title_source,
        COALESCE(NULLIF(r.project_path, ''), s.project_path) AS project_path,
        COALESCE(NULLIF(r.file_path, ''), s.file_path) AS file_path,
        CASE WHEN r.busy OR r.last_message = '' OR NOT (r.news OR r.silent) THEN s.last_message ELSE r.last_message END AS last_message,
        CASE WHEN r.busy OR r.message_count = 0 OR (r.message_count < s.message_count AND NOT (r.news AND ${discover}))
             THEN s.message_count ELSE r.message_count END AS message_count,
        ${reportedStatus} AS status,
        CASE WHEN r.busy OR r.active IS NOT false THEN s.progress END AS progress,
        CASE WHEN r.again THEN NULL ELSE s.deleted_at END AS deleted_at,
        COALESCE(r.activity, s.reported_activity) AS reported_activity,
        -- When the daemon last said so; said again after the end of a task, it is what the next report is compared with.
        CASE WHEN r.activity IS DISTINCT FROM s.reported_activity OR s.reported_at < GREATEST(r.ended_at, s.deleted_at)
             THEN COALESCE(CASE WHEN r.activity IS NOT NULL THEN now() END, s.reported_at) ELSE s.reported_at END AS reported_at,
        -- GREATEST and LEAST skip NULL: a daemon that does not say when is believed when something was said.
        CASE WHEN r.rose THEN GREATEST(s.updated_at, r.active_at)
             WHEN r.activity IS NULL AND NOT r.busy AND r.news AND ((r.last_message <> '' AND r.last_message <> s.last_message)
               OR (r.message_count > 0 AND r.message_count <> s.message_count)) THEN now()
             ELSE s.updated_at END AS updated_at
      FROM judged r CROSS JOIN LATERAL (SELECT (r.session).*) s
    ), fresh AS (
      -- Of a deleted session only the times are kept.
      SELECT key, session, deleted_at, reported_activity, reported_at, updated_at, progress,
        CASE WHEN deleted_at IS NULL THEN native_id ELSE known_as END AS native_id,
        CASE WHEN deleted_at IS NULL THEN title ELSE '' END AS title,
        CASE WHEN deleted_at IS NULL THEN title_source ELSE 'report' END AS title_source,
        CASE WHEN deleted_at IS NULL THEN project_path ELSE '' END AS project_path,
        CASE WHEN deleted_at IS NULL THEN file_path ELSE '' END AS file_path,
        CASE WHEN deleted_at IS NULL THEN last_message ELSE '' END AS last_message,
        CASE WHEN deleted_at IS NULL THEN message_count ELSE 0 END AS message_count,
        CASE WHEN deleted_at IS NULL THEN status ELSE 'idle' END AS status
      FROM weighed
    ), updated AS (
      UPDATE sessions s SET native_id = f.native_id, title = f.title, title_source = f.title_source, project_path = f.project_path, file_path = f.file_path,
        last_message = f.last_message, message_count = f.message_count, status = f.status, progress = f.progress,
        deleted_at = f.deleted_at, updated_at = f.updated_at,
        news_at = CASE WHEN f.last_message NOT IN ('', s.last_message) THEN now() ELSE s.news_at END, reported_activity = f.reported_activity, reported_at = f.reported_at
      FROM (
        SELECT f.*, (o.title, o.title_source, o.project_path, o.file_path, o.last_message, o.message_count, o.status, o.deleted_at, o.updated_at)
          IS DISTINCT FROM (f.title, f.title_source, f.project_path, f.file_path, f.last_message, f.message_count, f.status, f.deleted_at, f.updated_at) AS shows,
          (o.reported_activity, o.reported_at) IS DISTINCT FROM (f.reported_activity, f.reported_at) AS heard
        FROM fresh f CROSS JOIN LATERAL (SELECT (f.session).*) o
      ) f
      -- PostgreSQL expects few rows to pass a comparison with a number, so it finds each session by its key. A join without this condition reads
      -- the whole table, in a plan that was made when the table was small.
      WHERE s.key = f.key AND (f.shows OR f.heard)::int = 1
      RETURNING s.key, f.shows
    ), newcomers AS (
      SELECT r.* FROM reported r WHERE ${discover} AND NOT EXISTS (SELECT 1 FROM present p WHERE p.native_id = r.native_id)
    ), created AS (
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, file_path, last_message,
        message_count, status, created_at, updated_at, reported_activity, reported_at)
      SELECT r.key, ${device.ownerId}, ${device.id}, r.agent_type, r.native_id, r.title, 'report', r.project_path, r.file_path,
        r.last_message, r.message_count, CASE WHEN r.active THEN 'active' ELSE 'idle' END,
        COALESCE(r.active_at, now()), COALESCE(r.active_at, now()), r.activity, CASE WHEN r.activity IS NOT NULL THEN now() END
      FROM (SELECT *, LEAST(activity - ${isAhead ? clockAheadMs : 0}::double precision * interval '1 millisecond', now()) AS active_at
        FROM newcomers) r
      ORDER BY r.activity DESC NULLS LAST
      LIMIT CASE WHEN ${maxSessions}::int IS NOT NULL AND EXISTS (SELECT 1 FROM newcomers) THEN GREATEST(0, ${maxSessions}::int
        - (SELECT count(*) FROM sessions WHERE device_id = ${device.id} AND deleted_at IS NULL)) END
      ON CONFLICT (device_id, agent_type, native_id) DO NOTHING
      RETURNING key
    )
    SELECT key, 0 AS left_out FROM updated WHERE shows UNION ALL SELECT key, 0 FROM created
    UNION ALL SELECT NULL, ((SELECT count(*) FROM newcomers) - (SELECT count(*) FROM created))::int`;
  return {
    keys: rows.flatMap(({ key }) => key ?? []),
    leftOut: rows.reduce((sum, row) => sum + row.left_out, 0),
  };
}

/**
 * Saves the hash of the last report, so that the same report costs nothing after a reconnect either. Returns whether the device has
 * a session that it has not named (see `unnamedStarts`).
 */
export async function saveReportHash(db: Db, deviceId: string, hash: string): Promise<boolean> {
  const [device] = await db.sql.query<{ unnamed: boolean }>`
    UPDATE devices SET report_hash = ${hash} WHERE id = ${deviceId} RETURNING ${hasUnnamed} AS unnamed`;
  return device?.unnamed ?? false;
}
