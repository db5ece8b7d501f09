/** Sessions and turns that agents started (rules, 19.6 and 19.8): who started a session, how many turns are open, and how deep a turn is in its chain. */
import { isDue, underWay } from './task-states.ts';
import type { Db } from './transaction.ts';

/** Tasks of the person that an agent started and that are not settled. */
export async function openAgentTurns(db: Db, ownerId: string): Promise<number> {
  const [row] = await db.sql.query<{ count: number }>`
    SELECT count(*)::int AS count FROM tasks t
    WHERE t.owner_id = ${ownerId} AND t.agent_depth IS NOT NULL AND t.finished_at IS NULL AND (t.state IN ${underWay} OR ${isDue('t')})`;
  return row?.count ?? 0;
}

/** How deep the turn of a session is that runs, else the newest one; 0 for a turn that a person started. */
export async function agentDepthOf(db: Db, sessionKey: string): Promise<number> {
  const [row] = await db.sql.query<{ agent_depth: number | null }>`
    SELECT agent_depth FROM tasks WHERE session_key = ${sessionKey} AND state <> 'later' ORDER BY (state IN ${underWay}) DESC, seq DESC LIMIT 1`;
  return row?.agent_depth ?? 0;
}

/** The sign-in of the agent that started a session; undefined for any other session. */
export async function starterOf(db: Db, sessionKey: string): Promise<string | undefined> {
  const [row] = await db.sql.query<{ started_by: string | null }>`
    SELECT started_by FROM sessions WHERE key = ${sessionKey}`;
  return row?.started_by ?? undefined;
}
