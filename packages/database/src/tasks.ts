/**
 * The noun task: accepting and queueing (rules, 2.3). `claims.ts` writes tasks to daemons, `task-ends.ts` completes
 * them, and `task-moves.ts` has the moves of both. Every write must run inside `withDevice`.
 *
 * The delivery promise lives here: a task is accepted once, claimed (queued → sent) at most once, in order per session.
 */
import { type DeskChoice, type FieldValues, cutText, limits, placeholderNativeId } from '@relay/protocol';
import { oneAtATime } from './one-at-a-time.ts';
import { type ReturnedSession, type SessionRecord, toReturned } from './sessions.ts';
import { SqlError } from './statements.ts';
import { isDue } from './task-states.ts';
import { type Db, type Transactions, inOneStatement } from './transaction.ts';
import { callOf } from './turn-functions.ts';
import { newUlid } from './ulids.ts';
import { firstWordsOf } from './unnamed.ts';

interface NewSession {
  ownerId: string;
  deviceId: string;
  agentType: string;
  message: string;
  /** Data URLs; a JSON array. */
  images?: string | undefined;
  title: string | undefined;
  projectPath: string;
  /** A ULID of the app, the base of the session's first id; else the relay generates one. */
  pendingId?: string | undefined;
  ttlMs: number;
  /** The session limit of the device; absent: no limit. */
  maxSessions?: number;
  /** See the columns. */
  settings?: string | undefined;
  agentDepth?: number | undefined;
  /** The time at which the task begins; its time to live counts from then. */
  notBefore?: Date | undefined;
  startedBy?: string | undefined;
}

/** The first line of a message, cut at 80 characters: the title of a session without a name (rules, 4.7). */
export function titleOf(message: string): string {
  const line = message.trim().split(/\r?\n/, 1)[0] ?? '';
  return [...line].slice(0, limits.titleCharacters).join('');
}

/** The device has `maxSessions` sessions that were not deleted. */
export class SessionsFull extends Error {}

/** Creates a session with a placeholder id and enqueues its first task. Throws SessionsFull. */
export async function createSession(db: Db, input: NewSession): Promise<{ key: string; taskId: string }> {
  const key = newUlid();
  const taskId = newUlid();
  const title = input.title ?? titleOf(input.message);
  const notBefore = input.notBefore ?? null;
  const isLater = notBefore !== null;
  const maxSessions = input.maxSessions ?? null;
  const count = await db.sql.execute`
    WITH started AS (
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, placeholder, first_words, title, title_source, project_path,
        status, last_message, message_count, started_by)
      SELECT ${key}, ${input.ownerId}, ${input.deviceId}, ${input.agentType}, ${placeholderNativeId(input.pendingId ?? key)}, true, ${firstWordsOf(key, input.message)}, ${title},
        ${input.title === undefined ? 'message' : 'user'}, ${input.projectPath}, 'pending',
        ${isLater ? '' : cutText(input.message, limits.lastMessageBytes)}, ${isLater ? 0 : 1}, ${input.startedBy ?? null}
      WHERE ${maxSessions}::int IS NULL OR (SELECT count(*) FROM sessions WHERE device_id = ${input.deviceId} AND deleted_at IS NULL) < ${maxSessions}::int
      RETURNING key, device_id, owner_id
    )
    INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, images, settings, agent_depth, state, not_before, expires_at)
    SELECT ${taskId}, key, device_id, owner_id, 'start', ${input.message}, ${input.images ?? null}, ${input.settings ?? null}::jsonb, ${input.agentDepth ?? null}::smallint,
      ${isLater ? 'later' : 'queued'}, ${notBefore}::timestamptz, COALESCE(${notBefore}::timestamptz, now()) + ${input.ttlMs}::double precision * interval '1 millisecond' FROM started`;
  if (count === 0) throw new SessionsFull();
  return { key, taskId };
}

/** The non-text parts of an answer: a choice, and the digest of the question that the person saw. */
export interface PromptAnswer {
  option?: string | undefined;
  fields?: FieldValues | undefined;
  digest?: string | undefined;
  /** The address whose notification carried the answer. */
  on?: string | undefined;
  /** The choice about a program that has the session open. */
  desk?: DeskChoice | undefined;
}

export type Enqueued =
  { kind: 'queued'; taskId: string; record: SessionRecord } | { kind: 'full' } | { kind: 'unresolved' };

interface FollowUp {
  deviceId: string;
  ownerId: string;
  content: string;
  ttlMs: number;
  queueLimit: number;
}

type EnqueuedRow = ReturnedSession & { r_outcome: Enqueued['kind'] };

const enqueuedOf = (row: EnqueuedRow, taskId: string): Enqueued =>
  row.r_outcome === 'queued' ? { kind: 'queued', taskId, record: toReturned(row) } : { kind: row.r_outcome };

/**
 * Enqueues a follow-up after the running and queued tasks, and returns its session afterwards. `unresolved`: the
 * first task finished without a name for the session. `full`: `queueLimit` tasks wait already, and none of them waits
 * for this message. A message also releases a queue that an unknown delivery stopped. The relay accepts such a message,
 * and the first answer to a question, at any queue length: nothing else moves the queue.
 */
export async function enqueueMessage(
  db: Db,
  input: FollowUp & {
    key: string;
    /** Data URLs; a JSON array. */
    images?: string | undefined;
    /**
     * The open question that it answers, at any queue length; null: the message waits for all questions. Absent: the oldest one,
     * if any.
     */
    answers?: (PromptAnswer & { uuid: string }) | null;
    /** The choice about a program that has the session open. */
    desk?: DeskChoice | undefined;
    /** See the columns. */
    settings?: string | undefined;
    agentDepth?: number | undefined;
  },
): Promise<Enqueued> {
  const { answers, content } = input;
  const { option, fields, digest, on } = answers ?? {};
  const { desk } = input;
  const isMore = [option, fields, digest, on, desk].some((one) => one !== undefined);
  const taskId = newUlid();
  const [row] = await db.sql.query<EnqueuedRow>(
    callOf('enqueue', {
      p_key: input.key,
      p_device: input.deviceId,
      p_owner: input.ownerId,
      p_task: taskId,
      p_text: content,
      p_last: cutText(content, limits.lastMessageBytes),
      p_images: input.images,
      p_ttl: input.ttlMs,
      p_limit: input.queueLimit,
      p_uuid: answers === undefined ? null : (answers?.uuid ?? ''),
      p_answer: isMore ? JSON.stringify({ option, fields, digest, on, desk }) : null,
      p_option: option,
      p_on: on,
      p_depth: input.agentDepth,
      p_settings: input.settings,
    }),
  );
  return enqueuedOf(row!, taskId);
}

/** The answer to keep under an idempotency key. `response`: as JSON, without the key of the session and the time of the message. */
interface Replayable {
  route: string;
  key: string;
  hash: string;
  ttlSeconds: number;
  status: number;
  response: string;
}

/** PostgreSQL's code for a key that another request took in the same moment. */
const keyTaken = 'RLY01';

export const isKeyTaken = (error: unknown): boolean => error instanceof SqlError && error.code === keyTaken;

/**
 * `enqueueMessage` in one statement that takes the lock of the device, for a plain message to the session that has this id now. Returns undefined
 * and changes nothing in all other cases: the id is a former id or unknown, the key has an answer, or the session asks and `isBound` requires the
 * message to name the question. Throws `isKeyTaken`.
 */
export async function acceptMessage(
  db: Transactions,
  input: FollowUp & {
    taskId: string;
    agentType: string;
    nativeId: string;
    /** The message waits for all questions; else it answers the oldest question, if any. */
    isBehind: boolean;
    isBound: boolean;
    replay?: Replayable | undefined;
  },
): Promise<Enqueued | undefined> {
  const { taskId, content, replay } = input;
  const call = callOf('accept', {
    p_device: input.deviceId,
    p_agent: input.agentType,
    p_native: input.nativeId,
    p_owner: input.ownerId,
    p_task: taskId,
    p_text: content,
    p_last: cutText(content, limits.lastMessageBytes),
    p_ttl: input.ttlMs,
    p_limit: input.queueLimit,
    p_uuid: input.isBehind ? '' : null,
    p_bound: input.isBound,
    p_route: replay?.route,
    p_replay_key: replay?.key,
    p_hash: replay?.hash,
    p_replay_ttl: replay?.ttlSeconds,
    p_status: replay?.status,
    p_response: replay?.response,
  });
  return inOneStatement<EnqueuedRow, Enqueued | undefined>(db, call, ([row]) => row && enqueuedOf(row, taskId));
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
