/** The states of a task as conditions in SQL, so that no query spells them by itself. */
import { type Sql, sql } from './sql.ts';

/** Written to the daemon, and not settled: `state IN ${underWay}`. */
export const underWay = sql.raw(`('sent', 'running')`);
/** Not settled: `state IN ${open}`. */
export const open = sql.raw(`('queued', 'sent', 'running')`);

/**
 * Not settled, or with a time: `later`, `queued`, `running` or `sent`. These are adjacent in the alphabet, so PostgreSQL descends the index
 * once and not four times. `task`: the alias of the table.
 */
export const isUnsettled = (task: string) => sql.raw(`${task}.state BETWEEN 'later' AND 'sent'`);

/**
 * The daemon has task `t` of session `s` and gets its cancellation: the running task, the task whose question waits for
 * the user, or, if the turn continues without its question (rules, 5.13), the task that asked. A running task comes
 * first.
 */
export const isWithDaemon = sql`((t.state IN ${underWay}
  OR (s.status = 'waiting' AND t.id = (SELECT id FROM tasks WHERE session_key = s.key AND state = 'waiting' ORDER BY sent_at DESC, seq DESC LIMIT 1))
  OR (s.status = 'active' AND t.state = 'waiting' AND t.id = (SELECT id FROM tasks
    WHERE session_key = s.key AND sent_at IS NOT NULL AND kind <> 'steer' ORDER BY sent_at DESC, seq DESC LIMIT 1))) AND t.kind <> 'steer')`;

/** Queued, and still in time. `task`: the alias of the table, a constant of the code. */
const isDueText = (task: string) => `(${task}.state = 'queued' AND ${task}.expires_at > now())`;
export const isDue = (task: string) => sql.raw(isDueText(task));
/** Waits: queued and in time, or on its way into a running turn. */
export const isInLine = (task: string) =>
  sql.raw(`(${isDueText(task)} OR (${task}.kind = 'steer' AND ${task}.state = 'sent'))`);
/** Queued and past its deadline: every reader sees it as expired (rules, 2.6). */
export const isOverdue = (task: string) => sql.raw(`(${task}.state = 'queued' AND ${task}.expires_at <= now())`);

/** The time of message `task` has come, and it has not joined its queue. */
export const isTimeUp = (task: string) => sql.raw(`(${task}.state = 'later' AND ${task}.not_before <= now())`);

/**
 * The sending order of the queued tasks `t` of a session `s`: the first message, answers, messages accepted after the
 * question while it is open, and else by place.
 */
export const lineOrder = sql`t.kind = 'resume', COALESCE(t.prompt_uuid, '') = '',
  t.seq <= s.prompt_seq AND NOT EXISTS (SELECT 1 FROM tasks a
    WHERE a.session_key = s.key AND a.seq > s.prompt_seq AND a.sent_at IS NOT NULL AND a.state IN ('completed', 'failed', 'cancelled')),
  COALESCE(t.place, t.seq)`;

/** The version of the queue of the session with this key: it changes when a message is added, removed, edited or moved. A scalar subquery. */
export const queueVersionOf = (key: Sql | string) => sql`(
  SELECT hashtextextended(COALESCE(string_agg(q.id || ' ' || q.edits || ' ' || COALESCE(q.place, q.seq)
    || CASE WHEN q.kind = 'steer' THEN ' ' || q.state ELSE '' END, ',' ORDER BY q.seq) FILTER (WHERE ${isInLine('q')}), ''), 0)::text
  FROM tasks q WHERE q.session_key = ${key} AND q.state IN ('queued', 'sent'))`;

/** The session with this key (a column, a constant of the code) has an open first task, and can still get its name. */
export const isStarting = (key: string) => sql`EXISTS (SELECT 1 FROM tasks f WHERE f.session_key = ${sql.raw(key)}
  AND f.kind = 'start' AND (f.state = 'later' OR f.state IN ${underWay} OR ${isDue('f')}))`;

/** A question that can be answered. `prompt`: the alias of the table. */
export const isOpen = (prompt: string) =>
  sql.raw(`(${prompt}.state = 'open' AND (${prompt}.expires_at IS NULL OR ${prompt}.expires_at > now()))`);
