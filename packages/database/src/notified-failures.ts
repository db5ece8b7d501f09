/**
 * Notifications of the cause `failed` that the agent did not cause (rules, 26.28). A notification of a missed run names a schedule instead of a
 * session, and the item of the inbox settles it.
 */
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** Begins the task id of such a notification; the id of the schedule follows. */
const prefix = 'missed:';

/** Whether notification `n` is about a missed run, in SQL. */
export const isAboutRun = sql`COALESCE(n.task_id LIKE ${`${prefix}%`}, false)`;

const scheduleOf = sql`substr(n.task_id, ${prefix.length + 1}::int)`;

/** The open item of the schedule of notification `n`. */
const item = sql`inbox_items i WHERE i.user_id = n.user_id AND i.kind = 'missed' AND i.session_key = '' AND i.subject = ${scheduleOf} AND i.state <> 'closed'`;

export const isRunSeen = sql`NOT EXISTS (SELECT 1 FROM ${item})`;
/** Why the newest run was missed. */
const reasonOfRun = sql`(SELECT i.reason FROM ${item} LIMIT 1)`;
export const nameOfRun = sql`(SELECT COALESCE(c.title, c.message) FROM schedules c WHERE c.id = ${scheduleOf})`;

/** A run of a schedule was missed, a message expired, or the agent reached its usage limit; `continues`: a message waits for the reset. */
export type Failure =
  | { kind: 'missed'; scheduleId: string; reason: string }
  | { kind: 'expired' }
  | { kind: 'limit'; resetsAt: string | null; continues: boolean };

/** The failure of delivery `d` of notification `n` about session `ses`, in SQL. */
export const failureOf = sql`CASE WHEN d.cause <> 'failed' THEN NULL
  WHEN ${isAboutRun} THEN jsonb_build_object('kind', 'missed', 'scheduleId', ${scheduleOf}, 'reason', ${reasonOfRun})
  WHEN EXISTS (SELECT 1 FROM tasks t WHERE t.id = n.task_id AND t.state = 'expired') THEN '{"kind":"expired"}'::jsonb
  WHEN ses.usage_limit IS NOT NULL THEN jsonb_build_object('kind', 'limit', 'resetsAt', ses.usage_limit->>'resetsAt', 'continues', EXISTS (
    SELECT 1 FROM tasks t WHERE t.session_key = ses.key AND t.state = 'later' AND t.because = 'limit')) END`;

/** The kind of failure of notification `n`, in SQL; also after its cause is over. */
export const failureKindOf = sql`CASE WHEN n.cause <> 'failed' THEN NULL WHEN ${isAboutRun} THEN 'missed' ELSE (
  SELECT CASE WHEN t.state = 'expired' THEN 'expired' WHEN t.error_code = 'USAGE_LIMIT' THEN 'limit' END FROM tasks t WHERE t.id = n.task_id) END`;

/** Enqueues a notification about a run of the schedule. Its text stays in the schedule. */
export async function notifyOfMissed(
  db: Db,
  { id, owner_id: ownerId, device_id: deviceId }: { id: string; owner_id: string; device_id: string },
): Promise<void> {
  await db.sql.execute`
    INSERT INTO notifications (id, user_id, session_key, session_id, device_id, task_id, cause)
    VALUES (${newUlid()}, ${ownerId}, '', '', ${deviceId}, ${`${prefix}${id}`}, 'failed')`;
}
