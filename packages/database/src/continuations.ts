/**
 * Messages that continue after a usage limit (rules, 26.5, 26.13 to 26.16): written by a person, or by the relay where its person chose that.
 * Every write must run inside `withDevice`.
 */
import { limits } from '@relay/protocol';
import { enqueueLater, hasTooManyLater } from './later.ts';
import { move } from './move.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** The text of a message that the relay writes. */
const goOn = 'Continue where you stopped.';
/** A limit with a later reset, such as a weekly one, is left to its person. */
const aheadMs = 24 * 3_600_000;
/** The most messages without a completed turn: a reset can be reported too early, and each attempt can cost money. */
const inARow = 3;

/** About `s` and `t`: the turn ran with a setting that was chosen for this message alone. */
const isChosenOnce = sql`EXISTS (SELECT 1 FROM jsonb_array_elements(COALESCE(t.settings, '[]')) c WHERE c->>'keep' IS DISTINCT FROM 'true')`;

const triesInARow = sql`(SELECT count(*) FROM tasks a WHERE a.session_key = s.key AND a.automatic AND a.state <> 'cancelled' AND a.seq > COALESCE(
  (SELECT max(c.seq) FROM tasks c WHERE c.session_key = s.key AND c.kind <> 'steer' AND c.state IN ('completed', 'waiting')), 0))`;

/** Chooses whether sessions of an agent continue by themselves. Turning it off removes the messages. Returns the keys of their sessions. */
export async function changeContinues(db: Db, deviceId: string, agentType: string, isAuto: boolean): Promise<string[]> {
  await db.sql.execute`
    UPDATE devices SET continues = array_remove(continues, ${agentType}) || ${isAuto ? [agentType] : []}::text[] WHERE id = ${deviceId}`;
  if (isAuto) return [];
  const ofAgent = sql`EXISTS (SELECT 1 FROM sessions s WHERE s.key = t.session_key AND s.agent_type = ${agentType})`;
  const removed = await move(
    db,
    'withdraw',
    sql`t.device_id = ${deviceId} AND t.state = 'later' AND t.automatic AND ${ofAgent}`,
  );
  return removed.map(({ sessionKey }) => sessionKey);
}

interface Reached {
  deviceId: string;
  taskId: string;
  /** When the limit resets. */
  resetsAt: Date;
  /** Its time has a date or a zone. */
  isExact: boolean;
  ttlMs: number;
}

/**
 * The turn of a task reached a limit again: messages of its agent that wait for an earlier reset get the new one, and its session gets a
 * message if its person chose that. Returns the keys of the other sessions that changed.
 */
export async function continueAfterLimit(db: Db, reached: Reached): Promise<string[]> {
  const moved = await postpone(db, reached);
  const [task] = await db.sql.query<{ session_key: string; owner_id: string; agent_depth: number | null }>`
    SELECT t.session_key, t.owner_id, t.agent_depth FROM tasks t JOIN sessions s ON s.key = t.session_key JOIN devices d ON d.id = t.device_id
    WHERE t.id = ${reached.taskId} AND t.state = 'failed' AND s.status = 'failed' AND s.usage_limit IS NOT NULL AND NOT s.archived
      AND s.agent_type = ANY(d.continues) AND NOT ${isChosenOnce} AND ${triesInARow} < ${inARow}`;
  if (!task || !reached.isExact || reached.resetsAt.getTime() - Date.now() > aheadMs) return moved;
  const { session_key: key, owner_id: ownerId, agent_depth: agentDepth } = task;
  if (await hasTooManyLater(db, ownerId, key)) return moved;
  const notBefore = new Date(
    reached.resetsAt.getTime() + limits.continueFromMs + Math.random() * limits.continueWithinMs,
  );
  const message = { key, ownerId, deviceId: reached.deviceId, content: goOn, notBefore, ttlMs: reached.ttlMs };
  await enqueueLater(db, { ...message, because: 'limit', automatic: true, agentDepth });
  return moved;
}

async function postpone(db: Db, { deviceId, taskId, resetsAt }: Reached): Promise<string[]> {
  const ofAgent = sql`t.device_id = ${deviceId} AND t.state = 'later' AND t.because = 'limit' AND t.not_before < ${resetsAt}
    AND EXISTS (SELECT 1 FROM sessions s JOIN sessions o ON o.key = (SELECT session_key FROM tasks WHERE id = ${taskId})
      WHERE s.key = t.session_key AND s.agent_type = o.agent_type)`;
  const tooFar = await move(
    db,
    'withdraw',
    sql`${ofAgent} AND t.automatic AND ${resetsAt}::timestamptz > now() + ${aheadMs}::double precision * interval '1 millisecond'`,
  );
  const moved = await db.sql.query<{ session_key: string }>`
    WITH next AS MATERIALIZED (
      SELECT t.id, ${resetsAt}::timestamptz + (${limits.continueFromMs}::double precision + random() * ${limits.continueWithinMs}::double precision) * interval '1 millisecond' AS at
      FROM tasks t WHERE ${ofAgent})
    UPDATE tasks t SET not_before = n.at, expires_at = t.expires_at + (n.at - t.not_before) FROM next n WHERE t.id = n.id RETURNING t.session_key`;
  const keys = moved.map((row) => row.session_key);
  if (keys.length > 0)
    await db.sql.execute`
      UPDATE sessions SET held_until = CASE WHEN held_until IS NULL THEN NULL ELSE ${resetsAt}::timestamptz END,
        usage_limit = usage_limit || jsonb_build_object('resetsAt', ${resetsAt.toISOString()}::text) WHERE key = ANY(${keys}::text[])`;
  return [...new Set([...keys, ...tooFar.map(({ sessionKey }) => sessionKey)])];
}

/** A person cancelled in the session: it does not continue by itself. Returns the id of the message. */
export async function dropAutomatic(db: Db, key: string): Promise<string | undefined> {
  const [dropped] = await move(db, 'withdraw', sql`t.session_key = ${key} AND t.state = 'later' AND t.automatic`);
  return dropped?.id;
}
