/** Moving tasks along the table (`task-moves.ts`). Must run inside `withDevice`, so that the tasks of a device move in one order. */
import { type MovedTask, settlePrompts } from './prompt-ends.ts';
import { settleSessions } from './session-status.ts';
import { type Move, type MoveName, type TaskOutcome, moveTasks, taskMoves } from './task-moves.ts';
import { isStarting, open } from './task-states.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

/**
 * Moves tasks and settles their sessions, in one statement. Further ones follow only where something depends on it: the questions of a
 * session that has some, and the queue of a session that can no longer get a name. Returns the tasks that moved; tasks in
 * another state stay as they are.
 */
export async function move(
  db: Db,
  name: MoveName,
  which: Sql,
  ending?: TaskOutcome,
  also: readonly Sql[] = [],
): Promise<MovedTask[]> {
  const { session, strands, questions, steers }: Move = taskMoves[name];
  const settle = session ? sql`, settled AS (${settleSessions(session, ending?.shown)} RETURNING s.key)` : sql.empty;
  const shown = session ? sql`EXISTS (SELECT 1 FROM settled z WHERE z.key = m.session_key)` : sql`false`;
  const asks = questions
    ? sql`EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = m.session_key AND q.state IN ('open', 'answered'))`
    : sql`false`;
  const steered = steers
    ? sql`EXISTS (SELECT 1 FROM tasks i WHERE i.session_key = m.session_key AND i.state IN ${open} AND i.into_task = m.id AND i.kind = 'steer')`
    : sql`false`;
  const rows = await db.sql.query<{
    id: string;
    session_key: string;
    placeholder: boolean;
    sent: boolean;
    shown: boolean;
    asks: boolean;
    steered: boolean;
  }>`
    WITH moved AS (${moveTasks(name, which, ending ? written(ending) : also)})${settle}
    SELECT m.id, m.session_key, s.placeholder, m.sent_at IS NOT NULL AS sent, ${shown} AS shown, ${asks} AS asks, ${steered} AS steered
    FROM moved m JOIN sessions s ON s.key = m.session_key ORDER BY m.seq`;
  const moved = rows.map(({ session_key: sessionKey, ...row }) => ({ ...row, sessionKey }));
  const asking = moved.filter((row) => row.asks);
  if (questions && asking.length > 0) await settlePrompts(db, asking, questions);
  const into = moved.filter((row) => row.steered).map(({ id }) => id);
  if (steers && into.length > 0) await settleSteers(db, into, steers);
  const unnamed = moved.filter(({ placeholder }) => placeholder).map(({ sessionKey }) => sessionKey);
  if (strands && unnamed.length > 0) await move(db, 'strand', isStranded(unnamed));
  return moved;
}

/** Settles the steers of these tasks, which are over. A steer whose outcome the daemon still owes stays `sent`. */
async function settleSteers(db: Db, into: readonly string[], how: NonNullable<Move['steers']>): Promise<void> {
  const which = sql`t.into_task = ANY(${into}::text[]) AND t.kind = 'steer'`;
  if (how === 'cancel') return void (await move(db, 'cancel', which));
  await move(db, how, which);
  await requeueSteers(db, sql`${which} AND t.state = 'queued'`, 'first');
}

/**
 * Makes ordinary messages of messages that did not reach a turn. `first`: they precede all queued tasks, in their order; else each keeps its
 * place.
 */
export function requeueSteers(db: Db, which: Sql, place: 'first' | 'old'): Promise<MovedTask[]> {
  const others = sql`(SELECT min(COALESCE(q.place, q.seq)) FROM tasks q WHERE q.session_key = t.session_key AND q.state = 'queued' AND q.kind = 'resume')`;
  const later = sql`(SELECT count(*) FROM tasks n WHERE n.session_key = t.session_key AND n.kind = 'steer' AND n.state IN ('queued', 'sent') AND n.seq >= t.seq)`;
  const first = place === 'first' ? [sql`place = ${others} - ${later}`] : [];
  return move(db, 'requeue', sql`t.kind = 'steer' AND ${which}`, undefined, [sql`kind = 'resume'`, ...first]);
}

function written({ result, code, error, note, keepsInstruction }: TaskOutcome): Sql[] {
  const ending = sql`result = ${result}, error_code = ${code}, error_text = ${error}, note = ${note}`;
  return keepsInstruction ? [ending] : [ending, sql`instruction = ''`];
}

/** Follow-ups of a first task that finished without a name. */
const isStranded = (keys: readonly string[]) =>
  sql`t.session_key = ANY(${keys}::text[]) AND t.kind = 'resume' AND NOT ${isStarting('t.session_key')}`;
