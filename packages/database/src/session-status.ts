/**
 * The state of a session (rules, 4.1): status, question, hold of the queue, progress. Every change of it is here: by a
 * move of a task, by a report, and the state as a reader sees it.
 *
 * The tasks alone do not determine it: a message cancelled while the agent waits leaves the session waiting, a message
 * cancelled after a failure makes it idle, a report makes it active without a task. So the session stores its status,
 * and each move declares its effect on it.
 */
import { cutText, limits } from '@relay/protocol';
import { isInLine, isOpen, isOverdue, isUnsettled, underWay } from './task-states.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** The outcome of a task as its session shows it. */
export interface ShownOutcome {
  status: 'active' | 'idle' | 'failed' | 'waiting';
  /** The question, as JSON. */
  prompt: string | null;
  /** The text to show; '' if there is none to show. A database function passes it, already cut, as a parameter. */
  words: string | Sql;
}

interface Ask {
  /** One sentence for the documents. */
  readonly means: string;
  /** The new status, in SQL about `s`; absent: it stays. */
  readonly status?: Sql;
  /** The new question; absent: it stays. */
  readonly prompt?: Sql;
  /** Whether the queue is held; absent: unchanged. */
  readonly held?: boolean;
  /** The change is news to the user. Outcomes always are. */
  readonly news?: true;
  /** Removes the progress of the task before. */
  readonly clears?: true;
  /** Forgets the usage limit that the turn before reached. */
  readonly unlimited?: true;
  /** Only then; the tasks that move are in `moved`. */
  readonly when?: Sql;
}

const nothing = sql`NULL`;
/** The statement sees the tasks as they were before the move. */
const othersUnderWay = sql`EXISTS (SELECT 1 FROM tasks o WHERE o.session_key = s.key AND o.state IN ${underWay} AND o.kind <> 'steer'
  AND o.id NOT IN (SELECT id FROM moved))`;
const someUnderWay = sql`EXISTS (SELECT 1 FROM tasks o WHERE o.session_key = s.key AND o.state IN ${underWay} AND o.kind <> 'steer')`;
const isAsking = sql`EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = s.key AND ${isOpen('q')})`;
/** Null if only the question being answered is open. */
const promptOfOthers = sql`CASE WHEN s.prompt IS NOT NULL AND ${isAsking} THEN s.prompt END`;
const mayFail = sql`s.status <> 'waiting' AND NOT ${othersUnderWay}`;

/** The changes that a move can ask of the session of its task. `end` and `endLate` show their parameter. */
export const asks = {
  run: {
    means:
      '`active`, or `pending` without a name; removes the previous progress. The question stays until the task is confirmed.',
    status: sql`CASE WHEN s.placeholder THEN 'pending' ELSE 'active' END`,
    clears: true,
    unlimited: true,
  },
  rest: {
    means:
      '`waiting` if the session has a question, else `pending` without a name, else `idle`; unchanged while another of its tasks is under way.',
    when: sql`NOT ${othersUnderWay}`,
    status: sql`CASE WHEN s.prompt IS NOT NULL THEN 'waiting' WHEN s.placeholder THEN 'pending' ELSE 'idle' END`,
  },
  confirm: {
    means: '`active`; its question is answered, other open questions stay.',
    status: sql`'active'`,
    prompt: promptOfOthers,
  },
  end: {
    means: 'The outcome of the task: `idle`, `failed`, or `waiting` with the question.',
    clears: true,
  },
  endLate: {
    means: 'The same as `end`, unless another task of the session was sent later.',
    clears: true,
    when: sql`NOT EXISTS (SELECT 1 FROM tasks o JOIN moved m ON m.session_key = o.session_key
      WHERE o.session_key = s.key AND o.id <> m.id AND o.kind <> 'steer' AND o.sent_at >= m.sent_at)`,
  },
  fail: {
    means: '`failed`, unless the session waits for its user or another of its tasks is under way.',
    status: sql`'failed'`,
    prompt: nothing,
    news: true,
    clears: true,
    when: mayFail,
  },
  expire: {
    means: 'The same as `fail`, unless another task of the session was settled after the expiry.',
    status: sql`'failed'`,
    prompt: nothing,
    news: true,
    clears: true,
    when: sql`${mayFail} AND EXISTS (SELECT 1 FROM moved m WHERE m.session_key = s.key AND NOT EXISTS (SELECT 1 FROM tasks l
      WHERE l.session_key = s.key AND l.state <> 'expired' AND l.finished_at > m.finished_at))`,
  },
  hold: {
    means:
      '`failed`, under the same conditions as `fail`. The queue is held until the user sends or cancels a message. Other open questions stay.',
    status: sql`'failed'`,
    prompt: promptOfOthers,
    held: true,
    news: true,
    clears: true,
    when: mayFail,
  },
  miss: {
    means: '`waiting` while another question is open, else `failed`.',
    clears: true,
  },
  idle: {
    means: '`idle`, unless the session waits for its user or another of its tasks is under way; the queue continues.',
    status: sql`CASE WHEN s.status = 'waiting' OR ${othersUnderWay} THEN s.status ELSE 'idle' END`,
    prompt: sql`CASE WHEN s.status = 'waiting' THEN s.prompt END`,
    held: false,
    clears: true,
  },
  withdraw: {
    means:
      'Unchanged, but `idle` if the session was `pending` and the withdrawn message is its first. A held queue stays held.',
    status: sql`CASE WHEN s.status = 'pending' AND EXISTS (SELECT 1 FROM moved m WHERE m.session_key = s.key AND m.kind = 'start')
      THEN 'idle' ELSE s.status END`,
  },
  dismiss: {
    means: '`idle` without its question, unless another of its tasks is under way; the queue continues.',
    status: sql`CASE WHEN ${othersUnderWay} THEN s.status ELSE 'idle' END`,
    prompt: nothing,
    held: false,
    clears: true,
  },
} as const satisfies Record<string, Ask>;

export type AskName = keyof typeof asks;

const words = (text: string | Sql) =>
  sql`last_message = ${typeof text === 'string' ? cutText(text, limits.lastMessageBytes) : text}, message_count = s.message_count + 1`;

/**
 * The statement that settles the sessions of the tasks in `moved` (a query of the same statement). `shown`: for the two
 * asks that show an outcome.
 */
export function settleSessions(name: AskName, shown?: ShownOutcome): Sql {
  const ask: Ask = asks[name];
  const set = [sql`updated_at = now()`];
  if (ask.status) set.push(sql`status = ${ask.status}`);
  if (ask.prompt) set.push(sql`prompt = ${ask.prompt}`);
  if (ask.held !== undefined) set.push(sql`queue_held = ${sql.raw(String(ask.held))}`);
  if (ask.clears) set.push(sql`progress = NULL`);
  if (ask.unlimited) set.push(sql`usage_limit = NULL, held_until = NULL`);
  if (shown && name === 'miss')
    set.push(sql`status = CASE WHEN ${isAsking} THEN 'waiting' ELSE 'failed' END, prompt = ${promptOfOthers}`);
  else if (shown) set.push(sql`status = ${shown.status}, prompt = ${shown.prompt}::jsonb`);
  // Only a message that is accepted later answers the question.
  if (shown?.prompt) set.push(sql`prompt_seq = (SELECT max(seq) FROM tasks WHERE session_key = s.key)`);
  if (shown?.words) set.push(words(shown.words));
  if (shown || ask.news) set.push(sql`news_at = now()`);
  return sql`UPDATE sessions s SET ${sql.join(set, ', ')}
    WHERE s.key IN (SELECT session_key FROM moved) AND ${ask.when ?? sql`true`}`;
}

/** The user sent something: it is the last message, earlier messages are read, and the queue continues. */
export const acceptance = (key: Sql, text: Sql): Sql =>
  sql`UPDATE sessions s SET queue_held = false, usage_limit = NULL, held_until = NULL, ${words(text)}, updated_at = now(), read_at = news_at WHERE s.key = ${key}`;

/** The turn of a task reached a usage limit: the queue of its session waits until then, or for its user. */
export async function holdAtLimit(db: Db, taskId: string, limit: { name: string; resetsAt?: string }): Promise<void> {
  const { name, resetsAt = null } = limit;
  await db.sql.execute`
    UPDATE sessions s SET queue_held = true, held_until = ${resetsAt}::timestamptz,
      usage_limit = ${JSON.stringify({ name, ...(resetsAt === null ? {} : { resetsAt }), at: new Date().toISOString() })}::jsonb
    WHERE s.key = (SELECT t.session_key FROM tasks t WHERE t.id = ${taskId} AND t.state = 'failed') AND s.status = 'failed'`;
}

/** About `s`: the limit that held its queue has reset, and no message continues it. */
const isReset = sql`s.queue_held AND s.held_until <= now()
  AND NOT EXISTS (SELECT 1 FROM tasks c WHERE c.session_key = s.key AND c.state = 'later' AND c.because = 'limit')`;

/** Devices with a session whose limit has reset. */
export async function devicesWithResetLimits(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>(
    sql`SELECT DISTINCT s.device_id FROM sessions s WHERE ${isReset} LIMIT 500`,
  );
  return rows.map((row) => row.device_id);
}

/** Lets go of the queues of a device whose limits have reset. Returns the keys of their sessions. */
export async function releaseLimits(db: Db, deviceId: string): Promise<string[]> {
  const rows = await db.sql.query<{ key: string }>(
    sql`UPDATE sessions s SET queue_held = false, held_until = NULL WHERE s.device_id = ${deviceId} AND ${isReset} RETURNING s.key`,
  );
  return rows.map(({ key }) => key);
}

/** The user cancelled, and no task was open: the queue continues. */
export async function releaseQueue(db: Db, key: string): Promise<void> {
  await db.sql.execute`UPDATE sessions SET queue_held = false WHERE key = ${key} AND queue_held`;
}

/** Another question is open: no message accepted before it answers it. */
export async function setSessionPrompt(db: Db, key: string, prompt: string): Promise<void> {
  await db.sql.execute`
    UPDATE sessions s SET prompt = COALESCE(s.prompt, ${prompt}::jsonb), updated_at = now(), news_at = now(),
      status = CASE WHEN ${someUnderWay} THEN s.status ELSE 'waiting' END,
      prompt_seq = (SELECT COALESCE(max(seq), s.prompt_seq) FROM tasks WHERE session_key = s.key)
    WHERE s.key = ${key}`;
}

/** The daemon closed questions of these sessions: sessions that waited only for these are now `status`. */
export async function clearSessionPrompts(db: Db, keys: readonly string[], status: 'active' | 'idle'): Promise<void> {
  if (keys.length === 0) return;
  const remains = sql`EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = s.key AND q.state IN ('open', 'answered'))`;
  await db.sql.execute`
    UPDATE sessions s SET updated_at = now(), prompt = CASE WHEN ${remains} THEN s.prompt END,
      status = CASE WHEN s.status = 'waiting' AND NOT ${remains} THEN ${status} ELSE s.status END
    WHERE s.key = ANY(${keys}::text[])`;
}

/** The open questions of a session `s`, oldest first, as JSON; null without open questions. */
export const openPrompts = sql`CASE WHEN s.prompt IS NOT NULL OR s.status = 'waiting' THEN
  (SELECT json_agg(q.payload ORDER BY q.seq) FROM prompts q WHERE q.session_key = s.key AND ${isOpen('q')}) END`;

/**
 * The status after a report, in SQL about `s`, the session, and `r`, its entry: `busy` while a task is open, `active`
 * as reported, `news` if it is newer than the outcome of the last task.
 */
export const reportedStatus = sql`CASE WHEN r.busy OR s.status IN ('pending', 'waiting', 'failed') OR r.active IS NULL THEN s.status
  WHEN r.active AND r.news THEN 'active' WHEN s.status = 'active' AND NOT r.active THEN 'idle' ELSE s.status END`;

/** False where the session `s` carries its last task: then all its tasks are settled (ADR 105). */
export const mayHaveOpenTask = sql`s.last_task IS NULL`;

/**
 * The newest task of a session `s` as a reader sees it, for `LEFT JOIN LATERAL`: while the queue is held, the task that
 * the user must decide about, which an answer to a question can overtake. The session carries a settled task; two further
 * branches read one row of their index. A steer is part of the running task, unless its delivery is unknown.
 */
export const lastTask = sql`(
    SELECT s.last_task->>'id' AS id, s.last_task ? 'automatic' AS automatic, s.last_task->>'state' AS state, s.last_task->>'code' AS error_code
    WHERE s.last_task ? 'id' AND NOT s.queue_held
    UNION ALL
    SELECT id, automatic, CASE WHEN ${isOverdue('last')} THEN 'expired' ELSE state END AS state,
      CASE WHEN ${isOverdue('last')} THEN 'TASK_EXPIRED' ELSE error_code END AS error_code
    FROM (
      (SELECT id, automatic, state, error_code, expires_at FROM tasks WHERE session_key = s.key AND ${mayHaveOpenTask} AND NOT s.queue_held
        AND state <> 'later' AND (kind <> 'steer' OR state = 'unknown') ORDER BY seq DESC LIMIT 1)
      UNION ALL
      (SELECT id, automatic, state, error_code, expires_at FROM tasks WHERE session_key = s.key AND s.queue_held AND state NOT IN ('later', 'queued') AND kind <> 'steer'
        ORDER BY state = 'unknown' DESC, finished_at DESC, seq DESC LIMIT 1)
    ) last
  )`;

/** The tasks under way, queued and with a time in a session `s`, for `LEFT JOIN LATERAL`; one row. */
export const line = sql`(
    SELECT min(l.sent_at) FILTER (WHERE l.state IN ${underWay}) AS running_since,
      (count(*) FILTER (WHERE ${isInLine('l')}))::int AS waiting,
      (count(*) FILTER (WHERE l.state = 'later'))::int AS later, min(l.not_before) FILTER (WHERE l.state = 'later') AS later_next,
      min(l.not_before) FILTER (WHERE l.state = 'later' AND l.kind = 'start') AS starts_at
    FROM tasks l WHERE l.session_key = s.key AND ${isUnsettled('l')} AND ${mayHaveOpenTask}
  )`;

/**
 * The status as a reader sees it, of a session `s` with its `lastTask` `t`: if its only open task expired, it is
 * `failed` from that moment on, not from the next sweep (rules, 2.6).
 */
export const shownStatus = sql`CASE WHEN t.state = 'expired' AND s.status IN ('pending', 'idle') THEN 'failed' ELSE s.status END`;
