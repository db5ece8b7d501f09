/**
 * The noun task: accepting and queueing (rules, 2.3). How tasks are written to daemons is in `claims.ts`, how they end in `task-ends.ts`, the
 * moves of both in `task-moves.ts`. Every write must run inside `withDevice`.
 *
 * The delivery promise lives here: a task is accepted once, claimed (queued → sent) at most once, in order per session.
 */
import { type FieldValues, type TaskKind, cutText, limits, placeholderNativeId } from '@relay/protocol';
import { markAnswered } from './prompt-ends.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { oldestOpen } from './prompts.ts';
import { settleAccepted } from './session-status.ts';
import { type SessionRecord, readSessions } from './sessions.ts';
import { isDue, isStarting } from './task-states.ts';
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';
import { firstWordsOf } from './unnamed.ts';

export interface NewSession {
  ownerId: string;
  deviceId: string;
  agentType: string;
  message: string;
  /** Data URLs; a JSON array. */
  images?: string | undefined;
  title: string | undefined;
  projectPath: string;
  /** A ULID of the app, of which the first id of the session is made; else one of the relay's. */
  pendingId?: string | undefined;
  ttlMs: number;
  /** See the columns. */
  settings?: string | undefined;
  agentDepth?: number | undefined;
  startedBy?: string | undefined;
}

/** The first line of a message, cut at 80 characters: the title of a session without a name (rules, 4.7). */
export function titleOf(message: string): string {
  const line = message.trim().split(/\r?\n/, 1)[0] ?? '';
  return [...line].slice(0, limits.titleCharacters).join('');
}

/** Sessions of a device that were not deleted. */
export async function countSessions(db: Db, deviceId: string): Promise<number> {
  const [row] = await db.sql.query<{ count: number }>`
    SELECT count(*)::int AS count FROM sessions WHERE device_id = ${deviceId} AND deleted_at IS NULL`;
  return row?.count ?? 0;
}

/** Creates a session with a placeholder id and enqueues its first task. */
export async function createSession(db: Db, input: NewSession): Promise<{ key: string; taskId: string }> {
  const key = newUlid();
  const taskId = newUlid();
  const title = input.title ?? titleOf(input.message);
  const session = db.sql.execute`
    INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, placeholder, first_words, title, title_source, project_path,
      status, last_message, message_count, started_by)
    VALUES (${key}, ${input.ownerId}, ${input.deviceId}, ${input.agentType}, ${placeholderNativeId(input.pendingId ?? key)}, true, ${firstWordsOf(key, input.message)}, ${title},
      ${input.title === undefined ? 'message' : 'user'}, ${input.projectPath}, 'pending',
      ${cutText(input.message, limits.lastMessageBytes)}, 1, ${input.startedBy ?? null})`;
  const task = insertTask(db, {
    id: taskId,
    key,
    deviceId: input.deviceId,
    ownerId: input.ownerId,
    kind: 'start',
    text: input.message,
    images: input.images,
    ttlMs: input.ttlMs,
    settings: input.settings,
    agentDepth: input.agentDepth,
  });
  await Promise.all([session, task]);
  return { key, taskId };
}

interface NewTask {
  id: string;
  key: string;
  deviceId: string;
  ownerId: string;
  kind: TaskKind;
  text: string;
  images: string | undefined;
  ttlMs: number;
  /** See the columns. */
  promptUuid?: string | null;
  answer?: string | null;
  settings?: string | undefined;
  agentDepth?: number | undefined;
}

/** The parts of an answer other than its words: a choice, and the digest of the question that the person saw. */
export interface PromptAnswer {
  option?: string | undefined;
  fields?: FieldValues | undefined;
  digest?: string | undefined;
  /** The address whose notification it was given in. */
  on?: string | undefined;
}

async function insertTask(db: Db, task: NewTask): Promise<void> {
  await db.sql.execute`
    INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, images, prompt_uuid, answer, settings, agent_depth, expires_at)
    VALUES (${task.id}, ${task.key}, ${task.deviceId}, ${task.ownerId}, ${task.kind}, ${task.text}, ${task.images ?? null},
      ${task.promptUuid ?? null}, ${task.answer ?? null}::jsonb, ${task.settings ?? null}::jsonb, ${task.agentDepth ?? null}::smallint,
      now() + ${task.ttlMs}::double precision * interval '1 millisecond')`;
}

type Enqueued = { kind: 'queued'; taskId: string; record: SessionRecord } | { kind: 'full' } | { kind: 'unresolved' };

/**
 * Enqueues a follow-up behind the running and queued tasks, and returns its session as it then is. `unresolved`: the first task ended without
 * the daemon ever naming the session. `full`: `queueLimit` tasks wait already, and none of them waits for this message. A message also lets go of a queue that an
 * unknown delivery stopped; that one, and the first answer to a question, are taken however many wait: nothing else moves the queue.
 */
export async function enqueueMessage(
  db: Db,
  input: {
    key: string;
    deviceId: string;
    ownerId: string;
    content: string;
    /** Data URLs; a JSON array. */
    images?: string | undefined;
    ttlMs: number;
    queueLimit: number;
    /** The open question that it answers, however many messages wait; null: none, it waits behind all. Absent: the oldest one, if any. */
    answers?: (PromptAnswer & { uuid: string }) | null;
    /** See the columns. */
    settings?: string | undefined;
    agentDepth?: number | undefined;
  },
): Promise<Enqueued> {
  const [state] = await db.sql.query<{
    placeholder: boolean;
    starting: boolean;
    waiting: bigint;
    awaited: boolean;
    asked: string | null;
  }>`
    SELECT s.placeholder,
      ${isStarting('s.key')} AS starting,
      (SELECT count(*) FROM tasks q WHERE q.session_key = s.key AND ${isDue('q')}) AS waiting,
      s.queue_held OR (s.status = 'waiting' AND NOT EXISTS (SELECT 1 FROM tasks q
        WHERE q.session_key = s.key AND ${isDue('q')} AND q.seq > s.prompt_seq)) AS awaited,
      CASE WHEN s.status = 'waiting' THEN ${oldestOpen('s.key')} END AS asked
    FROM sessions s WHERE s.key = ${input.key}`;
  if (!state || (state.placeholder && !state.starting)) return { kind: 'unresolved' };
  if (!input.answers && !state.awaited && Number(state.waiting) >= input.queueLimit) return { kind: 'full' };
  const { answers } = input;
  const uuid = answers === undefined ? state.asked : (answers?.uuid ?? '');
  const { option, fields, digest, on } = answers ?? {};
  const isMore = [option, fields, digest, on].some((one) => one !== undefined);
  const taskId = newUlid();
  const inserted = insertTask(db, {
    id: taskId,
    key: input.key,
    promptUuid: uuid,
    answer: isMore ? JSON.stringify({ option, fields, digest, on }) : null,
    deviceId: input.deviceId,
    ownerId: input.ownerId,
    kind: 'resume',
    text: input.content,
    images: input.images,
    ttlMs: input.ttlMs,
    settings: input.settings,
    agentDepth: input.agentDepth,
  });
  // None waits for the answer of the one before: one round trip.
  const [, , , [record]] = await Promise.all([
    inserted,
    uuid && markAnswered(db, input.key, uuid, { taskId, by: input.ownerId, option, on }),
    settleAccepted(db, input.key, input.content),
    readSessions(db, [input.key]),
  ]);
  if (!record) throw new TypeError('a session vanished in its own transaction');
  return { kind: 'queued', taskId, record };
}

/** The size of images queued for a device, and for all devices of its owner, in bytes of data URLs. */
export async function waitingImageBytes(db: Db, deviceId: string): Promise<{ device: number; owner: number }> {
  const [device] = await db.sql.query<{ owner_id: string }>`SELECT owner_id FROM devices WHERE id = ${deviceId}`;
  if (device) await oneAtATime(db, 'images', device.owner_id);
  const [waiting] = await db.sql.query<{ device: bigint | null; owner: bigint | null }>`
    SELECT sum(octet_length(t.images)) FILTER (WHERE t.device_id = ${deviceId}) AS device, sum(octet_length(t.images)) AS owner
    FROM devices mine JOIN devices d ON d.owner_id = mine.owner_id JOIN tasks t ON t.device_id = d.id
    WHERE mine.id = ${deviceId} AND ${isDue('t')}`;
  return { device: Number(waiting?.device ?? 0), owner: Number(waiting?.owner ?? 0) };
}
