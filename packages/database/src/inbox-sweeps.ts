/**
 * Time-based changes of an inbox: snoozes run out, questions expire, machines stay away. Each change is one transaction
 * per person.
 */
import { sql } from './sql.ts';
import type { Db, Transactions } from './transaction.ts';
import { newUlid } from './ulids.ts';

const atOnce = 500;

/** Shows snoozed items whose time has come, and notifies again of watched ones. Returns their number. */
export async function endSnoozes(db: Transactions): Promise<number> {
  const due = await db.sql.query<{ user_id: string }>`
    SELECT DISTINCT user_id FROM (SELECT user_id FROM inbox_items WHERE state = 'snoozed' AND snoozed_until <= now()
      ORDER BY snoozed_until LIMIT ${atOnce}) d`;
  let ended = 0;
  for (const { user_id: userId } of due)
    ended += await db.sql.transaction(async (tx) => {
      const rows = await tx.sql.query<{ id: string; kind: string; session_key: string }>`
        UPDATE inbox_items SET state = 'open', version = 0, snoozed_until = NULL WHERE id IN (SELECT id FROM inbox_items
          WHERE user_id = ${userId} AND state = 'snoozed' AND snoozed_until <= now() ORDER BY id LIMIT ${atOnce} FOR UPDATE SKIP LOCKED)
        RETURNING id, kind, session_key`;
      for (const row of rows) await notifyAgain(tx, row);
      return rows.length;
    });
  return ended;
}

const causes: Readonly<Record<string, string>> = {
  question: 'needs_you',
  failure: 'failed',
  unknown: 'unknown',
  finished: 'done',
};

/**
 * Only if the session is still watched; device items have no cause for it. The item replaces the task, so that no
 * turn takes over this notification.
 */
async function notifyAgain(db: Db, item: { id: string; kind: string; session_key: string }): Promise<void> {
  const cause = causes[item.kind];
  if (cause === undefined) return;
  await db.sql.execute`
    INSERT INTO notifications (id, user_id, session_key, session_id, task_id, cause)
    SELECT ${newUlid()}, s.owner_id, s.key, s.device_id || ':' || s.agent_type || ':' || s.native_id, ${item.id}, ${cause}
    FROM sessions s WHERE s.key = ${item.session_key} AND s.deleted_at IS NULL
      AND EXISTS (SELECT 1 FROM watched_sessions w WHERE w.session_key = s.key AND w.user_id = s.owner_id)`;
}

const close = (cause: string) =>
  sql`state = 'closed', version = 0, closed_at = now(), snoozed_until = NULL, closed_by = ${cause}`;

/** Closes overdue items: a question that expired, a conflict of a device that is over. */
export async function endExpiredItems(db: Transactions): Promise<void> {
  const due = await db.sql.query<{ user_id: string }>`
    SELECT DISTINCT user_id FROM (SELECT user_id FROM inbox_items WHERE state <> 'closed' AND expires_at <= now()
      ORDER BY expires_at LIMIT ${atOnce}) d`;
  for (const { user_id: userId } of due)
    await db.sql.transaction(
      (tx) => tx.sql.execute`
        UPDATE inbox_items SET ${close('expired')} WHERE id IN (SELECT id FROM inbox_items
          WHERE user_id = ${userId} AND state <> 'closed' AND expires_at <= now() ORDER BY id LIMIT ${atOnce} FOR UPDATE SKIP LOCKED)`,
    );
}

/** The machine of device `d` has work that waits. */
const hasWork = sql`EXISTS (SELECT 1 FROM tasks t WHERE t.device_id = d.id AND t.state = 'queued' AND t.expires_at > now())`;

/**
 * Opens an item for each device that has been offline for `offlineMs` while work waits for it, and closes items whose
 * device is back or idle. If a device comes back during the sweep, it closes its item itself, or the next round does.
 */
export async function sweepDeviceItems(db: Transactions, offlineMs: number): Promise<void> {
  const away = await db.sql.query<{ id: string; owner_id: string }>`
    SELECT d.id, d.owner_id FROM devices d
    WHERE d.id IN (SELECT DISTINCT device_id FROM tasks WHERE state = 'queued' AND expires_at > now())
      AND d.status = 'offline' AND d.removed_at IS NULL AND d.last_seen_at < now() - ${offlineMs}::double precision * interval '1 millisecond'
      AND NOT EXISTS (SELECT 1 FROM inbox_items i WHERE i.user_id = d.owner_id AND i.kind = 'device' AND i.session_key = '' AND i.subject = d.id
        AND i.state <> 'closed')
    LIMIT ${atOnce}`;
  for (const { id, owner_id: ownerId } of away)
    await db.sql.transaction(
      (tx) => tx.sql.query`SELECT relay_inbox_open(${ownerId}, 'device', '', ${id}, 'offline', NULL)`,
    );
  const over = await db.sql.query<{ id: string }>`
    SELECT i.id FROM devices d JOIN inbox_items i ON i.user_id = d.owner_id AND i.kind = 'device' AND i.session_key = '' AND i.subject = d.id
    WHERE i.state <> 'closed' AND i.reason = 'offline' AND (d.status <> 'offline' OR NOT ${hasWork}) LIMIT ${atOnce}`;
  for (const { id } of over)
    await db.sql.transaction(
      (tx) => tx.sql.execute`UPDATE inbox_items SET ${close('recovered')} WHERE id = ${id} AND state <> 'closed'`,
    );
}
