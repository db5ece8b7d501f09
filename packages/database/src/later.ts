/**
 * Messages with a time (rules, chapter 26): tasks in the state `later`. When the time comes, a message joins its queue and is like any other.
 * Every write must run inside `withDevice`, so that two instances never release one message twice.
 */
import { type LaterList, type QueuedTask, cutText, limits } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import { move } from './move.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { isStarting, isTimeUp } from './task-states.ts';
import { type Sql, sql } from './sql.ts';
import { titleOf } from './tasks.ts';
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';
import { firstWordsOf } from './unnamed.ts';

/** Devices whose messages one sweep releases, and messages of a device in one transaction. */
const devicesAtOnce = 500;
const messagesAtOnce = 100;

interface NewLater {
  key: string;
  deviceId: string;
  ownerId: string;
  content: string;
  /** Chosen with it; a JSON array. */
  settings?: string | undefined;
  notBefore: Date;
  /** Counts from `notBefore`. */
  ttlMs: number;
  /** It continues after a usage limit. */
  because?: 'limit' | undefined;
  /** The relay wrote it, to continue after the limit. */
  automatic?: true;
  /** See the columns. */
  agentDepth?: number | null;
}

/** Whether a session or its person has the maximum of messages with a time. `key` undefined: a session that is about to begin. */
export async function hasTooManyLater(db: Db, ownerId: string, key?: string): Promise<boolean> {
  await oneAtATime(db, 'later', ownerId);
  const [row] = await db.sql.query<{ person: number; session: number }>`
    SELECT count(*)::int AS person, (count(*) FILTER (WHERE session_key = ${key ?? null}))::int AS session
    FROM tasks WHERE owner_id = ${ownerId} AND state = 'later'`;
  return row!.person >= limits.laterOfPerson || row!.session >= limits.laterOfSession;
}

/** Keeps a message for its time. Undefined: the first task of the session settled before the daemon named the session. */
export async function enqueueLater(db: Db, input: NewLater): Promise<string | undefined> {
  const { key, because = null } = input;
  // If there are several, the newest continues after the limit.
  if (because === 'limit') await move(db, 'overtake', sql`t.session_key = ${key} AND t.because = 'limit'`);
  const taskId = newUlid();
  const added = await db.sql.execute`
    INSERT INTO tasks (id, session_key, device_id, owner_id, kind, state, instruction, prompt_uuid, settings, not_before, because, automatic,
      agent_depth, expires_at)
    SELECT ${taskId}, s.key, ${input.deviceId}, ${input.ownerId}, 'resume', 'later', ${input.content}, '', ${input.settings ?? null}::jsonb,
      ${input.notBefore}, ${because}, ${input.automatic === true}, ${input.agentDepth ?? null}::smallint,
      ${input.notBefore}::timestamptz + ${input.ttlMs}::double precision * interval '1 millisecond'
    FROM sessions s WHERE s.key = ${key} AND (NOT s.placeholder OR ${isStarting('s.key')})`;
  if (added === 0) return undefined;
  await publishAgain(db, key);
  return taskId;
}

/** Gives a message with a time another text or time. The caller knows that its time has not come. */
export async function changeLater(
  db: Db,
  key: string,
  taskId: string,
  { content = null, notBefore = null }: { content?: string | undefined | null; notBefore?: Date | undefined | null },
): Promise<void> {
  const [changed] = await db.sql.query<{ kind: QueuedTask['kind'] }>`
    UPDATE tasks t SET instruction = COALESCE(${content}, t.instruction), edits = t.edits + ${content === null ? 0 : 1},
      expires_at = COALESCE(${notBefore}::timestamptz + (t.expires_at - t.not_before), t.expires_at), not_before = COALESCE(${notBefore}, t.not_before)
    WHERE t.id = ${taskId} AND t.session_key = ${key} AND t.state = 'later' RETURNING t.kind`;
  if (changed?.kind === 'start' && content !== null)
    await db.sql.execute`UPDATE sessions SET first_words = ${firstWordsOf(key, content)},
      title = CASE WHEN title_source = 'message' THEN ${titleOf(content)} ELSE title END WHERE key = ${key}`;
  await publishAgain(db, key);
}

/** The session has another version, so that apps get it. */
const publishAgain = (db: Db, key: string) => db.sql.execute`UPDATE sessions SET version = version WHERE key = ${key}`;

/** Messages with a time, earliest first. `which`: SQL about `t`. */
export async function readLater(db: Db, which: Sql): Promise<LaterList['tasks']> {
  const rows = await db.sql.query<{
    session_id: string;
    title: string;
    id: string;
    kind: QueuedTask['kind'];
    instruction: string;
    because: 'limit' | null;
    automatic: boolean;
    not_before: Date;
    created_at: Date;
    expires_at: Date;
  }>`
    SELECT s.device_id || ':' || s.agent_type || ':' || s.native_id AS session_id, s.title, t.id, t.kind, t.instruction, t.because, t.automatic, t.not_before,
      t.created_at, t.expires_at
    FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE ${which} AND t.state = 'later' AND s.deleted_at IS NULL
    ORDER BY t.not_before, t.seq LIMIT ${limits.laterOfPerson}`;
  return rows.map((row) => ({
    sessionId: row.session_id,
    title: row.title,
    taskId: row.id,
    uuid: userItemUuid(row.id),
    kind: row.kind,
    content: row.instruction,
    images: false,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    notBefore: row.not_before.toISOString(),
    ...(row.because === null ? {} : { because: row.because }),
    ...(row.automatic ? { automatic: true as const } : {}),
  }));
}

/** GET /api/later. */
export const laterOf = (db: Db, ownerId: string): Promise<LaterList['tasks']> =>
  readLater(db, sql`t.owner_id = ${ownerId}`);

/** Devices with due messages, the longest wait first. */
export async function devicesWithDueLater(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>(
    sql`SELECT t.device_id FROM (SELECT device_id, not_before FROM tasks t WHERE ${isTimeUp('t')} ORDER BY not_before LIMIT ${devicesAtOnce}) t
      GROUP BY t.device_id ORDER BY min(t.not_before)`,
  );
  return rows.map((row) => row.device_id);
}

/** A message that joined its queue. */
export interface Released {
  sessionKey: string;
  taskId: string;
  content: string;
}

/**
 * Moves the due messages of a device into their queues, earliest first. A message that continues after a limit goes to the front, and makes others of
 * its agent wait for 20 s (`moved`: their sessions). Each is then as if it was accepted now: it answers no question, and is the last message of its
 * session.
 */
export async function releaseLater(db: Db, deviceId: string): Promise<{ released: Released[]; moved: string[] }> {
  const due = await db.sql.query<{ id: string; instruction: string; because: 'limit' | null }>(
    sql`SELECT t.id, t.instruction, t.because FROM tasks t WHERE t.device_id = ${deviceId} AND ${isTimeUp('t')}
      ORDER BY t.not_before, t.seq LIMIT ${messagesAtOnce}`,
  );
  const released: Released[] = [];
  const moved: string[] = [];
  for (const { id, instruction: content, because } of due) {
    const front = sql`(SELECT min(COALESCE(q.place, q.seq)) - 1 FROM tasks q WHERE q.session_key = t.session_key AND q.state = 'queued')`;
    // One before it can have moved its time.
    const [task] = await move(db, 'release', sql`t.id = ${id} AND ${isTimeUp('t')}`, undefined, [
      sql`seq = nextval(pg_get_serial_sequence('tasks', 'seq'))`,
      ...(because === 'limit' ? [sql`place = ${front}`] : []),
    ]);
    if (!task) continue;
    const { sessionKey } = task;
    await db.sql.execute`
      UPDATE sessions s SET last_message = ${cutText(content, limits.lastMessageBytes)}, message_count = s.message_count + 1, updated_at = now(),
        queue_held = s.queue_held AND ${because !== 'limit'},
        created_at = CASE WHEN s.placeholder AND s.message_count = 0 THEN now() ELSE s.created_at END,
        first_words = CASE WHEN s.placeholder AND s.message_count = 0 THEN ${firstWordsOf(sessionKey, content)} ELSE s.first_words END
      WHERE s.key = ${sessionKey}`;
    released.push({ sessionKey, taskId: id, content });
    if (because === 'limit') moved.push(...(await spaceContinuations(db, deviceId, sessionKey)));
  }
  return { released, moved };
}

/** A message of an agent was released: all others of it wait at least 20 s for each one before them. Returns the keys of their sessions. */
async function spaceContinuations(db: Db, deviceId: string, sessionKey: string): Promise<string[]> {
  const rows = await db.sql.query<{ session_key: string }>`
    WITH next AS MATERIALIZED (
      SELECT t.id, now() + row_number() OVER (ORDER BY t.not_before, t.seq) * ${limits.continueApartMs}::double precision * interval '1 millisecond' AS at
      FROM tasks t JOIN sessions s ON s.key = t.session_key
      WHERE t.device_id = ${deviceId} AND t.state = 'later' AND t.because = 'limit'
        AND s.agent_type = (SELECT agent_type FROM sessions WHERE key = ${sessionKey}))
    UPDATE tasks t SET not_before = n.at, expires_at = t.expires_at + (n.at - t.not_before)
    FROM next n WHERE t.id = n.id AND t.not_before < n.at RETURNING t.session_key`;
  const keys = rows.map((row) => row.session_key);
  if (keys.length > 0) await db.sql.execute`UPDATE sessions SET version = version WHERE key = ANY(${keys}::text[])`;
  return keys;
}
