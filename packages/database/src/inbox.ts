/**
 * The noun inbox item (rules, 14.16): something that waits for a person. Triggers open and close items in the transaction of their cause,
 * and raise the version of the person's head as its last lock (ADR 45): no writer of questions, tasks or devices is named here.
 */
import {
  type InboxCounts,
  type InboxItem,
  type InboxKind,
  type InboxState,
  cutText,
  formatSessionId,
  inboxKinds,
  inboxLimits,
  limits,
} from '@relay/protocol';
import { type Sql, sql } from './sql.ts';
import type { Db, Transactions } from './transaction.ts';

const headVersion = (userId: string) =>
  sql`COALESCE((SELECT h.version FROM inbox_heads h WHERE h.user_id = ${userId}), 0)::int`;

/**
 * One row with all counts, as the head carries them; items are counted, from the index alone, where it does not. Nothing here compares clocks:
 * counts are a function of the version.
 */
const countsOf = (userId: string) => {
  const of = (name: InboxKind | 'snoozed') => sql`COALESCE((k.counts->>${sql.raw(`'${name}'`)})::int, 0)`;
  const open = inboxKinds.map(of);
  const urgent = (['question', 'unknown', 'failure'] as const).map(of);
  return sql`SELECT ${of('question')} AS question, ${of('failure')} AS failure, ${of('unknown')} AS unknown,
      ${of('finished')} AS finished, ${of('device')} AS device, NULLIF(${of('missed')}, 0) AS missed, ${of('snoozed')} AS snoozed,
      ${sql.join(open, ' + ')} AS total, ${sql.join(urgent, ' + ')} AS badge
    FROM (SELECT COALESCE((SELECT h.counts FROM inbox_heads h WHERE h.user_id = ${userId}),
      (SELECT jsonb_object_agg(c.named, c.number) FROM (SELECT CASE i.state WHEN 'open' THEN i.kind ELSE i.state END AS named, count(*) AS number
        FROM inbox_items i WHERE i.user_id = ${userId} AND i.state <> 'closed' GROUP BY 1) c)) AS counts OFFSET 0) k`;
};

/** The statement behind `inboxCounts`, for tests of its plan. */
export const inboxCountsStatement = (userId: string): Sql =>
  sql`SELECT ${headVersion(userId)} AS version, c.* FROM (${countsOf(userId)}) c`;

/** Leaves out the number of missed runs while it is 0. */
function present({
  missed,
  ...counts
}: Omit<InboxCounts, 'missed'> & { missed?: number | null | undefined }): InboxCounts {
  return { ...counts, ...(missed ? { missed } : {}) };
}

/** Head and counts, of one snapshot. The one place where a badge is counted: question, unknown and failure, open. */
export async function inboxCounts(db: Db, userId: string): Promise<InboxState> {
  const [row] = await db.sql.query<InboxCounts & { version: number }>(inboxCountsStatement(userId));
  const { version, ...counts } = row!;
  return { version, counts: present(counts) };
}

interface ItemRow {
  id: string;
  kind: InboxKind;
  state: 'open' | 'snoozed';
  version: bigint;
  created_at: Date;
  expires_at: Date | null;
  snoozed_until: Date | null;
  reason: string | null;
  subject: string;
  device_id: string | null;
  device_name: string | null;
  agent_type: string | null;
  native_id: string | null;
  title: string | null;
  project_path: string | null;
  last_message: string | null;
  error_text: string | null;
  prompt: InboxItem['prompt'] | null;
}

/**
 * Items with everything that it takes to answer, looked up for each of `source`: rows of the table that are few. Each of their machines is
 * looked up once.
 */
const itemsOf = (source: Sql) => sql`
  WITH page AS MATERIALIZED (
    SELECT i.id, i.kind, i.state, i.version, i.created_at, i.expires_at, i.snoozed_until, i.reason, i.subject,
      CASE WHEN i.kind = 'device' THEN i.subject ELSE COALESCE(s.device_id, c.device_id) END AS machine,
      s.agent_type, s.native_id, COALESCE(s.title, c.title, c.message) AS title, s.project_path, s.last_message, t.error_text,
      CASE WHEN i.kind = 'question' THEN COALESCE((SELECT p.payload FROM prompts p WHERE p.session_key = i.session_key AND p.uuid = i.subject),
        s.prompt) END AS prompt
    FROM ${source} i LEFT JOIN LATERAL (SELECT * FROM sessions WHERE key = i.session_key OFFSET 0) s ON true
      LEFT JOIN LATERAL (SELECT device_id, title, split_part(left(message, 1024), chr(10), 1) AS message FROM schedules
        WHERE i.kind = 'missed' AND id = i.subject OFFSET 0) c ON true
      LEFT JOIN LATERAL (SELECT * FROM tasks WHERE i.kind IN ('failure', 'unknown') AND id = i.subject OFFSET 0) t ON true
  ), machines AS MATERIALIZED (
    SELECT d.id, d.name FROM (SELECT DISTINCT machine FROM page) w CROSS JOIN LATERAL (SELECT * FROM devices WHERE id = w.machine OFFSET 0) d
  )
  SELECT i.*, d.id AS device_id, d.name AS device_name FROM page i LEFT JOIN machines d ON d.id = i.machine`;

function itemOf(row: ItemRow): InboxItem {
  const { device_id: deviceId, agent_type: agentType, native_id: nativeId } = row;
  const isTask = row.kind === 'failure' || row.kind === 'unknown';
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    version: Number(row.version),
    createdAt: row.created_at.toISOString(),
    ...(row.expires_at ? { expiresAt: row.expires_at.toISOString() } : {}),
    ...(row.snoozed_until ? { snoozedUntil: row.snoozed_until.toISOString() } : {}),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(deviceId === null ? {} : { deviceId, deviceName: row.device_name ?? '' }),
    ...(deviceId !== null && agentType !== null && nativeId !== null
      ? {
          sessionId: formatSessionId({ deviceId, agentType, nativeId }),
          title: row.title ?? '',
          projectPath: row.project_path ?? '',
          lastMessage: row.last_message ?? '',
        }
      : {}),
    ...(row.kind === 'missed'
      ? { scheduleId: row.subject, title: cutText(row.title ?? '', limits.nameCharacters) }
      : {}),
    ...(isTask ? { taskId: row.subject } : {}),
    ...(row.error_text ? { error: row.error_text } : {}),
    ...(row.prompt ? { prompt: row.prompt } : {}),
  };
}

interface InboxPage {
  limit: number;
  kind?: InboxKind | undefined;
  /** Snoozed items instead of open ones. */
  snoozed?: boolean;
  after?: { createdAt: Date; id: string };
}

const newestFirst = sql`ORDER BY i.created_at DESC, i.id DESC`;

/** The statement that finds the items of a page, from the index of open items; exported for tests of its plan. */
export const inboxPageStatement = (userId: string, { limit, kind, snoozed, after }: InboxPage): Sql => {
  const conditions = [
    sql`i.user_id = ${userId}`,
    sql`i.state <> 'closed'`,
    sql`i.state = ${snoozed ? 'snoozed' : 'open'}`,
  ];
  if (kind) conditions.push(sql`i.kind = ${kind}`);
  if (after) conditions.push(sql`(i.created_at, i.id) < (${after.createdAt}::timestamptz, ${after.id})`);
  const pageOf = (columns: Sql) =>
    sql`(SELECT ${columns} FROM inbox_items i WHERE ${sql.join(conditions, ' AND ')} ${newestFirst} LIMIT ${limit + 1})`;
  // The index contains kind and state: items that do not match cost no read of the table.
  const page =
    kind || snoozed
      ? sql`(SELECT found.* FROM ${pageOf(sql`i.id, i.created_at`)} w CROSS JOIN LATERAL (SELECT * FROM inbox_items WHERE id = w.id OFFSET 0) found)`
      : pageOf(sql`i.*`);
  return sql`${itemsOf(page)} ${newestFirst}`;
};

/** Head, counts and a page of items, newest first, one more than `limit` when there is a next page; all of one snapshot. */
export async function readInbox(db: Db, userId: string, page: InboxPage): Promise<InboxState & { items: InboxItem[] }> {
  const rows = await db.sql.query<InboxCounts & { head: number; item: unknown }>(
    sql`SELECT ${headVersion(userId)} AS head, c.*, row_to_json(p) AS item FROM (${countsOf(userId)}) c
      LEFT JOIN (${inboxPageStatement(userId, page)}) p ON true ORDER BY p.created_at DESC, p.id DESC`,
  );
  const [first] = rows;
  const { question, failure, unknown, finished, device, missed, snoozed, total, badge } = first!;
  const counts = present({ question, failure, unknown, finished, device, missed, snoozed, total, badge });
  return { version: first!.head, counts, items: rows.flatMap(({ item }) => (item ? [itemOf(fromJson(item))] : [])) };
}

type TimesOf<Row, Name extends keyof Row, Time> = Omit<Row, Name> & Record<Name, Time>;
/** A row that came as JSON: its times are texts. */
type JsonRow = TimesOf<TimesOf<ItemRow, 'created_at', string>, 'expires_at' | 'snoozed_until', string | null>;

function fromJson(item: unknown): ItemRow {
  const row = item as JsonRow;
  const time = (text: string | null) => (text === null ? null : new Date(text));
  return {
    ...row,
    created_at: new Date(row.created_at),
    expires_at: time(row.expires_at),
    snoozed_until: time(row.snoozed_until),
  };
}

interface InboxChanges extends InboxState {
  /** The newest version that apps were sent. */
  published: number;
  changed: InboxItem[];
  removed: string[];
  /** More changed than is listed. */
  more: boolean;
}

/** Head, counts and changes since the newest publication, all from one snapshot. */
export async function inboxNews(db: Db, userId: string): Promise<InboxChanges> {
  const { changed: mostChanged, removed: mostRemoved } = inboxLimits;
  const since = sql`i.user_id = ${userId} AND i.version > (SELECT published FROM inbox_heads WHERE user_id = ${userId})`;
  const newest = sql`(SELECT i.* FROM inbox_items i WHERE ${since} AND i.state <> 'closed' ORDER BY i.version DESC LIMIT ${mostChanged + 1})`;
  const [row] = await db.sql.query<
    InboxCounts & { head: number; published: number; changed: unknown[]; removed: string[] }
  >`
    SELECT ${headVersion(userId)} AS head, COALESCE((SELECT h.published FROM inbox_heads h WHERE h.user_id = ${userId}), 0)::int AS published, c.*,
      COALESCE((SELECT json_agg(p ORDER BY p.version DESC) FROM (${itemsOf(newest)}) p), '[]') AS changed,
      ARRAY(SELECT i.id FROM inbox_items i WHERE ${since} AND i.state = 'closed' ORDER BY i.version DESC LIMIT ${mostRemoved + 1}) AS removed
    FROM (${countsOf(userId)}) c`;
  const { head, published, changed, removed, ...counts } = row!;
  return {
    version: head,
    published,
    counts: present(counts),
    changed: changed.slice(0, mostChanged).map((item) => itemOf(fromJson(item))),
    removed: removed.slice(0, mostRemoved),
    more: changed.length > mostChanged || removed.length > mostRemoved,
  };
}

/** Apps were sent this version. */
export async function markInboxPublished(db: Db, userId: string, version: number): Promise<void> {
  await db.sql
    .execute`UPDATE inbox_heads SET published = ${version} WHERE user_id = ${userId} AND published < ${version}`;
}

/** People whose newest version was raised `ms` ago or earlier and was not published: the instance that raised it died. At most 200. */
export async function unpublishedInboxes(db: Db, ms: number): Promise<string[]> {
  const rows = await db.sql.query<{ user_id: string }>`
    SELECT user_id FROM inbox_heads WHERE version > published AND raised_at < now() - ${ms}::double precision * interval '1 millisecond'
    ORDER BY raised_at LIMIT 200`;
  return rows.map((row) => row.user_id);
}

const closing = sql`state = 'closed', version = 0, closed_at = now(), snoozed_until = NULL`;
/** An item about a question closes only with the question, an item about a device only with its recovery. */
const mayBeAcked = sql`kind IN ('failure', 'unknown', 'finished', 'missed')`;

/** Computed values leave the primary key: a plan that was made on an empty table would read all open items. */
const ownItem = (id: string, userId: string) => sql`id = ${id} AND user_id || '' = ${userId}`;

type ItemChange = 'changed' | 'missing' | 'needsAnswer';

/** Closes an item that needs no answer; a closed item stays closed. `missing`: the person does not own this item. */
export async function ackItem(db: Transactions, userId: string, id: string): Promise<ItemChange> {
  return db.sql.transaction(async (tx) => {
    const count = await tx.sql.execute`UPDATE inbox_items SET ${closing}, closed_by = 'ack'
      WHERE ${ownItem(id, userId)} AND state || '' <> 'closed' AND ${mayBeAcked}`;
    if (count > 0) return 'changed';
    const [item] = await tx.sql.query<{
      state: string;
    }>`SELECT state FROM inbox_items WHERE ${ownItem(id, userId)}`;
    if (!item) return 'missing';
    return item.state === 'closed' ? 'changed' : 'needsAnswer';
  });
}

export interface AckWhich {
  kind?: InboxKind | undefined;
  sessionKey?: string | undefined;
  upToVersion: number;
}

/**
 * Closes items that need no answer and last changed at `upToVersion` or before: only items that the person has seen.
 */
export async function ackItems(
  db: Transactions,
  userId: string,
  { kind, sessionKey, upToVersion }: AckWhich,
): Promise<void> {
  const conditions = [sql`user_id = ${userId}`, sql`state <> 'closed'`, sql`version <= ${upToVersion}`, mayBeAcked];
  if (kind) conditions.push(sql`kind = ${kind}`);
  if (sessionKey !== undefined) conditions.push(sql`session_key = ${sessionKey}`);
  // Skip an item that another transaction is changing: the person saw an older version.
  await db.sql.transaction(
    (tx) => tx.sql.execute`UPDATE inbox_items SET ${closing}, closed_by = 'ack'
      WHERE id IN (SELECT id FROM inbox_items WHERE ${sql.join(conditions, ' AND ')} ORDER BY id FOR UPDATE SKIP LOCKED)`,
  );
}

/** Hides an item until then; null shows it again. False: the person does not own this item, or it is closed. */
export async function snoozeItem(db: Transactions, userId: string, id: string, until: Date | null): Promise<boolean> {
  const count = await db.sql.transaction(
    (tx) => tx.sql.execute`
      UPDATE inbox_items SET state = ${until ? 'snoozed' : 'open'}, snoozed_until = ${until}::timestamptz, version = 0
      WHERE ${ownItem(id, userId)} AND state || '' <> 'closed'`,
  );
  return count > 0;
}

/** Closes the oldest items that no question and no device holds open, until the person has `inboxLimits.open` at most. */
export async function trimInbox(db: Transactions, userId: string): Promise<void> {
  await db.sql.transaction(
    (tx) => tx.sql.execute`UPDATE inbox_items SET ${closing}, closed_by = 'too many' WHERE id IN (
      SELECT id FROM inbox_items WHERE user_id = ${userId} AND state <> 'closed' AND ${mayBeAcked}
      ORDER BY kind <> 'finished', created_at, id
      LIMIT GREATEST(0, (SELECT count(*) FROM inbox_items WHERE user_id = ${userId} AND state <> 'closed') - ${inboxLimits.open})
      FOR UPDATE SKIP LOCKED)`,
  );
}
