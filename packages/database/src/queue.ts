/**
 * The queue of a session, and the changes its user can make to it before a task is claimed: edit, move, withdraw. Every
 * write must run inside `withDevice`, as claiming does: a message is either changed or sent, and never both.
 */
import { type QueuedTask, type SessionQueue, type TaskState, cutText, limits } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import { filesOfTask, hasImages } from './attached.ts';
import { move } from './move.ts';
import { isDue, isInLine, isOverdue, lineOrder, queueVersionOf } from './task-states.ts';
import { readLater } from './later.ts';
import { titleOf } from './tasks.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';
import { firstWordsOf } from './unnamed.ts';

/** The queued tasks, next one first. */
export async function readQueue(db: Db, key: string): Promise<Omit<SessionQueue, 'sessionId'>> {
  const [version] = await db.sql.query<{ v: string }>`
    SELECT ${queueVersionOf(key)} AS v`;
  const rows = await db.sql.query<{
    id: string;
    kind: QueuedTask['kind'];
    state: TaskState;
    into_task: string | null;
    instruction: string;
    images: boolean;
    files: number | null;
    prompt_uuid: string | null;
    choice: boolean;
    created_at: Date;
    expires_at: Date;
  }>`
    SELECT t.id, CASE WHEN t.kind = 'steer' AND t.state = 'queued' AND t.into_until <= now() THEN 'resume' ELSE t.kind END AS kind, t.state, t.into_task,
      t.instruction, ${hasImages} AS images, ${filesOfTask} AS files, t.prompt_uuid, ${isChoice} AS choice, t.created_at, t.expires_at
    FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE t.session_key = ${key} AND ${isInLine('t')} ORDER BY ${lineOrder}`;
  const tasks = rows.map((row) => ({
    taskId: row.id,
    uuid: userItemUuid(row.id),
    kind: row.kind,
    ...(row.state === 'sent' ? { state: row.state } : {}),
    ...(row.into_task === null ? {} : { into: row.into_task }),
    content: row.instruction,
    images: row.images,
    ...(row.files ? { files: row.files } : {}),
    ...(row.prompt_uuid ? { answers: row.prompt_uuid } : {}),
    ...(row.choice ? { choice: true as const } : {}),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  }));
  const later = (await readLater(db, sql`t.session_key = ${key}`)).map(
    ({ sessionId: _id, title: _title, ...task }) => task,
  );
  return { v: version!.v, tasks, ...(later.length === 0 ? {} : { later }) };
}

const isChoice = sql`COALESCE(t.answer->'option' IS NOT NULL OR t.answer->'fields' IS NOT NULL, false)`;

/** The position of a task of this session; undefined if the session does not have it. */
export async function placeOf(
  db: Db,
  key: string,
  taskId: string,
): Promise<'later' | 'queued' | 'sent' | 'ended' | undefined> {
  const [task] = await db.sql.query<{ state: TaskState; late: boolean }>`
    SELECT t.state, ${isOverdue('t')} AS late FROM tasks t WHERE t.id = ${taskId} AND t.session_key = ${key}`;
  if (!task) return undefined;
  if (task.state === 'later') return 'later';
  if (task.state === 'queued') return task.late ? 'ended' : 'queued';
  return task.state === 'sent' || task.state === 'running' ? 'sent' : 'ended';
}

/**
 * Changes the text of a queued message, and the last message and title of its session if they came from the old text.
 * False for a choice. The caller knows that the message waits.
 */
export async function editQueued(db: Db, key: string, taskId: string, content: string): Promise<boolean> {
  const [edited] = await db.sql.query<{ kind: QueuedTask['kind']; before: string }>`
    UPDATE tasks t SET instruction = ${content}, edits = t.edits + 1
    FROM tasks o WHERE o.id = t.id AND t.id = ${taskId} AND NOT ${isChoice} RETURNING t.kind, o.instruction AS before`;
  if (!edited) return false;
  const { kind, before } = edited;
  const first = kind === 'start';
  await db.sql.execute`
    UPDATE sessions SET last_message = CASE WHEN last_message = ${shortened(before)} THEN ${shortened(content)} ELSE last_message END,
      title = CASE WHEN ${first} AND title_source = 'message' THEN ${titleOf(content)} ELSE title END,
      first_words = CASE WHEN ${first} THEN ${firstWordsOf(key, content)} ELSE first_words END
    WHERE key = ${key}`;
  return true;
}

/** Due in its queue, or with a time that has not come. */
const isWaiting = sql`(${isDue('t')} OR t.state = 'later')`;
const shortened = (text: string) => cutText(text, limits.lastMessageBytes);

/** Removes messages from the queue; the caller knows which still wait. Returns the ids of the removed ones. */
export async function withdrawQueued(db: Db, key: string, taskId?: string): Promise<string[]> {
  const which = taskId === undefined ? sql.empty : sql`AND t.id = ${taskId}`;
  const moved = await move(
    db,
    'withdraw',
    sql`t.session_key = ${key} AND ${taskId === undefined ? isDue('t') : isWaiting} ${which}`,
  );
  return moved.map(({ id }) => id);
}

/**
 * Puts a message right before or after another; the caller knows that both wait. False if the order is impossible: the
 * transaction must then roll back.
 */
export async function moveQueued(
  db: Db,
  key: string,
  taskId: string,
  to: { before: string } | { after: string },
): Promise<boolean> {
  const idsOf = async () =>
    (await readQueue(db, key)).tasks.filter(({ kind }) => kind !== 'steer').map((task) => task.taskId);
  const wanted = (await idsOf()).filter((id) => id !== taskId);
  wanted.splice('before' in to ? wanted.indexOf(to.before) : wanted.indexOf(to.after) + 1, 0, taskId);
  // Redistribute their places among them, so that a later message stays last.
  await db.sql.execute`
    UPDATE tasks t SET place = p.place
    FROM (SELECT COALESCE(place, seq) AS place, row_number() OVER (ORDER BY COALESCE(place, seq)) AS at
      FROM tasks WHERE id = ANY(${wanted}::text[])) p
    JOIN unnest(${wanted}::text[]) WITH ORDINALITY AS w(id, at) ON w.at = p.at
    WHERE t.id = w.id`;
  await db.sql.execute`UPDATE sessions SET version = version WHERE key = ${key}`;
  return (await idsOf()).join() === wanted.join();
}
