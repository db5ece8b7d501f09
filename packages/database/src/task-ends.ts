/**
 * How a task ends (contract §2, §9): completed, failed, waiting, unknown, expired, cancelled — each once, and never by a
 * guess. Must run inside `withDevice`. Each function also leaves the session in the state that follows.
 */
import { type Prompt, type TaskErrorCode, type TaskState, cutText, limits, taskErrors } from '@relay/protocol';
import { type Db, Prisma } from './transaction.ts';

export type Outcome =
  | { kind: 'completed'; result: string }
  | { kind: 'waiting'; prompt: Prompt }
  | { kind: 'failed'; code: TaskErrorCode; error: string };

/**
 * What became of an ending: `ended` — the task ended with it; `settled` — the task waited, was taken for lost or had its answer from
 * the history, or was unknown until the history had it, and is now what this says, with a note; `late` — it was cancelled or is unknown, which it stays, and only the text is
 * news; `repeated` — the same text again, no text, or another end of what the daemon had ended: nothing changed.
 */
export type Ended = 'ended' | 'settled' | 'late' | 'repeated';

/** How the outcome of a task was learned, when no event told it in time: the `note` of its record. */
export const notes = {
  history: 'The end was never reported. The answer was found in the history of the daemon.',
  later: 'The task had another outcome before; this end came later.',
} as const;

/** For as many devices as are asked for together. */
const maxWordless = 1000;

interface Ending {
  state: Outcome['kind'];
  /** The words it ended with; '' without any. */
  said: string;
  result: string | null;
  code: TaskErrorCode | null;
  error: string | null;
  prompt: string | null;
}

function endingOf(outcome: Outcome): Ending {
  const nothing = { state: outcome.kind, result: null, code: null, error: null, prompt: null };
  if (outcome.kind === 'failed') {
    const error = cutText(outcome.error, limits.messageBytes);
    return { ...nothing, said: error, code: outcome.code, error: error || null };
  }
  const { prompt } = outcome.kind === 'waiting' ? outcome : { prompt: undefined };
  const text = prompt ? prompt.result || prompt.prompt : outcome.kind === 'completed' ? outcome.result : '';
  const said = cutText(text, limits.messageBytes);
  return { ...nothing, said, result: said, prompt: prompt ? JSON.stringify(prompt) : null };
}

/**
 * Ends a task. `note`: the outcome was not told by an event. A later ending with another text settles what waited or was taken for
 * lost (contract §10).
 */
export async function endTask(db: Db, taskId: string, outcome: Outcome, note: string | null = null): Promise<Ended> {
  const ending = endingOf(outcome);
  const [task] = await db.$queryRaw<
    {
      session_key: string;
      state: TaskState;
      result: string | null;
      error_code: string | null;
      error_text: string | null;
      note: string | null;
      erased: boolean;
    }[]
  >`SELECT t.session_key, t.state, t.result, t.error_code, t.error_text, t.note, s.deleted_at IS NOT NULL AS erased
    FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE t.id = ${taskId}`;
  if (!task || task.erased) return 'late';
  if (task.state === 'sent' || task.state === 'running') {
    await writeEnd(db, taskId, ending, note);
    await showEnd(db, task.session_key, ending);
    return 'ended';
  }
  const { said } = ending;
  const isLost = task.error_code === 'TASK_LOST';
  if (!isLost && (said === '' || isSaid(task.result, said))) return 'repeated';
  const hadNoText = task.state === 'completed' && task.result === '' && ending.state === 'completed';
  // The history has the instruction: it was delivered after all.
  const wasFound = task.state === 'unknown' && note === notes.history;
  if (task.state === 'waiting' || isLost || task.note !== null || hadNoText || wasFound) {
    await writeEnd(db, taskId, ending, note ?? notes.later);
    // What was sent since says more about the session than a late end.
    if (!(await sentSince(db, taskId))) await showEnd(db, task.session_key, ending);
    return 'settled';
  }
  if (task.state !== 'cancelled' && task.state !== 'unknown') return 'repeated';
  // Kept, so that a daemon which repeats it is heard once.
  await db.$executeRaw`UPDATE tasks SET result = ${said} WHERE id = ${taskId}`;
  return 'late';
}

/** Whether these words are known, of which only the beginning may be kept. White space at their end makes no difference. */
function isSaid(known: string | null, said: string): boolean {
  if (!known) return false;
  return known.trimEnd() === said.trimEnd() || (known.length >= 1024 && said.startsWith(known));
}

async function writeEnd(db: Db, taskId: string, ending: Ending, note: string | null): Promise<void> {
  // Of an end without a text the instruction is kept: by it the history finds the answer, should this instance be gone before.
  const isWordless = ending.state === 'completed' && ending.said.trim() === '';
  await db.$executeRaw`
    UPDATE tasks SET state = ${ending.state}, finished_at = now(), images = NULL,
      instruction = CASE WHEN ${isWordless} THEN instruction ELSE '' END, result = ${ending.result},
      error_code = ${ending.code}, error_text = ${ending.error}, note = ${note}
    WHERE id = ${taskId}`;
}

/** Completed tasks of these devices that ended without a text within the last hour, and whose history has not been asked to the end. */
export async function wordlessEnds(db: Db, deviceIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await db.$queryRaw<{ id: string; device_id: string }[]>`
    SELECT id, device_id FROM tasks WHERE device_id = ANY(${deviceIds}::text[]) AND finished_at > now() - interval '1 hour'
      AND state = 'completed' AND instruction <> '' ORDER BY seq DESC LIMIT ${maxWordless}`;
  const byDevice = new Map<string, string[]>();
  for (const { id, device_id: device } of rows) byDevice.set(device, [id, ...(byDevice.get(device) ?? [])]);
  return byDevice;
}

/** The history has nothing more to say about a task that ended without a text. */
export async function forgetInstruction(db: Db, taskId: string): Promise<void> {
  await db.$executeRaw`UPDATE tasks SET instruction = '' WHERE id = ${taskId} AND state = 'completed'`;
}

async function sentSince(db: Db, taskId: string): Promise<boolean> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT t.id FROM tasks t JOIN tasks ended ON ended.id = ${taskId} AND ended.session_key = t.session_key
    WHERE t.id <> ended.id AND t.sent_at >= ended.sent_at LIMIT 1`;
  return rows.length > 0;
}

async function showEnd(db: Db, key: string, { state, said, prompt }: Ending): Promise<void> {
  const status = state === 'completed' ? 'idle' : state;
  const isWords = state !== 'failed' && said !== '';
  await db.$executeRaw`
    UPDATE sessions SET status = ${status}, progress = NULL, prompt = ${prompt}::jsonb,
      prompt_seq = CASE WHEN ${prompt === null} THEN prompt_seq ELSE (SELECT max(seq) FROM tasks WHERE session_key = ${key}) END,
      last_message = CASE WHEN ${isWords} THEN ${cutText(said, limits.lastMessageBytes)} ELSE last_message END,
      message_count = message_count + ${isWords ? 1 : 0}, updated_at = now()
    WHERE key = ${key}`;
  await cancelUnreachable(db, [key]);
}

/** sent → unknown: the connection died before the daemon confirmed it. The queue of the session stands still. */
export async function markUnknown(db: Db, taskIds: readonly string[]): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const rows = await db.$queryRaw<{ session_key: string }[]>`
    UPDATE tasks SET state = 'unknown', finished_at = now(), instruction = '', images = NULL, error_code = 'DELIVERY_UNKNOWN', error_text = ${taskErrors.DELIVERY_UNKNOWN}
    WHERE id = ANY(${taskIds}::text[]) AND state = 'sent' RETURNING session_key`;
  return failSessions(
    db,
    rows.map((row) => row.session_key),
    true,
  );
}

/** running → failed with TASK_LOST. Returns the keys of the sessions concerned. */
export async function markLost(db: Db, taskIds: readonly string[]): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const rows = await db.$queryRaw<{ session_key: string }[]>`
    UPDATE tasks SET state = 'failed', finished_at = now(), instruction = '', images = NULL, error_code = 'TASK_LOST', error_text = ${taskErrors.TASK_LOST}
    WHERE id = ANY(${taskIds}::text[]) AND state = 'running' RETURNING session_key`;
  return failSessions(
    db,
    rows.map((row) => row.session_key),
    false,
  );
}

/** queued → expired for everything of the device whose time has ended. Returns the keys of the sessions concerned. */
export async function expireTasks(db: Db, deviceId: string): Promise<string[]> {
  const rows = await db.$queryRaw<{ session_key: string }[]>`
    UPDATE tasks SET state = 'expired', finished_at = expires_at, instruction = '', images = NULL, error_code = 'TASK_EXPIRED', error_text = ${taskErrors.TASK_EXPIRED}
    WHERE device_id = ${deviceId} AND state = 'queued' AND expires_at <= now() RETURNING session_key`;
  if (rows.length === 0) return [];
  const keys = [...new Set(rows.map((row) => row.session_key))];
  // What ended since then says more about the session than a message whose end is only noticed now.
  const last = await db.$queryRaw<{ session_key: string }[]>`
    SELECT DISTINCT e.session_key FROM tasks e WHERE e.session_key = ANY(${keys}::text[]) AND e.state = 'expired'
      AND NOT EXISTS (SELECT 1 FROM tasks l WHERE l.session_key = e.session_key AND l.state <> 'expired' AND l.finished_at > e.finished_at)`;
  await failSessions(
    db,
    last.map((row) => row.session_key),
    false,
  );
  await cancelUnreachable(db, keys);
  return keys;
}

/** A session fails with its task unless something else of it still runs, or it waits for its user. */
async function failSessions(db: Db, keys: readonly string[], hold: boolean): Promise<string[]> {
  if (keys.length === 0) return [];
  const unique = [...new Set(keys)];
  await db.$executeRaw`
    UPDATE sessions s SET status = 'failed', progress = NULL, prompt = NULL, queue_held = ${hold} OR queue_held, updated_at = now()
    WHERE s.key = ANY(${unique}::text[]) AND s.status <> 'waiting'
      AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = s.key AND t.state IN ('sent', 'running'))`;
  await cancelUnreachable(db, unique);
  return unique;
}

/** Follow-ups behind a first task that ended without naming a session have nowhere to go: what only waited is cancelled. */
async function cancelUnreachable(db: Db, keys: readonly string[]): Promise<void> {
  await db.$executeRaw`
    UPDATE tasks t SET state = 'cancelled', finished_at = now(), instruction = '', images = NULL, error_code = 'SESSION_NOT_RESOLVED', error_text = ${taskErrors.SESSION_NOT_RESOLVED}
    FROM sessions s
    WHERE t.session_key = s.key AND s.key = ANY(${keys}::text[]) AND s.placeholder AND t.kind = 'resume' AND t.state = 'queued'
      AND NOT EXISTS (SELECT 1 FROM tasks o WHERE o.session_key = s.key AND o.kind = 'start'
        AND (o.state IN ('sent', 'running') OR (o.state = 'queued' AND o.expires_at > now())))`;
}

/**
 * Cancels the sent or running task of a session; else, while it waits for its user, the oldest answer on its way or the question
 * itself, which is dismissed with the task that asked; else the oldest task that waits. Returns its id and whether the daemon has to
 * be told, or undefined when there is nothing to cancel. Also lets go of a queue that an unknown delivery stopped.
 */
export async function cancelTask(db: Db, key: string): Promise<{ taskId: string; tellDaemon: boolean } | undefined> {
  const [victim] = await db.$queryRaw<{ id: string; state: string }[]>`
    SELECT t.id, t.state FROM tasks t JOIN sessions s ON s.key = t.session_key
    WHERE s.key = ${key} AND (t.state IN ('sent', 'running') OR (t.state = 'queued' AND t.expires_at > now())
      OR (s.status = 'waiting' AND t.id = (SELECT id FROM tasks WHERE session_key = s.key AND state = 'waiting' ORDER BY seq DESC LIMIT 1)))
    ORDER BY CASE WHEN t.state IN ('sent', 'running') THEN 0 WHEN s.status = 'waiting' AND t.state = 'queued' AND t.seq > s.prompt_seq THEN 1
      WHEN t.state = 'waiting' THEN 2 ELSE 3 END, t.seq LIMIT 1`;
  if (!victim) {
    await db.$executeRaw`UPDATE sessions SET queue_held = false WHERE key = ${key} AND queue_held`;
    return undefined;
  }
  const dismissed = victim.state === 'waiting';
  await db.$executeRaw`UPDATE tasks SET state = 'cancelled', finished_at = now(), instruction = '', images = NULL WHERE id = ${victim.id}`;
  await db.$executeRaw`
    UPDATE sessions s SET queue_held = false, updated_at = now(),
      status = CASE WHEN s.status = 'waiting' AND NOT ${dismissed} OR EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = s.key AND t.state IN ('sent', 'running'))
        THEN s.status ELSE 'idle' END,
      prompt = CASE WHEN s.status = 'waiting' AND NOT ${dismissed} THEN s.prompt END, progress = NULL
    WHERE s.key = ${key}`;
  await cancelUnreachable(db, [key]);
  return { taskId: victim.id, tellDaemon: victim.state !== 'queued' };
}

/**
 * Tasks under way on devices that have been away for so long that nobody will ever hear of them (contract §2: 24 h): what ran
 * is lost, and of what was only sent the delivery is unknown.
 */
export async function abandonedTasks(db: Db, goneMs: number): Promise<{ deviceId: string; taskId: string }[]> {
  const rows = await db.$queryRaw<{ device_id: string; id: string }[]>`
    SELECT t.device_id, t.id FROM tasks t JOIN devices d ON d.id = t.device_id
    WHERE t.state IN ('sent', 'running') AND d.status = 'offline' AND d.last_seen_at < now() - ${goneMs}::double precision * interval '1 millisecond' LIMIT 500`;
  return rows.map((row) => ({ deviceId: row.device_id, taskId: row.id }));
}

/** Devices that hold a queued task whose time has ended. */
export async function devicesWithExpired(db: Db): Promise<string[]> {
  const rows = await db.$queryRaw<{ device_id: string }[]>(
    Prisma.sql`SELECT DISTINCT device_id FROM tasks WHERE state = 'queued' AND expires_at <= now() LIMIT 500`,
  );
  return rows.map((row) => row.device_id);
}
