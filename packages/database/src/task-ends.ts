/**
 * How a task completes (rules, 2.2): completed, failed, waiting, unknown, expired, cancelled — each once, and never by
 * a guess. Must run inside `withDevice`. The moves, and their effect on the session, are in `task-moves.ts`.
 */
import { type Prompt, type TaskErrorCode, type TaskState, cutText, limits } from '@relay/protocol';
import { holdAtLimit, releaseQueue } from './session-status.ts';
import { dropAutomatic } from './continuations.ts';
import { move } from './move.ts';
import { isNamed, openBeside, openPrompt, readPrompt } from './prompts.ts';
import type { MovedTask } from './prompt-ends.ts';
import type { MoveName, TaskOutcome } from './task-moves.ts';
import { isDue, isOverdue, isWithDaemon, underWay } from './task-states.ts';
import { sql } from './sql.ts';
import { type Db, type Transactions, inOneStatement } from './transaction.ts';
import { callOf } from './turn-functions.ts';
import { notifyOfMissed } from './notified-failures.ts';
import { addNotification, notifying } from './notifications.ts';
import { type ReturnedSession, type SessionRecord, toReturned } from './sessions.ts';

export type Outcome =
  | { kind: 'completed'; result: string }
  /** `alone`: the daemon has one question at a time. */
  | { kind: 'waiting'; prompt: Prompt; alone?: boolean }
  | { kind: 'failed'; code: TaskErrorCode; error: string; limit?: { name: string; resetsAt?: string } };

/**
 * The effect of saving an outcome: `ended` — it completed the task; `resumed` — the task waited with a question, and
 * this is the next outcome of its turn, with a note; `settled` — the task was taken for lost, had its answer from the
 * history, or was unknown until the history had it, and now has this outcome, with a note; `late` — the task stays
 * cancelled or unknown, and only the text is news; `confirmed` — the daemon itself reports, without a text, the
 * completion of a task whose answer came from the history, which can have more text; `repeated` — the same text
 * again, no text, or another outcome after the daemon's first.
 * The last two change nothing.
 */
export type Ended = 'ended' | 'resumed' | 'settled' | 'late' | 'confirmed' | 'repeated';

/** The source of a task's outcome when no event reported it in time: the `note` of its record. */
export const notes = {
  history: 'The end was never reported. The answer was found in the history of the daemon.',
  later: 'The task had another outcome before; this end came later.',
} as const;

/** The bound for all devices of one call. */
const maxUnfound = 1000;

/** The move of an outcome, and the move if the task already has another outcome. */
const moves = {
  completed: { first: 'complete', later: 'completeLate' },
  failed: { first: 'fail', later: 'failLate' },
  waiting: { first: 'ask', later: 'askLate' },
} as const satisfies Record<Outcome['kind'], { first: MoveName; later: MoveName }>;

/** `isAnswered`: the question in this outcome has its answer already, which is sent next. */
function endingOf(outcome: Outcome, isAnswered: boolean): Omit<TaskOutcome, 'note'> {
  const none = { result: null, code: null, error: null, keepsInstruction: false };
  if (outcome.kind === 'failed') {
    const error = cutText(outcome.error, limits.messageBytes) || null;
    return { ...none, code: outcome.code, error, shown: { status: 'failed', prompt: null, words: '' } };
  }
  if (outcome.kind === 'completed') {
    const result = cutText(outcome.result, limits.messageBytes);
    const shown = { status: 'idle', prompt: null, words: result } as const;
    return { ...none, result, keepsInstruction: result.trim() === '', shown };
  }
  const result = cutText(outcome.prompt.result || outcome.prompt.prompt, limits.messageBytes);
  const shown = isAnswered
    ? ({ status: 'active', prompt: null, words: result } as const)
    : ({ status: 'waiting', prompt: JSON.stringify(outcome.prompt), words: result } as const);
  return { ...none, result, shown };
}

const sessionsOf = (moved: readonly MovedTask[]) => [...new Set(moved.map(({ sessionKey }) => sessionKey))];

/**
 * Settles a task. `note`: the outcome was not reported by an event. A later ending with another text settles a task that waited or was
 * taken for lost (rules, 3.10).
 */
export async function endTask(db: Db, taskId: string, outcome: Outcome, note: string | null = null): Promise<Ended> {
  const [task] = await db.sql.query<{
    state: TaskState;
    session_key: string;
    result: string | null;
    error_code: string | null;
    error_text: string | null;
    note: string | null;
    erased: boolean;
  }>`SELECT t.state, t.session_key, t.result, t.error_code, t.error_text, t.note, s.deleted_at IS NOT NULL AS erased
    FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE t.id = ${taskId} AND t.kind <> 'steer'`;
  if (!task || task.erased) return 'late';
  const waiting = outcome.kind === 'waiting' ? outcome : undefined;
  const stored =
    waiting?.prompt.id === undefined ? undefined : await readPrompt(db, task.session_key, waiting.prompt.id);
  const ending = endingOf(outcome, stored?.state === 'answered');
  const go = async (name: MoveName, noted: string | null) => {
    const [moved] = await move(db, name, sql`t.id = ${taskId}`, { ...ending, note: noted });
    if (!waiting || !moved || !isNamed(waiting.prompt)) return;
    const { sessionKey: key, shown } = moved;
    if (shown) await openPrompt(db, key, { prompt: waiting.prompt, taskId }, waiting.alone ?? true);
    // An answer to the question before it is on its way, and the daemon will refuse it.
    else if (waiting.alone === false) await openBeside(db, key, waiting.prompt);
  };
  if (task.state === 'sent' || task.state === 'running') {
    const isMissed = outcome.kind === 'failed' && outcome.code === 'PROMPT_SUPERSEDED';
    await go(isMissed ? 'miss' : moves[outcome.kind].first, note);
    if (outcome.kind === 'failed' && outcome.limit) await holdAtLimit(db, taskId, outcome.limit);
    return 'ended';
  }
  const resultText = ending.result ?? ending.error ?? '';
  const isLost = task.error_code === 'TASK_LOST';
  // The agent can ask the same text again: a daemon that names its questions sends another id.
  const asksAgain = waiting?.alone === false && !stored;
  // The history has the instruction: it was delivered after all.
  if (task.state === 'unknown' && note === notes.history) {
    await go('find', note);
    return 'settled';
  }
  if (resultText.trim() === '' && outcome.kind === 'completed' && task.note === notes.history) return 'confirmed';
  if (!isLost && !asksAgain && (resultText === '' || isRepeated(task.result, resultText))) return 'repeated';
  const hadNoText = task.state === 'completed' && task.result === '' && outcome.kind === 'completed';
  const isCorrected = task.note !== null && task.state !== 'cancelled';
  if (task.state === 'waiting' || isLost || isCorrected || hadNoText) {
    await go(moves[outcome.kind].later, note ?? notes.later);
    return task.state === 'waiting' ? 'resumed' : 'settled';
  }
  if (task.state !== 'cancelled' && task.state !== 'unknown') return 'repeated';
  // Store it, so that a repetition by the daemon has no effect.
  await db.sql.execute`UPDATE tasks SET result = ${resultText} WHERE id = ${taskId}`;
  return 'late';
}

interface Settled {
  ended: 'ended';
  record: SessionRecord;
  notified: boolean;
}

/**
 * Completes a running task, with its notification, in one statement that takes the lock of the device. `nativeId`: the
 * name that the event carries. Undefined, without a change, in the cases that the function leaves to `endTask`.
 */
export async function settleTask(
  db: Transactions,
  input: { deviceId: string; taskId: string; nativeId: string | undefined; outcome: Outcome; windowMs: number },
): Promise<Settled | undefined> {
  const { outcome } = input;
  const isMissed = outcome.kind === 'failed' && outcome.code === 'PROMPT_SUPERSEDED';
  if (outcome.kind === 'waiting' || isMissed || (outcome.kind === 'failed' && outcome.limit)) return undefined;
  const { result, code, error } = endingOf(outcome, false);
  if ((result ?? error ?? '').trim() === '') return undefined;
  const call = callOf('settle', {
    ...notifying(outcome.kind === 'completed' ? 'done' : 'failed', input.windowMs),
    p_device: input.deviceId,
    p_task: input.taskId,
    p_name: input.nativeId,
    p_result: result,
    p_code: code,
    p_error: error,
    p_last: cutText(result ?? '', limits.lastMessageBytes),
  });
  return inOneStatement<ReturnedSession & { r_notified: boolean }, Settled | undefined>(
    db,
    call,
    ([row]) => row && { ended: 'ended', record: toReturned(row), notified: row.r_notified },
  );
}

/**
 * Whether this text is known; of a known text the relay might have kept only the beginning. Ignores trailing white
 * space.
 */
function isRepeated(stored: string | null, resultText: string): boolean {
  if (!stored) return false;
  return stored.trimEnd() === resultText.trimEnd() || (stored.length >= 1024 && resultText.startsWith(stored));
}

/** A finished task whose outcome the daemon's history can complete. */
interface UnfoundEnd {
  taskId: string;
  /**
   * - wordless: completed without a text, and the history search did not finish.
   * - unnamed: a first task whose session has no name yet.
   * - doubtful: a first task that is unknown or lost, whose session got its name later.
   */
  lacks: 'wordless' | 'unnamed' | 'doubtful';
}

/** Returns such tasks of the last hour by device, oldest first: the newest thousand of all these devices. */
export async function unfoundEnds(db: Db, deviceIds: readonly string[]): Promise<Map<string, UnfoundEnd[]>> {
  const rows = await db.sql.query<{ id: string; device_id: string; lacks: UnfoundEnd['lacks'] }>`
    SELECT t.id, t.device_id,
      CASE WHEN s.placeholder THEN 'unnamed' WHEN t.state = 'completed' THEN 'wordless' ELSE 'doubtful' END AS lacks
    FROM unnest(${sql.texts([...new Set(deviceIds)])}) AS wanted(id)
    CROSS JOIN LATERAL (SELECT * FROM tasks WHERE device_id = wanted.id AND finished_at > now() - interval '1 hour'
      AND ((state = 'completed' AND instruction <> '') OR (kind = 'start' AND sent_at IS NOT NULL)) OFFSET 0) t
    CROSS JOIN LATERAL (SELECT placeholder FROM sessions WHERE key = t.session_key AND deleted_at IS NULL OFFSET 0) s
    WHERE (t.state = 'completed' AND t.instruction <> '') OR s.placeholder OR t.error_code IN ('DELIVERY_UNKNOWN', 'TASK_LOST')
    ORDER BY t.seq DESC LIMIT ${maxUnfound}`;
  const byDevice = new Map<string, UnfoundEnd[]>();
  for (const { id, device_id: device, lacks } of rows)
    byDevice.set(device, [{ taskId: id, lacks }, ...(byDevice.get(device) ?? [])]);
  return byDevice;
}

/** The history has nothing more about a task that completed without a text. */
export async function forgetInstruction(db: Db, taskId: string): Promise<void> {
  await db.sql.execute`UPDATE tasks SET instruction = '' WHERE id = ${taskId} AND state = 'completed'`;
}

/** sent → unknown: the connection died before the daemon confirmed it. Returns the keys of the sessions concerned. */
export async function markUnknown(db: Db, taskIds: readonly string[]): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const among = sql`t.id = ANY(${taskIds}::text[])`;
  const messages = await move(db, 'unknown', sql`${among} AND t.kind <> 'steer'`);
  return sessionsOf([...messages, ...(await move(db, 'stray', sql`${among} AND t.kind = 'steer'`))]);
}

/** running → failed with TASK_LOST. Returns the keys of the sessions concerned. */
export async function markLost(db: Db, taskIds: readonly string[]): Promise<string[]> {
  return taskIds.length === 0 ? [] : sessionsOf(await move(db, 'lose', sql`t.id = ANY(${taskIds}::text[])`));
}

/**
 * queued → expired for the device's overdue tasks. A run of a schedule and a message with a time notify: their person does not look. Returns the
 * keys of their sessions.
 */
export async function expireTasks(db: Db, deviceId: string): Promise<string[]> {
  const moved = await move(db, 'expire', sql`t.device_id = ${deviceId} AND ${isOverdue('t')}`);
  const ids = moved.map(({ id }) => id);
  if (ids.length === 0) return [];
  const timed = await db.sql.query<{ id: string; session_key: string; schedule_id: string | null; owner_id: string }>`
    SELECT t.id, t.session_key, t.owner_id, r.schedule_id FROM tasks t LEFT JOIN schedule_runs r ON r.task_id = t.id
    WHERE t.id = ANY(${ids}::text[]) AND (t.not_before IS NOT NULL OR r.schedule_id IS NOT NULL)`;
  for (const { id: taskId, session_key: sessionKey, schedule_id: id, owner_id } of timed)
    if (id !== null) await notifyOfMissed(db, { id, owner_id, device_id: deviceId });
    else await addNotification(db, { sessionKey, taskId, cause: 'failed', windowMs: 0 });
  return sessionsOf(moved);
}

/**
 * Cancels the sent or running task of a session; else, while it waits for its user, the oldest answer being sent or the question
 * itself, which is dismissed with the task that asked; else, where its turn continues without its question (rules, 5.13), the task that
 * asked; else the first queued task. With `onlyRunning` no queued one. Returns its id and whether the daemon must get a cancellation, or
 * undefined when there is nothing to cancel. Also releases a queue held by an unknown delivery.
 */
export async function cancelTask(
  db: Db,
  key: string,
  { onlyRunning = false, only }: { onlyRunning?: boolean; only?: string | undefined } = {},
): Promise<{ taskId: string; daemonHasIt: boolean } | undefined> {
  const [victim] = await db.sql.query<{ id: string; state: string }>`
    SELECT t.id, t.state FROM tasks t JOIN sessions s ON s.key = t.session_key
    WHERE s.key = ${key} AND (${isWithDaemon} OR (${isDue('t')} AND NOT ${onlyRunning || only !== undefined}))
      AND t.id = COALESCE(${only ?? null}::text, t.id)
    ORDER BY CASE WHEN t.state IN ${underWay} THEN 0 WHEN s.status = 'waiting' AND t.state = 'queued' AND (t.prompt_uuid <> '' OR (t.prompt_uuid IS NULL AND t.seq > s.prompt_seq)) THEN 1
      WHEN t.state = 'waiting' THEN 2 ELSE 3 END, COALESCE(t.place, t.seq) LIMIT 1`;
  const dropped = only === undefined ? await dropAutomatic(db, key) : undefined;
  if (!victim) {
    if (only === undefined) await releaseQueue(db, key);
    const outlived = await outlivedTask(db, key);
    if (outlived === undefined && dropped !== undefined) return { taskId: dropped, daemonHasIt: false };
    return outlived === undefined || (only ?? outlived) !== outlived
      ? undefined
      : { taskId: outlived, daemonHasIt: true };
  }
  await move(db, victim.state === 'waiting' ? 'dismiss' : 'cancel', sql`t.id = ${victim.id}`);
  return { taskId: victim.id, daemonHasIt: victim.state !== 'queued' };
}

/** The completed task whose agent continues after a steer (rules, 23.7): the daemon stops that work by its id. */
async function outlivedTask(db: Db, key: string): Promise<string | undefined> {
  const [row] = await db.sql.query<{ id: string }>`
    SELECT t.id FROM sessions s CROSS JOIN LATERAL (SELECT id FROM tasks
      WHERE session_key = s.key AND kind <> 'steer' AND sent_at IS NOT NULL ORDER BY sent_at DESC, seq DESC LIMIT 1) t
    WHERE s.key = ${key} AND s.status = 'active'
      AND EXISTS (SELECT 1 FROM tasks i WHERE i.session_key = s.key AND i.into_task = t.id AND i.kind = 'steer' AND i.state = 'completed')`;
  return row?.id;
}

/**
 * Open tasks on devices that have been away too long to expect an outcome (rules, 3.8): a running task is lost, and the
 * delivery of a sent task is unknown.
 */
export async function abandonedTasks(db: Db, goneMs: number): Promise<{ deviceId: string; taskId: string }[]> {
  const rows = await db.sql.query<{ device_id: string; id: string }>`
    SELECT t.device_id, t.id FROM tasks t JOIN devices d ON d.id = t.device_id
    WHERE t.state IN ${underWay} AND t.kind <> 'steer' AND d.status = 'offline' AND d.last_seen_at < now() - ${goneMs}::double precision * interval '1 millisecond' LIMIT 500`;
  return rows.map((row) => ({ deviceId: row.device_id, taskId: row.id }));
}

/** Devices with an overdue queued task. */
export async function devicesWithExpired(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>(
    sql`SELECT DISTINCT device_id FROM tasks t WHERE ${isOverdue('t')} LIMIT 500`,
  );
  return rows.map((row) => row.device_id);
}
