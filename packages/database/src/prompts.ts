/**
 * The noun question (a prompt on the wire; rules, chapter 5, ADR 39): asked by a daemon, answered once, by the api that holds the row of the
 * device, and withdrawn by the daemon under the same lock: "answered" and "withdrawn" have one order. Every write must run
 * inside `withDevice`.
 */
import type { Prompt } from '@relay/protocol';
import { endPrompts } from './prompt-ends.ts';
import { clearSessionPrompts, setSessionPrompt } from './session-status.ts';
import { isOpen, open } from './task-states.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/**
 * `open`: can be answered. `answered`: has its only answer, which is with its task. `closed`: that answer reached the
 * daemon, or the person answered on the machine. `failed`: the answer came too late, or its arrival is unknown.
 * `superseded`, `expired`: never answered.
 */
type PromptState = 'open' | 'answered' | 'closed' | 'failed' | 'superseded' | 'expired';

/** The most open questions of one session: an app shows them all. */
const openPerSession = 20;

/** A question as apps see it: it has an id. */
export type NamedPrompt = Prompt & { id: string };

export const isNamed = (prompt: Prompt): prompt is NamedPrompt => prompt.id !== undefined;

/** The facts of a question that decide whether an answer is accepted. */
export interface PromptRecord {
  uuid: string;
  /** `expired` as soon as its time has passed. */
  state: PromptState;
  prompt: NamedPrompt;
  /** Its answer, once it has one; for a text answer only the time and the author. */
  answer?: { option?: string; label?: string; at: string; by?: string; on?: string };
}

export async function readPrompt(db: Db, key: string, uuid: string): Promise<PromptRecord | undefined> {
  const [row] = await db.sql.query<{
    state: PromptState;
    late: boolean;
    payload: NamedPrompt;
    option_id: string | null;
    answered_at: Date | null;
    answered_by: string | null;
    answered_on: string | null;
  }>`
    SELECT q.state, q.expires_at <= now() AS late, q.payload, q.option_id, q.answered_at, q.answered_by, q.answered_on
    FROM prompts q WHERE q.session_key = ${key} AND q.uuid = ${uuid}`;
  if (!row) return undefined;
  // A closed question has an empty payload.
  const { options = [] } = row.payload as Partial<NamedPrompt>;
  const label = options.find(({ id }) => id === row.option_id)?.label;
  const answer = row.answered_at && {
    ...(row.option_id === null ? {} : { option: row.option_id }),
    ...(row.option_id === null || label === undefined ? {} : { label }),
    at: row.answered_at.toISOString(),
    ...(row.answered_by === null ? {} : { by: row.answered_by }),
    ...(row.answered_on === null ? {} : { on: row.answered_on }),
  };
  return {
    uuid,
    state: row.state === 'open' && row.late ? 'expired' : row.state,
    prompt: row.payload,
    ...(answer ? { answer } : {}),
  };
}

interface NewPrompt {
  prompt: NamedPrompt;
  /** The task that the question completes; absent for a question beside a running task. */
  taskId?: string;
}

/**
 * Opens a question, once: a repetition changes nothing, unless it was superseded, expired or failed; then it is open again. `alone`: the daemon has
 * one question at a time, and all others of the session are superseded. False when it is open or was answered, the session is gone, or has
 * `openPerSession` open ones.
 */
export async function openPrompt(db: Db, key: string, { prompt, taskId }: NewPrompt, alone: boolean): Promise<boolean> {
  if (alone) await endPrompts(db, sql`p.session_key = ${key} AND p.uuid <> ${prompt.id}`);
  const expiresAt = prompt.expires === undefined ? NaN : Date.parse(prompt.expires);
  const count = await db.sql.execute`
    INSERT INTO prompts (session_key, uuid, device_id, task_id, payload, digest, expires_at)
    SELECT s.key, ${prompt.id}, s.device_id, ${taskId ?? null}, ${JSON.stringify(prompt)}::jsonb, ${prompt.digest ?? null},
      ${Number.isNaN(expiresAt) ? null : new Date(expiresAt)}::timestamptz
    FROM sessions s WHERE s.key = ${key} AND s.deleted_at IS NULL
      AND (SELECT count(*) FROM prompts q WHERE q.session_key = s.key AND q.state = 'open') < ${openPerSession}
    ON CONFLICT (session_key, uuid) DO UPDATE SET state = 'open', payload = excluded.payload, task_id = excluded.task_id, ended_at = NULL,
      digest = excluded.digest, expires_at = excluded.expires_at, answered_at = NULL, answered_by = NULL, answered_on = NULL, option_id = NULL, answer_task_id = NULL
      WHERE prompts.state IN ('superseded', 'expired', 'failed')`;
  return count > 0;
}

/** Whether the session is at its limit of open questions without this one: then `openPrompt` refuses it. */
export async function isBeyondOpen(db: Db, key: string, uuid: string): Promise<boolean> {
  const [row] = await db.sql.query<{ full: boolean }>`
    SELECT count(*) FILTER (WHERE state = 'open') >= ${openPerSession} AND NOT bool_or(uuid = ${uuid} AND state IN ('open', 'answered', 'closed')) AS full
    FROM prompts WHERE session_key = ${key}`;
  return row?.full === true;
}

/** A question beside another, or in a session that no task of the relay runs. False as with `openPrompt`. */
export async function openBeside(db: Db, key: string, prompt: NamedPrompt): Promise<boolean> {
  if (!(await openPrompt(db, key, { prompt }, false))) return false;
  await setSessionPrompt(db, key, JSON.stringify(prompt));
  return true;
}

/**
 * Saves the closing of a question as the daemon reports it; later reports do not count as an answer. `state` as on the
 * wire: an unknown one means superseded. `status`: of the session, if the daemon sends it. Returns whether anything
 * changed.
 */
export async function closePrompt(
  db: Db,
  key: string,
  { uuid, state, status }: { uuid: string; state: string; status?: string | null | undefined },
): Promise<boolean> {
  const to = state === 'answered' ? 'closed' : state === 'expired' ? 'expired' : 'superseded';
  const keys = await endPrompts(db, sql`p.session_key = ${key} AND p.uuid = ${uuid}`, sql`${to}::text`);
  // If the status is missing, the turn continues when the agent has its answer or needs none; the next report corrects
  // a mistake.
  const otherwise = state === 'answered' || state === 'superseded' ? 'active' : 'idle';
  await clearSessionPrompts(db, keys, status === 'active' || status === 'idle' ? status : otherwise);
  return keys.length > 0;
}

/** After a connect: the daemon has only these open questions. Returns the keys of the changed sessions. */
export async function supersedeOmitted(db: Db, deviceId: string, open: readonly string[]): Promise<string[]> {
  const which = sql`p.device_id = ${deviceId} AND p.state = 'open' AND p.uuid <> ALL(${open}::text[])`;
  const keys = await endPrompts(db, which);
  await clearSessionPrompts(db, keys, 'idle');
  return keys;
}

/**
 * Tasks of this device whose cancellation did not arrive: these questions are superseded, their daemon still asks them, and the newest task
 * that was sent in their session is cancelled.
 */
export async function dismissedAmong(db: Db, deviceId: string, openIds: readonly string[]): Promise<string[]> {
  if (openIds.length === 0) return [];
  const rows = await db.sql.query<{ id: string }>`
    SELECT t.id FROM (SELECT DISTINCT p.session_key FROM prompts p
      WHERE p.device_id = ${deviceId} AND p.state = 'superseded' AND p.uuid = ANY(${openIds}::text[])) q
    CROSS JOIN LATERAL (SELECT n.id, n.state FROM tasks n WHERE n.session_key = q.session_key AND n.sent_at IS NOT NULL
      ORDER BY n.sent_at DESC, n.seq DESC LIMIT 1) t
    WHERE t.state = 'cancelled'`;
  return rows.map((row) => row.id);
}

/**
 * A question `p` of a session `s` whose turn is over: during a rollout, an instance of an older release without
 * question support completed the turn and removed the question from the session alone. At least a minute old, and
 * without a task that could still move it.
 */
const isLeft = sql`p.ended_at IS NULL AND p.asked_at < now() - interval '1 minute' AND s.prompt IS NULL AND s.status <> 'waiting'
  AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = s.key AND t.state IN ${open})`;

/** Devices with such questions, at most 500. */
export async function devicesWithLeftPrompts(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>(sql`
    SELECT DISTINCT p.device_id FROM prompts p JOIN sessions s ON s.key = p.session_key WHERE ${isLeft} LIMIT 500`);
  return rows.map((row) => row.device_id);
}

/** Closes them, at most 500 of a device at a time. Returns the keys of their sessions. */
export const endLeftPrompts = (db: Db, deviceId: string): Promise<string[]> =>
  endPrompts(
    db,
    sql`p.seq IN (SELECT p.seq FROM prompts p JOIN sessions s ON s.key = p.session_key
      WHERE p.device_id = ${deviceId} AND ${isLeft} LIMIT 500)`,
  );

/** The oldest question of the session that a message without a reference answers. */
export const oldestOpen = (key: string) => sql`(SELECT q.uuid FROM prompts q
  WHERE q.session_key = ${sql.raw(key)} AND ${isOpen('q')} ORDER BY q.seq LIMIT 1)`;
