/**
 * How questions close (rules, chapter 5): by their answer, with the turn, by the daemon. Must run inside `withDevice`.
 */
import { type QuestionEffect, moveTasks } from './task-moves.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** The facts of a moved task that questions depend on. */
export interface MovedTask {
  id: string;
  sessionKey: string;
  /** It was written to its daemon. */
  sent: boolean;
  /** Its session shows the move. */
  shown: boolean;
}

/** The statement that gives an open question its one answer, which is with this task. */
export const answerOf = (
  key: string | Sql,
  uuid: string | Sql,
  {
    taskId,
    by,
    option = null,
    on = null,
  }: Readonly<Record<'taskId' | 'by', string | Sql>> & {
    option?: Sql | null;
    on?: Sql | null;
  },
): Sql => sql`
    UPDATE prompts SET state = 'answered', answered_at = now(), answered_by = ${by}, answered_on = ${on},
      option_id = ${option}, answer_task_id = ${taskId}
    WHERE session_key = ${key} AND uuid = ${uuid} AND state = 'open'`;

/**
 * Closes the open and answered questions `p` that match `which`, and frees the unsent tasks that would have answered
 * them.
 * Returns the keys of their sessions.
 */
export async function endPrompts(db: Db, which: Sql, state: Sql = sql`'superseded'`): Promise<string[]> {
  const rows = await db.sql.query<{ session_key: string; answer_task_id: string | null }>`
    UPDATE prompts p SET state = ${state}, payload = '{}'::jsonb, ended_at = now()
    WHERE ${which} AND p.state IN ('open', 'answered') RETURNING p.session_key, p.answer_task_id`;
  const tasks = rows.flatMap(({ answer_task_id: id }) => id ?? []);
  if (tasks.length > 0) await free(db, tasks);
  return [...new Set(rows.map(({ session_key: key }) => key))];
}

/**
 * Settles unsent answers to closed questions: a choice is never applied, a text becomes a message that waits for all
 * questions.
 */
async function free(db: Db, taskIds: readonly string[]): Promise<void> {
  const which = sql`t.id = ANY(${taskIds}::text[])`;
  const isChoice = sql`(t.answer->'option' IS NOT NULL OR t.answer->'fields' IS NOT NULL)`;
  await db.sql.query`${moveTasks('supersede', sql`${which} AND ${isChoice}`)}`;
  await db.sql.execute`UPDATE tasks t SET prompt_uuid = '', answer = NULL WHERE ${which} AND t.state = 'queued'`;
}

/**
 * Settles the questions of sessions whose tasks moved. A task that was never sent reopens its question. A sent task
 * closes the question it answered (`own`, or `failed` if it is uncertain whether the answer was applied), and with the
 * turn (`over`) all other questions.
 */
export async function settlePrompts(db: Db, moved: readonly MovedTask[], how: QuestionEffect): Promise<void> {
  const idsOf = (tasks: readonly MovedTask[]) => tasks.map(({ id }) => id);
  const sent = idsOf(moved.filter((task) => task.sent));
  const unsent = idsOf(moved.filter((task) => !task.sent));
  const over = moved.filter((task) => task.sent && task.shown).map(({ sessionKey }) => sessionKey);
  if (sent.length > 0) {
    const own = sql`p.answer_task_id = ANY(${sent}::text[])`;
    const which = how === 'over' ? sql`(p.session_key = ANY(${over}::text[]) OR ${own})` : own;
    const keys = sql`p.session_key = ANY(${moved.map(({ sessionKey }) => sessionKey)}::text[])`;
    const state = sql`CASE WHEN ${own} THEN ${how === 'failed' ? 'failed' : 'closed'} ELSE 'superseded' END`;
    await endPrompts(db, sql`${keys} AND ${which}`, state);
  }
  if (unsent.length > 0) await reopen(db, unsent);
}

/** Reopens the question; the first message queued after the lost answer becomes the next one (rules, 5.6). */
async function reopen(db: Db, taskIds: readonly string[]): Promise<void> {
  const rows = await db.sql.query<{ session_key: string; uuid: string; answered_by: string }>`
    UPDATE prompts p SET state = 'open', answered_at = NULL, answered_on = NULL, option_id = NULL, answer_task_id = NULL
    WHERE p.answer_task_id = ANY(${taskIds}::text[]) AND p.state = 'answered' RETURNING p.session_key, p.uuid, p.answered_by`;
  for (const { session_key: key, uuid, answered_by: by } of rows) {
    const [next] = await db.sql.query<{ id: string }>`
      UPDATE tasks t SET prompt_uuid = ${uuid} WHERE t.id = (SELECT n.id FROM tasks n JOIN sessions s ON s.key = n.session_key
        WHERE n.session_key = ${key} AND n.state = 'queued' AND n.expires_at > now() AND n.prompt_uuid IS NULL AND n.seq > s.prompt_seq
        ORDER BY n.seq LIMIT 1)
      RETURNING t.id`;
    if (next) await db.sql.execute(answerOf(key, uuid, { taskId: next.id, by }));
  }
}
