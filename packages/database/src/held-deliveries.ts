/**
 * Deliveries that wait: until quiet hours or a storm are over, then one message covers all of them; or for another
 * address of their group.
 */
import type { DeliveryCause } from '@relay/protocol';
import { isAboutProgram, isWaitOver } from './held-waits.ts';
import { isAboutRun, isRunSeen } from './notified-failures.ts';
import { sql } from './sql.ts';
import { isDue, isOpen } from './task-states.ts';
import type { Db, Whole } from './transaction.ts';

/** An answer was accepted that its machine does not have yet, and no other question is open. */
const isAnswered = sql`EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = ses.key AND ${isDue('t')} AND t.seq > ses.prompt_seq
    AND t.prompt_uuid IS DISTINCT FROM '')
  AND NOT EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = ses.key AND ${isOpen('q')})`;

/**
 * Whether the reason for a notification is gone, in SQL about `d`, a delivery, `n`, its notification, and `ses`, its
 * session: a question was answered, a program waits no longer, an unknown delivery was decided, the item of a missed
 * run was closed, anything else was read.
 */
export const isOver = sql`CASE
  WHEN d.notification_id IS NULL OR d.cause NOT IN ('needs_you', 'done', 'failed', 'unknown') THEN false
  WHEN ${isAboutRun} THEN ${isRunSeen}
  WHEN ses.key IS NULL OR ses.deleted_at IS NOT NULL THEN true
  WHEN d.cause = 'needs_you' AND ${isAboutProgram} THEN ${isWaitOver}
  WHEN d.cause = 'needs_you' THEN ses.status <> 'waiting' OR (${isAnswered})
  WHEN d.cause = 'unknown' THEN NOT ses.queue_held
  ELSE COALESCE(ses.read_at >= n.created_at, false) END`;

/**
 * Puts all due held deliveries of this delivery's address into its message. Returns their causes, including those of an
 * earlier attempt but not its own. Supersedes deliveries whose reason is gone by now.
 */
export async function gatherDigest(
  db: Whole,
  { id, subscriptionId }: { id: string; subscriptionId: string },
): Promise<DeliveryCause[]> {
  return db.sql.transaction(async (tx) => {
    const due = await tx.sql.query<{ id: string }>`
      WITH due AS (
        SELECT d.id, ${isOver} AS over FROM deliveries d
        LEFT JOIN notifications n ON n.id = d.notification_id LEFT JOIN sessions ses ON ses.key = n.session_key
        WHERE d.subscription_id = ${subscriptionId} AND d.state = 'pending' AND d.held_for IN ('quiet_hours', 'storm')
          AND d.next_at <= now() AND d.after_id IS NULL FOR UPDATE OF d SKIP LOCKED
      )
      UPDATE deliveries d SET state = 'superseded', digest_id = CASE WHEN due.over THEN NULL ELSE ${id} END,
        reason = CASE WHEN due.over THEN 'It was over before it was sent.' ELSE 'It was sent in one message with others.' END
      FROM due WHERE d.id = due.id RETURNING d.id`;
    // A digest that was tried before and joined this one, or whose own cause is over, brings along its content.
    await tx.sql
      .execute`UPDATE deliveries SET digest_id = ${id} WHERE digest_id = ANY(${due.map((one) => one.id)}::text[])`;
    const rows = await tx.sql.query<{ cause: DeliveryCause }>`SELECT cause FROM deliveries WHERE digest_id = ${id}`;
    return rows.map(({ cause }) => cause);
  });
}

/** These digests stay unsent: their contents are due again. */
export async function releaseDigests(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.sql.execute`
    UPDATE deliveries SET state = 'pending', digest_id = NULL, reason = NULL
    WHERE digest_id = ANY(${[...ids]}::text[]) AND state = 'superseded' AND expires_at > now()`;
}

/**
 * An accepted delivery about a session: whether its reason still holds, and whether a newer one replaced it on the
 * screen.
 */
interface ShownDelivery {
  id: string;
  sealed: string;
  sessionId: string;
  over: boolean;
  replaced: boolean;
}

/** Returns the deliveries that an address still shows. */
export function shownDeliveries(db: Db, ids: readonly string[]): Promise<ShownDelivery[]> {
  return db.sql.query<ShownDelivery>`
    SELECT d.id, s.sealed, n.session_id AS "sessionId", ${isOver} AS over, EXISTS (
        SELECT 1 FROM deliveries o JOIN notifications m ON m.id = o.notification_id
        WHERE o.subscription_id = d.subscription_id AND o.created_at > d.created_at AND m.session_key = n.session_key
          AND (n.session_key <> '' OR m.task_id = n.task_id)
          AND o.state IN ('pending', 'sending', 'accepted')) AS replaced
    FROM deliveries d JOIN subscriptions s ON s.id = d.subscription_id AND NOT s.paused
    JOIN notifications n ON n.id = d.notification_id LEFT JOIN sessions ses ON ses.key = n.session_key
    WHERE d.id = ANY(${[...ids]}::text[]) AND d.state = 'accepted'`;
}

/** Settles the pending deliveries of removed addresses. Call it after the removal, which stops new ones. */
export async function supersedeDeliveries(db: Db, subscriptionIds: readonly string[]): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await db.sql.execute`
    UPDATE deliveries SET state = 'superseded', reason = 'the address was removed'
    WHERE subscription_id = ANY(${[...subscriptionIds]}::text[]) AND state = 'pending'`;
}

/**
 * Deliveries that wait for another address of their group: its failure releases them, its success cancels them. They do
 * not wait for an address that was paused since: its delivery, or the digest that contains it, is superseded.
 */
export async function releaseGroups(db: Db): Promise<void> {
  const passedOver = await db.sql.query<{ id: string }>`
    UPDATE deliveries d SET state = 'superseded', reason = 'The address is paused.'
    FROM deliveries o JOIN deliveries before ON before.id = o.after_id JOIN subscriptions s ON s.id = before.subscription_id AND s.paused
    WHERE o.state = 'pending' AND d.id = COALESCE(before.digest_id, before.id) AND d.state = 'pending' AND d.after_id IS NULL
    RETURNING d.id`;
  await releaseDigests(
    db,
    passedOver.map(({ id }) => id),
  );
  // The array makes PostgreSQL find the rows that wait first, also with a plan that was made on an empty table.
  await db.sql.execute`
    WITH w AS MATERIALIZED (
      SELECT o.id, COALESCE(digest.state, before.state, 'gone') AS before, before.reason FROM deliveries o
      LEFT JOIN deliveries before ON before.id = o.after_id LEFT JOIN deliveries digest ON digest.id = before.digest_id
      WHERE o.after_id IS NOT NULL
    )
    UPDATE deliveries d SET after_id = NULL,
      state = CASE WHEN w.before IN ('accepted', 'suppressed') THEN 'suppressed' ELSE 'pending' END,
      reason = CASE w.before WHEN 'accepted' THEN 'Another address of its group was notified.' WHEN 'suppressed' THEN w.reason ELSE d.reason END
    FROM w WHERE d.id = ANY(ARRAY(SELECT id FROM w)) AND d.id = w.id AND d.state = 'pending' AND w.before NOT IN ('pending', 'sending')`;
}

/** Deliveries of the person that quiet hours hold become due `inMs` from now, and keep their remaining time. */
export async function rescheduleQuiet(
  db: Db,
  userId: string,
  untilOf: (cause: DeliveryCause) => number | undefined,
): Promise<void> {
  const rows = await db.sql.query<{ cause: DeliveryCause }>`
    SELECT DISTINCT cause FROM deliveries WHERE state = 'pending' AND user_id = ${userId} AND held_for = 'quiet_hours'`;
  for (const { cause } of rows) {
    const inMs = untilOf(cause) ?? 0;
    await db.sql.execute`
      UPDATE deliveries SET expires_at = expires_at - next_at + now() + ${inMs}::double precision * interval '1 millisecond',
        next_at = now() + ${inMs}::double precision * interval '1 millisecond'
      WHERE state = 'pending' AND user_id = ${userId} AND held_for = 'quiet_hours' AND cause = ${cause}`;
  }
}
