/** The noun session: rows → the Session of the protocol, looking up by any id a session ever had, listing, changing. */
import { type Progress, type Session, type SessionIdParts, parseSessionId } from '@relay/protocol';
import { eraseSession } from './erase.ts';
import { move } from './move.ts';
import { pauseArchived } from './schedules.ts';
import { sessionJson } from './session-json.ts';
import { lastTask, line } from './session-status.ts';
import { isWithDaemon, underWay } from './task-states.ts';
import { type Sql, sql } from './sql.ts';
import { type Db, type Transactions, withDeviceAnd } from './transaction.ts';

/** A session with the fields that only the relay needs. */
export interface SessionRecord {
  key: string;
  ownerId: string;
  nativeId: string;
  placeholder: boolean;
  filePath: string;
  /** Rises with every change of the session: of two records the higher one is newer. */
  version: number;
  session: Session;
}

export interface SessionRow {
  key: string;
  owner_id: string;
  device_id: string;
  agent_type: string;
  native_id: string;
  placeholder: boolean;
  file_path: string;
  version: bigint;
  /** The Session of the protocol, as JSON. */
  session: string;
}

/** Sessions as a reader sees them, with their last task. `source`: the table, or those rows of it that are wanted. `more`: further columns. */
export const sessionsOf = (source: Sql, more = sql.empty): Sql => sql`
  SELECT ${more} s.key, s.owner_id, s.device_id, s.agent_type, s.native_id, s.placeholder, s.file_path, s.version, ${sessionJson} AS session
  FROM ${source} s
  LEFT JOIN LATERAL ${lastTask} t ON true
  LEFT JOIN LATERAL ${line} l ON true`;

export const sessionSelect = sessionsOf(sql`sessions`);

export function toSessionRecord(row: SessionRow): SessionRecord {
  return {
    key: row.key,
    ownerId: row.owner_id,
    nativeId: row.native_id,
    placeholder: row.placeholder,
    filePath: row.file_path,
    version: Number(row.version),
    session: JSON.parse(row.session) as Session,
  };
}

/** The columns of a session that a function of the database returns (`turn-functions.ts`). */
export interface ReturnedSession {
  r_key: string;
  r_owner: string;
  r_native: string;
  r_placeholder: boolean;
  r_file: string;
  r_version: bigint;
  r_session: string;
}

export const toReturned = (row: ReturnedSession): SessionRecord => ({
  key: row.r_key,
  ownerId: row.r_owner,
  nativeId: row.r_native,
  placeholder: row.r_placeholder,
  filePath: row.r_file,
  version: Number(row.r_version),
  session: JSON.parse(row.r_session) as Session,
});

/**
 * Finds a session of this owner by its current or any former id (rules, 1.5). Undefined if it does not exist, is
 * deleted or another user's, or if the text is not a session id.
 */
export async function findSession(db: Db, ownerId: string, sessionId: string): Promise<SessionRecord | undefined> {
  const id = parseSessionId(sessionId);
  if (!id || sessionId.includes('\0')) return undefined;
  const [row] = await db.sql.query<SessionRow>(namedNow(ownerId, id));
  return row ? toSessionRecord(row) : findAliased(db, ownerId, id);
}

/**
 * Runs `work` under the lock of the device of a session (`withDevice`), with the session: as `findSession`, read under the lock, in the round
 * trip that takes it.
 */
export async function withSessionLocked<T>(
  db: Transactions,
  ownerId: string,
  id: SessionIdParts,
  work: (tx: Db, record: SessionRecord | undefined) => Promise<T>,
): Promise<T> {
  return withDeviceAnd<T, SessionRow>(db, id.deviceId, namedNow(ownerId, id), async (tx, _device, [row]) =>
    work(tx, row ? toSessionRecord(row) : await findAliased(tx, ownerId, id)),
  );
}

/** OFFSET 0 makes PostgreSQL use the unique index of these three columns; another plan reads all sessions of the owner. */
const namedNow = (ownerId: string, { deviceId, agentType, nativeId }: SessionIdParts) => sql`${sessionsOf(sql`(
    SELECT * FROM sessions WHERE device_id = ${deviceId} AND agent_type = ${agentType} AND native_id = ${nativeId} OFFSET 0)`)}
  WHERE s.owner_id = ${ownerId} AND s.deleted_at IS NULL`;

async function findAliased(db: Db, ownerId: string, id: SessionIdParts): Promise<SessionRecord | undefined> {
  const aliased = await db.sql.query<SessionRow>`${sessionSelect}
    WHERE s.key = (SELECT session_key FROM session_aliases
                   WHERE device_id = ${id.deviceId} AND agent_type = ${id.agentType} AND native_id = ${id.nativeId})
      AND s.owner_id = ${ownerId} AND s.deleted_at IS NULL`;
  return aliased[0] && toSessionRecord(aliased[0]);
}

/** Sessions by key, in no particular order; deleted ones are left out. */
export async function readSessions(db: Db, keys: readonly string[]): Promise<SessionRecord[]> {
  if (keys.length === 0) return [];
  // OFFSET 0 makes PostgreSQL find each session by its key, also in a plan that was made when the table was small.
  const named = sql`(SELECT s.* FROM unnest(${sql.texts([...new Set(keys)])}) AS wanted(key)
    CROSS JOIN LATERAL (SELECT * FROM sessions WHERE key = wanted.key OFFSET 0) s)`;
  const rows = await db.sql.query<SessionRow>(sql`${sessionsOf(named)} WHERE s.deleted_at IS NULL`);
  return rows.map(toSessionRecord);
}

/** The session of a device that has, or once had, this native id. Deleted ones are left out. */
export async function findNativeSession(
  db: Db,
  deviceId: string,
  nativeId: string,
): Promise<SessionRecord | undefined> {
  const rows = await db.sql.query<SessionRow>(findNativeStatement(deviceId, nativeId));
  return rows[0] && toSessionRecord(rows[0]);
}

/**
 * The statement of `findNativeSession`. The index begins with device and agent: it skips through the agents and reads
 * no other entry.
 */
function findNativeStatement(deviceId: string, nativeId: string): Sql {
  const keyIn = (table: Sql, key: Sql) => {
    const nextAgent = (after: Sql) =>
      sql`(SELECT agent_type FROM ${table} WHERE device_id = ${deviceId} AND ${after} ORDER BY agent_type LIMIT 1)`;
    return sql`(
      WITH RECURSIVE agents(agent_type) AS (
        SELECT ${nextAgent(sql`true`)} UNION ALL SELECT ${nextAgent(sql`agent_type > agents.agent_type`)} FROM agents WHERE agents.agent_type IS NOT NULL
      )
      SELECT found.key FROM agents CROSS JOIN LATERAL (SELECT ${key} AS key FROM ${table}
        WHERE device_id = ${deviceId} AND agent_type = agents.agent_type AND native_id = ${nativeId} OFFSET 0) found LIMIT 1)`;
  };
  return sql`${sessionSelect} WHERE s.deleted_at IS NULL AND s.key = COALESCE(
    ${keyIn(sql`sessions`, sql`key`)}, ${keyIn(sql`session_aliases`, sql`session_key`)})`;
}

/**
 * A title given here is the user's and no report overwrites it. A pin does not count as a change of the session and
 * does not move it.
 */
export async function updateSession(
  db: Db,
  key: string,
  change: { title?: string | undefined; archived?: boolean | undefined; pinned?: boolean | undefined },
): Promise<void> {
  const { title = null, archived = null, pinned = null } = change;
  await db.sql.execute`
    UPDATE sessions SET title = COALESCE(${title}, title), archived = COALESCE(${archived}, archived),
      updated_at = CASE WHEN ${title}::text IS NULL AND ${archived}::boolean IS NULL THEN updated_at ELSE now() END,
      pinned_at = CASE ${pinned}::boolean WHEN true THEN COALESCE(pinned_at, now()) WHEN false THEN NULL ELSE pinned_at END,
      title_source = CASE WHEN ${title}::text IS NULL THEN title_source ELSE 'user' END
    WHERE key = ${key}`;
  if (archived !== true) return;
  await pauseArchived(db, key);
  await move(db, 'shelve', sql`t.session_key = ${key}`);
}

/** Saves the notifications that the owner wants of the session; null: as in the settings. */
export async function setNotify(db: Db, key: string, notify: 'all' | 'off' | null): Promise<void> {
  await db.sql.execute`UPDATE sessions SET notify = ${notify} WHERE key = ${key} AND notify IS DISTINCT FROM ${notify}`;
}

/** The user has read up to then, or, without a time, everything. */
export async function markRead(db: Db, key: string, upTo: Date | null): Promise<void> {
  await db.sql.execute`
    UPDATE sessions SET read_at = GREATEST(read_at, LEAST(COALESCE(${upTo}::timestamptz, news_at), news_at)) WHERE key = ${key}`;
}

/** The user marked it as unread. */
export async function markUnread(db: Db, key: string): Promise<void> {
  await db.sql.execute`UPDATE sessions SET read_at = NULL, news_at = COALESCE(news_at, updated_at) WHERE key = ${key}`;
}

/**
 * Erases a session; it is discovered again when the daemon reports activity later than now. Its open tasks are cancelled.
 * Returns the id of the task that its daemon has, if any: the daemon should get a cancellation.
 */
export async function deleteSession(db: Db, key: string): Promise<string | undefined> {
  const running = await db.sql.query<{ id: string }>`
    SELECT t.id FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE s.key = ${key} AND ${isWithDaemon}
    ORDER BY t.state IN ${underWay} DESC LIMIT 1`;
  await eraseSession(db, key);
  return running[0]?.id;
}

/** The newest progress of a session, and the task that reported it. */
export interface NewestProgress {
  key: string;
  taskId: string;
  progress: Progress;
}

/** Saves the progress of many sessions. Skips a task that is over: the session can already run the next one. */
export async function saveProgress(db: Db, entries: readonly NewestProgress[]): Promise<void> {
  if (entries.length === 0) return;
  const [keys, tasks] = [entries.map(({ key }) => key), entries.map(({ taskId }) => taskId)];
  await db.sql.execute`
    UPDATE sessions s SET progress = p.progress::jsonb
    FROM unnest(${sql.texts(keys)}, ${sql.texts(tasks)}, ${sql.texts(entries.map((e) => JSON.stringify(e.progress)))}) AS p(key, task, progress)
    WHERE s.key = p.key AND s.status = 'active'
      AND EXISTS (SELECT 1 FROM tasks t WHERE t.id = p.task AND t.session_key = s.key AND t.state IN ${underWay})`;
}
