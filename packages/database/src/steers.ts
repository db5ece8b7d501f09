/**
 * Messages into a running turn (rules, chapter 23): tasks of the kind `steer`. Each names the task of the turn. A message that does not reach
 * the turn becomes an ordinary message. Every write must run inside `withDevice`.
 */
import { isDue, underWay } from './task-states.ts';
import { move, requeueSteers } from './move.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** How long a message can wait for its way into the turn. */
const intoMs = 30_000;
/** Messages into the turns of one session in a minute. */
export const steersPerMinute = 10;

/** The task whose turn runs in a session; undefined without one. */
export async function runningTask(db: Db, key: string): Promise<string | undefined> {
  const [row] = await db.sql.query<{ id: string }>`
    SELECT id FROM tasks WHERE session_key = ${key} AND state IN ${underWay} AND kind <> 'steer' ORDER BY sent_at DESC, seq DESC LIMIT 1`;
  return row?.id;
}

/** The number of messages that were sent into turns of a session within a minute. */
export async function recentSteers(db: Db, key: string): Promise<number> {
  const [row] = await db.sql.query<{ count: number }>`
    SELECT count(*)::int AS count FROM tasks WHERE session_key = ${key} AND into_until > now() + ${intoMs - 60_000}::double precision * interval '1 millisecond'`;
  return row!.count;
}

/** Sends a queued message into the turn of `into`. False when it is the first message of its session or an answer. */
export async function steerQueued(db: Db, taskId: string, into: string): Promise<boolean> {
  const changed = await db.sql.execute`
    UPDATE tasks t SET kind = 'steer', into_task = ${into}, prompt_uuid = '', into_until = now() + ${intoMs}::double precision * interval '1 millisecond'
    WHERE t.id = ${taskId} AND ${isDue('t')} AND t.kind <> 'start' AND COALESCE(t.prompt_uuid, '') = '' AND t.answer IS NULL`;
  return changed > 0;
}

/** The outcomes of a message into a turn, as its daemon reports them. */
export type SteerOutcome = 'injected' | 'not_running' | 'refused' | 'dropped' | 'unknown';

/** Notes the outcome. Returns the key of its session; undefined when it changed nothing: it was noted before, or is another one's. */
export async function noteSteer(
  db: Db,
  deviceId: string,
  taskId: string,
  outcome: SteerOutcome,
): Promise<string | undefined> {
  const which = sql`t.id = ${taskId} AND t.device_id = ${deviceId} AND t.kind = 'steer'`;
  if (outcome === 'not_running' || outcome === 'refused') {
    const [moved] = await requeueSteers(
      db,
      sql`${which} AND t.state = 'sent'`,
      outcome === 'refused' ? 'old' : 'first',
    );
    // The next messages must not overtake it.
    if (moved && outcome === 'refused')
      await requeueSteers(db, sql`t.session_key = ${moved.sessionKey} AND t.state = 'queued'`, 'old');
    return moved?.sessionKey;
  }
  const name = outcome === 'injected' ? 'inject' : outcome === 'dropped' ? 'drop' : 'stray';
  const [moved] = await move(db, name, which);
  if (moved && outcome === 'injected')
    await move(
      db,
      'land',
      sql`${which} AND NOT EXISTS (SELECT 1 FROM tasks r WHERE r.id = t.into_task AND r.state IN ${underWay})`,
    );
  return moved?.sessionKey;
}

/** A claimed steer that was not written, because the daemon does not support steers: it waits in its old place. */
export async function giveUpSteer(db: Db, taskId: string, fence: number): Promise<void> {
  await requeueSteers(db, sql`t.id = ${taskId} AND t.fence = ${fence} AND t.state = 'sent'`, 'old');
}

const isLate = sql`t.kind = 'steer' AND t.state = 'queued' AND t.into_until <= now()`;

/** Makes ordinary messages of messages that waited for too long. Returns the keys of their sessions. */
export async function requeueLateSteers(db: Db, deviceId: string): Promise<string[]> {
  const moved = await requeueSteers(db, sql`t.device_id = ${deviceId} AND ${isLate}`, 'old');
  return [...new Set(moved.map(({ sessionKey }) => sessionKey))];
}

/** Devices that hold such a message. */
export async function devicesWithLateSteers(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>(
    sql`SELECT DISTINCT t.device_id FROM tasks t WHERE ${isLate} LIMIT 500`,
  );
  return rows.map((row) => row.device_id);
}
