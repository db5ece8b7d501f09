/**
 * Finds sessions of a person by state, machine, text; for lists, and for changes to many at once. An index serves each
 * filter.
 */
import { type SessionStatus, limits } from '@relay/protocol';
import { lastTask, shownStatus } from './session-status.ts';
import { sessionsOf } from './sessions.ts';
import { isOverdue } from './task-states.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

export interface SessionFilter {
  deviceId?: string | undefined;
  status?: SessionStatus | undefined;
  /** Every word of it begins a word of the title, the project or the last message. */
  q?: string | undefined;
  pinned?: true | undefined;
  archived: 'false' | 'true' | 'all';
  /** Last changed before. */
  before?: Date | undefined;
  /** Only among these. */
  keys?: readonly string[] | undefined;
  /** Only sessions that the agent of this sign-in started. */
  startedBy?: string | undefined;
}

export interface SessionPage extends SessionFilter {
  limit: number;
  after?: { updatedAt: Date; key: string };
}

const newestFirst = sql`ORDER BY s.updated_at DESC, s.key DESC`;

/** A session of a list: `json` is the Session of the protocol. */
interface ListedSession {
  key: string;
  json: string;
}

/** A page of the owner's sessions, newest `updatedAt` first (then key), one more than `limit` when there is a next page. */
export async function listSessions(
  db: Db,
  ownerId: string,
  { limit, after, ...filter }: SessionPage,
): Promise<ListedSession[]> {
  const found = await conditionOf(db, ownerId, filter, limit + 1, after);
  if (!found) return [];
  const { source, condition } = found;
  // Select the rows of the page first, then their details: without statistics PostgreSQL would read and sort all
  // sessions of the person with their tasks.
  const page = sql`(SELECT s.* FROM ${source} s ${tasksFor(filter)} WHERE ${condition} ${newestFirst} LIMIT ${limit + 1})`;
  return db.sql.query<ListedSession>`SELECT key, session AS json FROM (${sessionsOf(page)} ${newestFirst}) listed`;
}

/** The newest sessions that the filter means, at most `limit`. */
export async function findSessions(
  db: Db,
  ownerId: string,
  filter: SessionFilter,
  limit: number,
): Promise<{ key: string; deviceId: string }[]> {
  const found = await conditionOf(db, ownerId, filter, limit, undefined);
  if (!found) return [];
  const { source, condition } = found;
  const rows = await db.sql.query<{ key: string; device_id: string }>`
    SELECT s.key, s.device_id FROM ${source} s LEFT JOIN LATERAL ${lastTask} t ON true
    WHERE ${condition} ${newestFirst} LIMIT ${limit}`;
  return rows.map((row) => ({ key: row.key, deviceId: row.device_id }));
}

/** Sessions that are looked at for folders. */
const sessionsWithFolders = 500;

/** Where the newest sessions of a device worked, the newest folder first. */
export async function recentFolders(
  db: Db,
  ownerId: string,
  deviceId: string,
): Promise<{ path: string; usedAt: string }[]> {
  const rows = await db.sql.query<{ path: string; used_at: Date }>`
    SELECT n.project_path AS path, max(n.updated_at) AS used_at
    FROM (SELECT s.project_path, s.updated_at FROM sessions s WHERE s.owner_id = ${ownerId} AND s.device_id = ${deviceId}
      AND s.deleted_at IS NULL AND s.project_path <> '' ${newestFirst} LIMIT ${sessionsWithFolders}) n
    GROUP BY n.project_path ORDER BY used_at DESC, path LIMIT ${limits.recentFolders}`;
  return rows.map((row) => ({ path: row.path, usedAt: row.used_at.toISOString() }));
}

/**
 * The sessions to look among, and a condition about `s` with its `lastTask` `t`; undefined when nothing can match. `count`: how many are
 * wanted.
 */
async function conditionOf(
  db: Db,
  ownerId: string,
  filter: SessionFilter,
  count: number,
  after: SessionPage['after'],
): Promise<{ source: Sql; condition: Sql } | undefined> {
  const conditionAmong = (source: Sql, most = count) => ({
    source,
    condition: plainCondition(ownerId, filter, most, after, source),
  });
  const all = sql`sessions`;
  if (filter.q === undefined) return conditionAmong(all);
  const wanted = await wordsOf(db, ownerId, filter.q);
  if (wanted === undefined) return undefined;
  const rows = await db.sql.query<{
    key: string;
  }>`SELECT relay_sessions_with(${wanted}::tsquery, ${fewSessions + 1}::int) AS key`;
  if (rows.length <= fewSessions) return conditionAmong(keyed(rows.map(({ key }) => key)));
  // Where many match, most of the newest do. More are read at a time until enough are found.
  for (let most = count; ; most *= 6) {
    const { condition } = conditionAmong(all, most);
    const newest = await db.sql.query<{ key: string; has: boolean }>`
      SELECT n.key, EXISTS (SELECT 1 FROM session_words w WHERE w.session_key = n.key AND w.own @@ ${wanted}::tsquery OFFSET 0) AS has
      FROM (SELECT s.key FROM sessions s ${tasksFor(filter)} WHERE ${condition} ${newestFirst} LIMIT ${most}) n`;
    const found = newest.flatMap(({ key, has }) => (has ? [key] : []));
    if (found.length >= count || newest.length < most) return conditionAmong(keyed(found.slice(0, count)));
  }
}

/** Sessions that match a search and are looked up by key. */
const fewSessions = 450;

const keyed = (keys: readonly string[]) => sql`(SELECT found.* FROM unnest(${sql.texts(keys)}) AS wanted(key)
  CROSS JOIN LATERAL (SELECT * FROM sessions WHERE key = wanted.key OFFSET 0) found)`;

const tasksFor = ({ status }: SessionFilter) =>
  status === undefined ? sql.empty : sql`LEFT JOIN LATERAL ${lastTask} t ON true`;

/** The filter without `q`. */
function plainCondition(
  ownerId: string,
  { deviceId, status, pinned, archived, before, keys, startedBy }: SessionFilter,
  count: number,
  after: SessionPage['after'],
  source: Sql,
): Sql {
  const conditions = [sql`s.owner_id = ${ownerId}`, sql`s.deleted_at IS NULL`];
  if (archived !== 'all') conditions.push(sql`s.archived = ${archived === 'true'}`);
  if (deviceId !== undefined) conditions.push(sql`s.device_id = ${deviceId}`);
  if (keys) conditions.push(sql`s.key = ANY(${[...keys]}::text[])`);
  if (startedBy !== undefined) conditions.push(sql`s.started_by = ${startedBy}`);
  if (pinned) conditions.push(sql`s.pinned_at IS NOT NULL`);
  if (before) conditions.push(sql`s.updated_at < ${before}::timestamptz`);
  if (after) conditions.push(sql`(s.updated_at, s.key) < (${after.updatedAt}::timestamptz, ${after.key})`);
  if (status !== undefined) conditions.push(isShownAs(status, ownerId, source, sql.join(conditions, ' AND '), count));
  return sql.join(conditions, ' AND ');
}

/**
 * `shownStatus` is this one. It differs from the column only where the last task has expired; such a session is found by its task, so that
 * no status needs a look at every session of the person.
 */
function isShownAs(status: SessionStatus, ownerId: string, source: Sql, others: Sql, count: number): Sql {
  if (status === 'active' || status === 'waiting') return sql`s.status = ${status}`;
  if (status !== 'failed') return sql`s.status = ${status} AND (${shownStatus}) = ${status}`;
  return sql`(${shownStatus}) = 'failed' AND s.key IN (
    (SELECT s.key FROM ${source} s WHERE ${others} AND s.status = 'failed' ${newestFirst} LIMIT ${count})
    UNION ALL
    (SELECT x.session_key FROM tasks x WHERE x.device_id = ANY(ARRAY(SELECT id FROM devices WHERE owner_id = ${ownerId}))
      AND (x.state = 'expired' OR ${isOverdue('x')})))`;
}

/**
 * The query for the full-text index; undefined if `q` contains no searchable term. A term of one letter or digit
 * matches only itself: as a prefix it would match nearly everything. In scripts without spaces one character is a term.
 */
async function wordsOf(db: Db, ownerId: string, q: string): Promise<string | undefined> {
  const [row] = await db.sql.query<{ wanted: string | null }>`
    SELECT string_agg('''' || relay_owner_word(${ownerId}) || '/' || word || '''' || CASE WHEN length(word) = 1 AND ascii(word) < 3584 THEN '' ELSE ':*' END, ' & ') AS wanted
    FROM unnest(relay_words(${q})) AS word`;
  return row?.wanted ?? undefined;
}
