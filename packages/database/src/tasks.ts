/**
 * The noun task: accepting, queueing, claiming and cancelling (contract §2). How tasks end is in `task-ends.ts`.
 * Everything that writes must run inside `withDevice`, so that the tasks of a device change in one order.
 *
 * The delivery promise lives here: a task is accepted once, claimed (queued → sent) at most once, in order per session.
 */
import {
  type Task,
  type TaskKind,
  type TaskState,
  formatSessionId,
  cutText,
  limits,
  placeholderNativeId,
  taskErrors,
  type TaskErrorCode,
} from '@relay/protocol';
import { type Db, Prisma } from './transaction.ts';
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
  ttlMs: number;
}

/** The first line of a message, cut at 80 characters: the title of a session that nobody named (contract §3). */
export function titleOf(message: string): string {
  const line = message.trim().split(/\r?\n/, 1)[0] ?? '';
  return [...line].slice(0, limits.titleCharacters).join('');
}

/** Sessions of a device that were not deleted. */
export async function countSessions(db: Db, deviceId: string): Promise<number> {
  const [row] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM sessions WHERE device_id = ${deviceId} AND deleted_at IS NULL`;
  return row?.count ?? 0;
}

/** Creates a session with a placeholder id and queues its first task. */
export async function createSession(db: Db, input: NewSession): Promise<{ key: string; taskId: string }> {
  const key = newUlid();
  const taskId = newUlid();
  const title = input.title ?? titleOf(input.message);
  await db.$executeRaw`
    INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, placeholder, first_words, title, title_source, project_path,
      status, last_message, message_count)
    VALUES (${key}, ${input.ownerId}, ${input.deviceId}, ${input.agentType}, ${placeholderNativeId(key)}, true, ${firstWordsOf(key, input.message)}, ${title},
      ${input.title === undefined ? 'message' : 'user'}, ${input.projectPath}, 'pending',
      ${cutText(input.message, limits.lastMessageBytes)}, 1)`;
  await insertTask(db, {
    id: taskId,
    key,
    deviceId: input.deviceId,
    ownerId: input.ownerId,
    kind: 'start',
    text: input.message,
    images: input.images,
    ttlMs: input.ttlMs,
  });
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
}

async function insertTask(db: Db, task: NewTask): Promise<void> {
  await db.$executeRaw`
    INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, images, expires_at)
    VALUES (${task.id}, ${task.key}, ${task.deviceId}, ${task.ownerId}, ${task.kind}, ${task.text}, ${task.images ?? null},
      now() + ${task.ttlMs}::double precision * interval '1 millisecond')`;
}

export type Enqueued = { kind: 'queued'; taskId: string } | { kind: 'full' } | { kind: 'unresolved' };

/**
 * Queues a follow-up behind what runs and waits. `unresolved`: the first task ended without the daemon ever naming the
 * session. `full`: `queueLimit` tasks wait already. A message also lets go of a queue that an unknown delivery stopped.
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
  },
): Promise<Enqueued> {
  const [state] = await db.$queryRaw<{ placeholder: boolean; starting: boolean; waiting: bigint }[]>`
    SELECT s.placeholder,
      EXISTS (SELECT 1 FROM tasks WHERE session_key = s.key AND kind = 'start'
        AND (state IN ('sent', 'running') OR (state = 'queued' AND expires_at > now()))) AS starting,
      (SELECT count(*) FROM tasks WHERE session_key = s.key AND state = 'queued' AND expires_at > now()) AS waiting
    FROM sessions s WHERE s.key = ${input.key}`;
  if (!state || (state.placeholder && !state.starting)) return { kind: 'unresolved' };
  if (Number(state.waiting) >= input.queueLimit) return { kind: 'full' };
  const taskId = newUlid();
  await insertTask(db, {
    id: taskId,
    key: input.key,
    deviceId: input.deviceId,
    ownerId: input.ownerId,
    kind: 'resume',
    text: input.content,
    images: input.images,
    ttlMs: input.ttlMs,
  });
  await db.$executeRaw`
    UPDATE sessions SET queue_held = false, last_message = ${cutText(input.content, limits.lastMessageBytes)},
      message_count = message_count + 1, updated_at = now()
    WHERE key = ${input.key}`;
  return { kind: 'queued', taskId };
}

/** How much of images waits for a device, and for all devices of its owner, in bytes of data URLs. */
export async function waitingImageBytes(db: Db, deviceId: string): Promise<{ device: number; owner: number }> {
  const [waiting] = await db.$queryRaw<{ device: bigint | null; owner: bigint | null }[]>`
    SELECT sum(octet_length(t.images)) FILTER (WHERE t.device_id = ${deviceId}) AS device, sum(octet_length(t.images)) AS owner
    FROM devices mine JOIN devices d ON d.owner_id = mine.owner_id JOIN tasks t ON t.device_id = d.id
    WHERE mine.id = ${deviceId} AND t.state = 'queued' AND t.expires_at > now()`;
  return { device: Number(waiting?.device ?? 0), owner: Number(waiting?.owner ?? 0) };
}

/** The images of a task that was claimed, as data URLs. Undefined when it has ended meanwhile: then it must not be written. */
export async function imagesOf(db: Db, taskId: string): Promise<string[] | undefined> {
  const [task] = await db.$queryRaw<{ images: string | null }[]>`
    SELECT images FROM tasks WHERE id = ${taskId} AND state = 'sent'`;
  return task?.images ? (JSON.parse(task.images) as string[]) : undefined;
}

export interface ClaimedTask {
  id: string;
  kind: TaskKind;
  sessionKey: string;
  nativeId: string;
  instruction: string;
  /** Whether `imagesOf` has something: images may be large, and are not read before they are needed. */
  hasImages: boolean;
  projectPath: string;
}

/**
 * Takes the next task of every session of the device that has nothing running: queued → sent under this fence. The caller
 * then writes them to its socket; nobody else ever will. At most one per session and 100 in one go, in order of acceptance.
 * A session that waits for its user only gives out what was accepted after the prompt; should that answer not have arrived,
 * the next one still goes before what is older than the prompt. The caller has checked the fence.
 */
export async function claimTasks(db: Db, deviceId: string, fence: number): Promise<ClaimedTask[]> {
  const rows = await db.$queryRaw<
    {
      id: string;
      kind: TaskKind;
      session_key: string;
      native_id: string;
      instruction: string;
      has_images: boolean;
      project_path: string;
    }[]
  >`
    WITH next AS (
      SELECT DISTINCT ON (t.session_key) t.id
      FROM tasks t JOIN sessions s ON s.key = t.session_key
      WHERE t.device_id = ${deviceId} AND t.state = 'queued' AND t.expires_at > now() AND NOT s.queue_held
        AND (t.kind = 'start' OR NOT s.placeholder)
        AND (s.status <> 'waiting' OR t.seq > s.prompt_seq)
        AND NOT EXISTS (SELECT 1 FROM tasks r WHERE r.session_key = t.session_key AND r.state IN ('sent', 'running'))
      ORDER BY t.session_key, t.seq <= s.prompt_seq AND NOT EXISTS (SELECT 1 FROM tasks a
        WHERE a.session_key = s.key AND a.seq > s.prompt_seq AND a.sent_at IS NOT NULL AND a.state IN ('completed', 'failed', 'cancelled')), t.seq
      LIMIT 100
    ), claimed AS (
      UPDATE tasks t SET state = 'sent', sent_at = now(), fence = ${fence}
      FROM next WHERE t.id = next.id AND t.state = 'queued'
      RETURNING t.id, t.seq, t.kind, t.session_key, t.instruction, t.images IS NOT NULL AS has_images
    ), touched AS (
      UPDATE sessions s SET status = CASE WHEN s.placeholder THEN 'pending' ELSE 'active' END,
        progress = NULL, updated_at = now()
      FROM claimed WHERE s.key = claimed.session_key
      RETURNING s.key, s.native_id, s.project_path
    )
    SELECT claimed.id, claimed.kind, claimed.session_key, claimed.instruction, claimed.has_images,
      touched.native_id, touched.project_path
    FROM claimed JOIN touched ON touched.key = claimed.session_key ORDER BY claimed.seq`;
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    sessionKey: row.session_key,
    nativeId: row.native_id,
    instruction: row.instruction,
    hasImages: row.has_images,
    projectPath: row.project_path,
  }));
}

/**
 * Gives a claimed task back when it is certain that no byte of it was written, because the socket was closed before the
 * write. Only under the same fence, and only while it is `sent`. A session that waited for its user waits again.
 */
export async function unclaimTask(db: Db, taskId: string, fence: number): Promise<void> {
  await unclaim(db, Prisma.sql`id = ${taskId}`, fence);
}

/**
 * Gives back whatever was claimed under this fence and not written, when the answer to the claim was lost. `written` are all the
 * tasks that were written under this fence and have not ended; the caller has checked the fence and claims nothing meanwhile.
 */
export async function unclaimUnwritten(
  db: Db,
  deviceId: string,
  fence: number,
  written: readonly string[],
): Promise<void> {
  await unclaim(db, Prisma.sql`device_id = ${deviceId} AND id <> ALL(${written}::text[])`, fence);
}

async function unclaim(db: Db, which: Prisma.Sql, fence: number): Promise<void> {
  await db.$executeRaw`
    WITH back AS (
      UPDATE tasks SET state = 'queued', sent_at = NULL, fence = NULL WHERE ${which} AND state = 'sent' AND fence = ${fence}
      RETURNING session_key
    )
    UPDATE sessions s SET status = CASE WHEN s.prompt IS NOT NULL THEN 'waiting' WHEN s.placeholder THEN 'pending' ELSE 'idle' END,
      updated_at = now()
    FROM back WHERE s.key = back.session_key`;
}

/** sent → running: the daemon has confirmed it. False when it was not `sent`. */
export async function startRunning(db: Db, taskId: string): Promise<boolean> {
  const rows = await db.$queryRaw<{ key: string }[]>`
    WITH started AS (UPDATE tasks SET state = 'running' WHERE id = ${taskId} AND state = 'sent' RETURNING session_key)
    UPDATE sessions s SET status = 'active', prompt = NULL, updated_at = now() FROM started WHERE s.key = started.session_key RETURNING s.key`;
  return rows.length > 0;
}

export interface OpenTask {
  id: string;
  sessionKey: string;
  state: 'sent' | 'running';
  fence: number;
}

/** What is under way on these devices, by device: tasks that were sent or run. */
export async function openTasks(db: Db, deviceIds: readonly string[]): Promise<Map<string, OpenTask[]>> {
  const byDevice = new Map<string, OpenTask[]>();
  if (deviceIds.length === 0) return byDevice;
  const rows = await db.$queryRaw<
    { id: string; device_id: string; session_key: string; state: 'sent' | 'running'; fence: bigint | null }[]
  >`
    SELECT id, device_id, session_key, state, fence FROM tasks
    WHERE device_id = ANY(${deviceIds}::text[]) AND state IN ('sent', 'running')`;
  for (const row of rows) {
    const tasks = byDevice.get(row.device_id) ?? [];
    byDevice.set(row.device_id, tasks);
    tasks.push({ id: row.id, sessionKey: row.session_key, state: row.state, fence: Number(row.fence ?? 0) });
  }
  return byDevice;
}

/** Which of these tasks of these devices were cancelled: a daemon that still runs one is told again. */
export async function cancelledAmong(
  db: Db,
  deviceIds: readonly string[],
  taskIds: readonly string[],
): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM tasks WHERE device_id = ANY(${deviceIds}::text[]) AND state = 'cancelled' AND id = ANY(${taskIds}::text[])`;
  return rows.map((row) => row.id);
}

/** Devices among these that have something to claim or to expire. */
export async function devicesWithQueue(db: Db, deviceIds: readonly string[]): Promise<string[]> {
  if (deviceIds.length === 0) return [];
  const rows = await db.$queryRaw<{ device_id: string }[]>`
    SELECT DISTINCT device_id FROM tasks WHERE state = 'queued' AND device_id = ANY(${deviceIds}::text[])`;
  return rows.map((row) => row.device_id);
}

/** The task of this device with what an event needs to know; undefined for an id that is not ours. */
export async function findDeviceTask(
  db: Db,
  deviceId: string,
  taskId: string,
): Promise<{ id: string; sessionKey: string; state: TaskState } | undefined> {
  const rows = await db.$queryRaw<{ id: string; session_key: string; state: TaskState }[]>`
    SELECT id, session_key, state FROM tasks WHERE id = ${taskId} AND device_id = ${deviceId}`;
  const row = rows[0];
  return row && { id: row.id, sessionKey: row.session_key, state: row.state };
}

/** A task as its daemon's history may be asked for its end. */
export interface AskedTask {
  id: string;
  kind: TaskKind;
  sessionKey: string;
  nativeId: string;
  placeholder: boolean;
  /** It has an outcome, from whichever instance. */
  ended: boolean;
  /** That outcome is no word of the daemon: unknown, or taken for lost. */
  doubtful: boolean;
  /** '' once it has ended, unless it ended without a text a moment ago. */
  instruction: string;
  sentAtMs: number;
  /** What the task before it in the session ended with; '' without one. */
  previous: string;
  /** When that was, by the relay's clock; absent without one. */
  previousEndedAtMs?: number;
}

/** A task that was written to its daemon; undefined when there is none, or its session was deleted. */
export async function findAskedTask(db: Db, taskId: string): Promise<AskedTask | undefined> {
  const [row] = await db.$queryRaw<
    {
      kind: TaskKind;
      session_key: string;
      native_id: string;
      placeholder: boolean;
      ended: boolean;
      doubtful: boolean;
      instruction: string;
      sent_at: Date;
      previous: string | null;
      previous_ended_at: Date | null;
    }[]
  >`
    SELECT t.kind, t.session_key, s.native_id, s.placeholder, t.state NOT IN ('sent', 'running') AS ended,
      COALESCE(t.error_code IN ('DELIVERY_UNKNOWN', 'TASK_LOST'), false) AS doubtful, t.instruction, t.sent_at,
      before.result AS previous, before.finished_at AS previous_ended_at
    FROM tasks t JOIN sessions s ON s.key = t.session_key
      LEFT JOIN LATERAL (SELECT p.result, p.finished_at FROM tasks p
        WHERE p.session_key = t.session_key AND p.id <> t.id AND p.finished_at <= t.sent_at AND p.sent_at IS NOT NULL
        ORDER BY p.finished_at DESC LIMIT 1) before ON true
    WHERE t.id = ${taskId} AND t.sent_at IS NOT NULL AND s.deleted_at IS NULL`;
  return (
    row && {
      id: taskId,
      kind: row.kind,
      sessionKey: row.session_key,
      nativeId: row.native_id,
      placeholder: row.placeholder,
      ended: row.ended,
      doubtful: row.doubtful,
      instruction: row.instruction,
      sentAtMs: row.sent_at.getTime(),
      previous: row.previous ?? '',
      ...(row.previous_ended_at && { previousEndedAtMs: row.previous_ended_at.getTime() }),
    }
  );
}

/** Which of these tasks of a device ended with the daemon's own word: it need not list them any more. */
export async function endedAmong(db: Db, deviceId: string, taskIds: readonly string[]): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM tasks WHERE device_id = ${deviceId} AND id = ANY(${taskIds}::text[])
      AND (state IN ('completed', 'waiting') OR error_code = 'AGENT_ERROR')`;
  return rows.map((row) => row.id);
}

/** GET /api/tasks/:id. An expired task says so from the moment its time ended. */
export async function readTask(db: Db, ownerId: string, taskId: string): Promise<Task | undefined> {
  const rows = await db.$queryRaw<
    {
      id: string;
      kind: TaskKind;
      state: TaskState;
      created_at: Date;
      expires_at: Date;
      sent_at: Date | null;
      finished_at: Date | null;
      result: string | null;
      error_code: string | null;
      error_text: string | null;
      note: string | null;
      device_id: string;
      agent_type: string;
      native_id: string;
      late: boolean;
    }[]
  >`
    SELECT t.id, t.kind, t.state, t.created_at, t.expires_at, t.sent_at, t.finished_at, t.result, t.error_code, t.error_text, t.note,
      s.device_id, s.agent_type, s.native_id, t.state = 'queued' AND t.expires_at <= now() AS late
    FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE t.id = ${taskId} AND t.owner_id = ${ownerId}`;
  const row = rows[0];
  if (!row) return undefined;
  const code = row.late ? 'TASK_EXPIRED' : row.error_code;
  const finishedAt = row.late ? row.expires_at : row.finished_at;
  return {
    id: row.id,
    sessionId: formatSessionId({ deviceId: row.device_id, agentType: row.agent_type, nativeId: row.native_id }),
    kind: row.kind,
    state: row.late ? 'expired' : row.state,
    createdAt: row.created_at.toISOString(),
    ...(row.sent_at ? { sentAt: row.sent_at.toISOString() } : {}),
    ...(finishedAt ? { finishedAt: finishedAt.toISOString() } : {}),
    ...(row.result === null ? {} : { result: row.result }),
    ...(code ? { error: { code, error: row.error_text ?? taskErrors[code as TaskErrorCode] ?? code } } : {}),
    ...(row.note === null ? {} : { note: row.note }),
  };
}

/** Whether a task of the session is under way, or ended within `windowMs`. */
export async function taskWithin(db: Db, key: string, windowMs: number): Promise<boolean> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM tasks WHERE session_key = ${key} AND (state IN ('sent', 'running')
      OR (state IN ('completed', 'failed', 'waiting') AND finished_at > now() - ${windowMs}::double precision * interval '1 millisecond')) LIMIT 1`;
  return rows.length > 0;
}
