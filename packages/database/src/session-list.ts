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
  after?: Place;
}

/** A place in the order of a list. */
interface Place {
  updatedAt: Date;
  key: string;
}

const allSessions = sql`sessions`;
const newestFirst = sql`ORDER BY s.updated_at DESC, s.key DESC`;

/** A session of a list: `json` is the Session of the protocol. */
interface ListedSession {
  key: string;
  json: string;
}

export interface Listing {
  /** Newest `updatedAt` first (then key), one more than `limit` when there is a next page. */
  sessions: ListedSession[];
  /** A search stopped after this session: older ones can match too. */
  searchedTo?: Place | undefined;
}

/** A page that a person requests. */
export interface SessionPageQuery {
  readonly ownerId: string;
  readonly page: SessionPage;
}

/** Pages of many people, as `listSessions`: pages without a filter in one statement, filtered pages one by one. */
export async function listPages(db: Db, queries: readonly SessionPageQuery[]): Promise<Map<SessionPageQuery, Listing>> {
  const plain = queries.filter(({ page }) => isPlain(page));
  const filtered = queries.filter(({ page }) => !isPlain(page));
  const found = new Map<SessionPageQuery, Listing>(plain.map((one) => [one, { sessions: [] }]));
  await Promise.all([
    readPlain(db, plain, found),
    ...filtered.map(async (one) => found.set(one, await listSessions(db, one.ownerId, one.page))),
  ]);
  return found;
}

/** Selects sessions by their order alone. */
const isPlain = ({ limit: _limit, after: _after, archived, ...filter }: SessionPage) =>
  archived !== 'all' && Object.values(filter).every((value) => value === undefined);

async function readPlain(
  db: Db,
  queries: readonly SessionPageQuery[],
  found: Map<SessionPageQuery, Listing>,
): Promise<void> {
  if (queries.length === 0) return;
  const texts = (of: (one: SessionPageQuery) => string) => sql.texts(queries.map(of));
  const pages = sql`(SELECT w.n, p.* FROM unnest(${texts(({ ownerId }) => ownerId)}, ${texts(({ page }) => page.archived)},
      ${texts(({ page }) => String(page.limit + 1))}, ${texts(({ page }) => page.after?.updatedAt.toISOString() ?? 'infinity')},
      ${texts(({ page }) => page.after?.key ?? '')}) WITH ORDINALITY AS w (owner_id, archived, most, before, before_key, n)
    CROSS JOIN LATERAL (SELECT s.* FROM sessions s WHERE s.owner_id = w.owner_id AND s.archived = (w.archived = 'true') AND s.deleted_at IS NULL
      AND (s.updated_at, s.key) < (w.before::timestamptz, w.before_key) ${newestFirst} LIMIT w.most::int) p)`;
  const rows = await db.sql.query<ListedSession & { n: number }>`
    SELECT n::int AS n, key, session AS json FROM (${sessionsOf(pages, sql`s.n, s.updated_at,`)}) listed ORDER BY n, updated_at DESC, key DESC`;
  for (const { n, ...row } of rows) found.get(queries[n - 1]!)!.sessions.push(row);
}

/** A page of the owner's sessions. */
export async function listSessions(
  db: Db,
  ownerId: string,
  { limit, after, ...filter }: SessionPage,
): Promise<Listing> {
  const found = await conditionOf(db, ownerId, filter, { count: limit + 1, after, effort: effortOfPage });
  if (!found) return { sessions: [] };
  const { source, condition, searchedTo } = found;
  // Select the rows of the page first, then their details: without statistics PostgreSQL would read and sort all
  // sessions of the person with their tasks.
  const page = sql`(SELECT s.* FROM ${source} s ${tasksFor(filter)} WHERE ${condition} ${newestFirst} LIMIT ${limit + 1})`;
  const sessions = await db.sql
    .query<ListedSession>`SELECT key, session AS json FROM (${sessionsOf(page)} ${newestFirst}) listed`;
  return { sessions, searchedTo };
}

/** The newest sessions that the filter means, at most `limit`. */
export async function findSessions(
  db: Db,
  ownerId: string,
  filter: SessionFilter,
  limit: number,
): Promise<{ key: string; deviceId: string }[]> {
  const found = await conditionOf(db, ownerId, filter, { count: limit, after: undefined, effort: Infinity });
  if (!found) return [];
  const { source, condition } = found;
  const rows = await db.sql.query<{ key: string; device_id: string }>`
    SELECT s.key, s.device_id FROM ${source} s LEFT JOIN LATERAL ${lastTask} t ON true
    WHERE ${condition} ${newestFirst} LIMIT ${limit}`;
  return rows.map((row) => ({ key: row.key, deviceId: row.device_id }));
}

/** Sessions that are looked at for folders, archived and not. */
const sessionsWithFolders = 225;

/** Where the newest sessions of a device worked, the newest folder first. */
export async function recentFolders(
  db: Db,
  ownerId: string,
  deviceId: string,
): Promise<{ path: string; usedAt: string }[]> {
  const condition = sql`s.device_id || '' = ${deviceId} AND s.owner_id || '' = ${ownerId} AND s.deleted_at IS NULL AND s.project_path <> ''`;
  const rows = await db.sql.query<{ path: string; used_at: Date }>`
    SELECT n.project_path AS path, max(n.updated_at) AS used_at
    FROM ${eitherArchived(condition, sessionsWithFolders)} n
    GROUP BY n.project_path ORDER BY used_at DESC, path LIMIT ${limits.recentFolders}`;
  return rows.map((row) => ({ path: row.path, usedAt: row.used_at.toISOString() }));
}

/** The newest archived and the newest other sessions with this condition about `s`, `count` each: the indexes with an order have one or the other. */
const eitherArchived = (
  condition: Sql,
  count: number,
) => sql`(SELECT newest.* FROM (VALUES (false), (true)) AS a (archived)
  CROSS JOIN LATERAL (SELECT s.* FROM sessions s WHERE ${condition} AND s.archived = a.archived ${newestFirst} LIMIT ${count}) newest)`;

interface Wanted {
  /** Number of sessions. */
  count: number;
  after: Place | undefined;
  /** The most blocks that a search reads per session of `count`. */
  effort: number;
}

/** The sessions to look among, and a condition about `s` with its `lastTask` `t`; undefined when nothing can match. */
async function conditionOf(
  db: Db,
  ownerId: string,
  filter: SessionFilter,
  wanted: Wanted,
): Promise<{ source: Sql; condition: Sql; searchedTo?: Place | undefined } | undefined> {
  const { count, after } = wanted;
  const conditionAmong = (source: Sql) => candidatesAmong(source, ownerId, filter, count, after);
  if (filter.q === undefined) return conditionAmong(allSessions);
  const search = await searchOf(db, ownerId, filter.q);
  if (search === undefined) return undefined;
  const rows = await db.sql.query<{
    key: string;
  }>`SELECT relay_sessions_with(${search.query}::tsquery, ${fewSessions + 1}::int) AS key`;
  if (rows.length <= fewSessions) return conditionAmong(keyed(rows.map(({ key }) => key)));
  const { keys, searchedTo } = await newestWith(db, ownerId, filter, search, wanted);
  return { ...conditionAmong(keyed(keys)), searchedTo };
}

/**
 * The newest sessions with the terms. Reads sessions in their order, and compares the indexed terms of sessions that contain all texts. Returns
 * `searchedTo` if it stopped at its effort.
 */
async function newestWith(
  db: Db,
  ownerId: string,
  filter: SessionFilter,
  { query, terms }: Search,
  { count, after, effort }: Wanted,
): Promise<{ keys: string[]; searchedTo?: Place }> {
  const keys: string[] = [];
  let from = after;
  let read = 0;
  while (keys.length < count) {
    const rest = effort * count - read * blocksOf.candidate - keys.length * blocksOf.match;
    // One more than was found, so that a first page without a match does not promise none.
    const share = (keys.length + 1) / Math.max(read, count);
    const affordable = Math.min(
      read === 0 ? count : Infinity,
      Math.floor(rest / (blocksOf.candidate + share * blocksOf.match)),
    );
    if (affordable < 8) return { keys, searchedTo: from! };
    const { source, condition } = candidatesAmong(allSessions, ownerId, filter, affordable, from);
    const left = count - keys.length;
    const rows = await db.sql.query<{ key: string; updated_at: Date; place: number; has: boolean | null }>`
      SELECT n.key, n.updated_at, n.place::int AS place, CASE WHEN n.may AND n.place <= ${left}::int THEN
        EXISTS (SELECT 1 FROM session_words w WHERE w.session_key = n.key AND w.own @@ ${query}::tsquery OFFSET 0) END AS has
      FROM (SELECT c.*, count(*) FILTER (WHERE c.may) OVER (${newestCandidate} ROWS UNBOUNDED PRECEDING) AS place
        FROM (SELECT s.key, s.updated_at, NOT EXISTS (SELECT 1 FROM unnest(${sql.texts(terms)}) AS t(term)
            WHERE strpos(relay_plain(left(s.title, 1024) || ' ' || left(s.project_path, 1024) || ' ' || s.last_message), t.term COLLATE "C") = 0) AS may
          FROM ${source} s ${tasksFor(filter)} WHERE ${condition} ${newestFirst} LIMIT ${affordable}) c) n ${newestCandidate}`;
    const compared = rows.filter(({ place }) => place <= left);
    const found = compared.flatMap(({ key, has }) => (has ? [key] : []));
    keys.push(...found);
    const last = compared.at(-1);
    if (last) from = { updatedAt: last.updated_at, key: last.key };
    if (rows.length < affordable && compared.length === rows.length) break;
    read += rows.length;
  }
  return { keys: keys.slice(0, count) };
}

const newestCandidate = sql`ORDER BY updated_at DESC, key DESC`;
/** A page of 20 reads 500 blocks at most: 360 for the search, the rest to see whether few sessions match. */
const effortOfPage = 17;
/** A candidate and its part of the index; a match with its terms and its details in the list. */
const blocksOf = { candidate: 1.25, match: 17 };
/** Sessions that match a search and are looked up by key. */
const fewSessions = 40;

const keyed = (keys: readonly string[]) => sql`(SELECT found.* FROM unnest(${sql.texts(keys)}) AS wanted(key)
  CROSS JOIN LATERAL (SELECT * FROM sessions WHERE key = wanted.key OFFSET 0) found)`;

const tasksFor = ({ status }: SessionFilter) =>
  status === undefined ? sql.empty : sql`LEFT JOIN LATERAL ${lastTask} t ON true`;

/**
 * The sessions of `source` that the filter without `q` selects, as a source and a condition. The shown status differs from the column only where
 * the last task has expired: failed sessions are also looked up by such tasks, so that no status reads every session of the person.
 */
function candidatesAmong(source: Sql, ownerId: string, filter: SessionFilter, count: number, after: Place | undefined) {
  const { deviceId, status, pinned, archived, before, keys, startedBy } = filter;
  // Machines and agents have indexes of their sessions in the order of the list. States other than `idle` are rarer than those.
  const isInOrder = status === undefined || (status === 'idle' && archived !== 'all');
  const isPart = source === allSessions && (startedBy ?? deviceId) !== undefined && !pinned && !keys && isInOrder;
  // As a computed value a column leaves one index, also to a plan that was made on an empty table. The index of machines has the computed column.
  const owner = isPart ? sql`s.owner_id || ''` : sql`s.owner_id`;
  const device = isPart && startedBy === undefined ? sql`s.device_id || ''` : sql`s.device_id`;
  const isArchived = status === undefined || isPart ? sql`s.archived` : sql`s.archived::text::boolean`;
  const conditions = [sql`${owner} = ${ownerId}`, sql`s.deleted_at IS NULL`];
  if (archived !== 'all') conditions.push(sql`${isArchived} = ${archived === 'true'}`);
  if (deviceId !== undefined) conditions.push(sql`${device} = ${deviceId}`);
  if (keys) conditions.push(sql`s.key = ANY(${[...keys]}::text[])`);
  if (startedBy !== undefined) conditions.push(sql`s.started_by = ${startedBy}`);
  if (pinned) conditions.push(sql`s.pinned_at IS NOT NULL`);
  if (before) conditions.push(sql`s.updated_at < ${before}::timestamptz`);
  if (after) conditions.push(sql`(s.updated_at, s.key) < (${after.updatedAt}::timestamptz, ${after.key})`);
  const others = sql.join(conditions, ' AND ');
  if (isPart && archived === 'all') return { source: eitherArchived(others, count), condition: sql`true` };
  if (status === undefined) return { source, condition: others };
  if (status === 'active' || status === 'waiting')
    return { source, condition: sql`${others} AND s.status = ${status}` };
  if (status !== 'failed')
    return {
      source,
      condition: sql`${others} AND ${isPart ? sql`s.status || ''` : sql`s.status`} = ${status} AND (${shownStatus}) = ${status}`,
    };
  const failed = sql`(SELECT s.key FROM ${source} s WHERE ${others} AND s.status = 'failed' ${newestFirst} LIMIT ${count})
    UNION (SELECT x.session_key FROM devices d CROSS JOIN LATERAL (
      SELECT session_key FROM tasks WHERE device_id = d.id AND state = 'expired'
      UNION ALL SELECT q.session_key FROM tasks q WHERE q.device_id = d.id AND ${isOverdue('q')}) x WHERE d.owner_id = ${ownerId})`;
  const found = sql`(SELECT found.* FROM (${failed}) AS wanted(key)
    CROSS JOIN LATERAL (SELECT * FROM ${source} o WHERE o.key = wanted.key OFFSET 0) found)`;
  return { source: found, condition: sql`${others} AND (${shownStatus}) = 'failed'` };
}

interface Search {
  terms: string[];
  /** The terms of this person, for the full-text index. */
  query: string;
}

/**
 * Undefined if `q` contains no searchable term. A term of one letter or digit matches only itself: as a prefix it would match nearly
 * everything. In scripts without spaces one character is a term.
 */
async function searchOf(db: Db, ownerId: string, q: string): Promise<Search | undefined> {
  const [row] = await db.sql.query<{ terms: string[] | null; query: string | null }>`
    SELECT array_agg(word) AS terms,
      string_agg('''' || relay_owner_word(${ownerId}) || '/' || word || '''' || CASE WHEN length(word) = 1 AND ascii(word) < 3584 THEN '' ELSE ':*' END, ' & ') AS query
    FROM unnest(relay_words(${q})) AS word`;
  return row?.terms && row.query !== null ? { terms: row.terms, query: row.query } : undefined;
}
