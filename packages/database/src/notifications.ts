/**
 * The outbox and ledger of notifications (rules, 14.5): written in the transaction of the cause, sent by exactly one instance.
 */
import {
  type NotificationCause,
  type NotificationList,
  chosenCauseOf,
  defaultLevels,
  formatSessionId,
} from '@relay/protocol';
import { type DeliveryRow, deliveryOf, isClaimOver } from './deliveries.ts';
import { type Failure, failureKindOf, nameOfRun } from './notified-failures.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';
import { callOf } from './turn-functions.ts';
import { newUlid } from './ulids.ts';

/**
 * Enqueues a notification of the owner, if the session is watched or the person wants this cause for all sessions. One
 * turn notifies once: the cause by a task and the cause by a `session_activity` (no task) are the same turn within
 * `windowMs`, unless the task was sent only afterwards; two tasks are two turns. `isNext`: the task notified before,
 * and this is news: the next question of its turn, or its completion after a withdrawn question. A completion notifies
 * only as long as no later task of the session does. Returns whether it wrote a notification. Must run inside
 * `withDevice`.
 */
export async function addNotification(
  db: Db,
  input: { sessionKey: string; cause: NotificationCause; taskId?: string; windowMs: number; isNext?: boolean },
): Promise<boolean> {
  const [row] = await db.sql.query<{ called: boolean }>(
    callOf('notify', {
      ...notifying(input.cause, input.windowMs),
      p_key: input.sessionKey,
      p_task: input.taskId,
      p_next: input.isNext === true,
    }),
  );
  return row!.called;
}

/** Parameters of a notification with this cause. */
export function notifying(cause: NotificationCause, windowMs: number) {
  const chosen = chosenCauseOf(cause);
  return {
    p_id: newUlid(),
    p_cause: cause,
    p_chosen: chosen ?? '',
    p_default: chosen === undefined ? 'watched' : defaultLevels[chosen],
    p_window: windowMs,
  };
}

export interface DueNotification {
  id: string;
  userId: string;
  /** Empty for a notification about a device or a program. */
  sessionId: string;
  deviceId?: string;
  cause: NotificationCause;
  /** The title of the session, or the name of the device or program. */
  title: string;
}

interface OutboxClaim {
  limit: number;
  /** Begins after this person; empty for the first. */
  afterUser: string;
  /** Pause from a failed claim to the next. */
  pauseMs: number;
}

/**
 * Claims up to `limit` notifications to send; while they are `sending`, no other caller gets them. Each of the next
 * people, by id, has the same share, oldest notifications first, so that thousands of one person delay no other.
 * `next`: where to continue; empty after the last person. `more`: other notifications might be due.
 */
export async function claimNotifications(
  db: Db,
  { limit, afterUser, pauseMs }: OutboxClaim,
): Promise<{ due: DueNotification[]; next: string; more: boolean }> {
  const isDue = sql`state = 'pending' AND (claimed_at IS NULL OR claimed_at < now() - ${pauseMs}::double precision * interval '1 millisecond')`;
  // A loose scan of the index: one step for each person, however many are due.
  const rows = await db.sql.query<{
    id: string | null;
    user_id: string;
    session_id: string;
    device_id: string | null;
    cause: NotificationCause;
    title: string | null;
    last: string | null;
  }>`
    WITH RECURSIVE people AS (
      (SELECT user_id, 1 AS nth FROM notifications WHERE ${isDue} AND user_id > ${afterUser} ORDER BY user_id LIMIT 1)
      UNION ALL
      SELECT (SELECT n.user_id FROM notifications n WHERE ${isDue} AND n.user_id > p.user_id ORDER BY n.user_id LIMIT 1), nth + 1
      FROM people p WHERE p.user_id IS NOT NULL AND nth < ${limit}::int
    ),
    fresh AS (
      SELECT n.id FROM people p CROSS JOIN LATERAL (
        SELECT id FROM notifications WHERE ${isDue} AND user_id = p.user_id
        ORDER BY created_at LIMIT GREATEST(1, ${limit}::int / (SELECT count(user_id) FROM people)) FOR UPDATE SKIP LOCKED
      ) n WHERE p.user_id IS NOT NULL
    ),
    stale AS (
      SELECT id FROM notifications WHERE state = 'sending' AND ${isClaimOver}
      ORDER BY created_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
    ),
    claimed AS (
      UPDATE notifications SET state = 'sending', claimed_at = now(), attempts = attempts + 1
      WHERE id IN (SELECT id FROM stale UNION ALL SELECT id FROM fresh LIMIT ${limit}::int) RETURNING *
    )
    SELECT (SELECT user_id FROM people WHERE nth = ${limit}::int) AS last, n.id, n.user_id, n.session_id, n.device_id, n.cause, COALESCE(n.name,
      (SELECT title FROM sessions s WHERE s.key = n.session_key), (SELECT name FROM devices d WHERE d.id = n.device_id)) AS title
    FROM (SELECT 1) AS one LEFT JOIN claimed n ON true ORDER BY n.created_at, n.id`;
  const due = rows.flatMap(({ id, user_id, session_id, device_id, cause, title }) =>
    id === null
      ? []
      : [
          {
            id,
            userId: user_id,
            sessionId: session_id,
            ...(device_id === null ? {} : { deviceId: device_id }),
            cause,
            title: title ?? '',
          },
        ],
  );
  const next = rows[0]?.last ?? '';
  // One of several people can have more than their share.
  const more = due.length === limit || next !== '' || due.some(({ userId }) => userId !== due[0]!.userId);
  return { due, next, more };
}

/** The age of the oldest unsent notification, in seconds; 0 for an empty outbox. */
export async function outboxLag(db: Db): Promise<number> {
  const [row] = await db.sql.query<{ seconds: number | null }>`
    SELECT extract(epoch FROM now() - min(created_at))::double precision AS seconds
    FROM notifications WHERE state IN ('pending', 'sending')`;
  return Math.max(0, row?.seconds ?? 0);
}

/**
 * Saves the outcome of sending a notification; a failed one is retried until `maxAttempts`. `unaddressed`: the person
 * has no address.
 */
export async function finishNotification(
  db: Db,
  id: string,
  outcome: 'sent' | 'unaddressed' | 'failed',
  maxAttempts: number,
): Promise<void> {
  await db.sql.execute`
    UPDATE notifications SET
      state = CASE WHEN ${outcome} <> 'failed' THEN ${outcome} WHEN attempts >= ${maxAttempts} THEN 'failed' ELSE 'pending' END,
      sent_at = CASE WHEN ${outcome} <> 'failed' THEN now() END
    WHERE id = ${id} AND state = 'sending'`;
}

const isSuppressed = ({ state }: DeliveryRow) => state === 'suppressed';

/** A page of the user's notifications, newest first, one more than `limit` when there is a next page. */
export async function listNotifications(
  db: Db,
  userId: string,
  limit: number,
  after?: { createdAt: Date; id: string },
): Promise<NotificationList['notifications']> {
  const rows = await db.sql.query<{
    id: string;
    cause: NotificationCause;
    state: 'pending' | 'sending' | 'sent' | 'failed' | 'unaddressed';
    created_at: Date;
    session_id: string;
    about_device: string | null;
    name: string | null;
    failure: Failure['kind'] | null;
    device_id: string | null;
    agent_type: string;
    native_id: string;
    deliveries: DeliveryRow[] | null;
  }>`
    SELECT (SELECT json_agg(d ORDER BY d.created_at) FROM deliveries d WHERE d.notification_id = n.id) AS deliveries, n.id, n.cause, n.state, n.created_at, n.session_id, n.device_id AS about_device, COALESCE(n.name, ${nameOfRun}) AS name, ${failureKindOf} AS failure, s.device_id, s.agent_type, s.native_id
    FROM notifications n LEFT JOIN sessions s ON s.key = n.session_key
    WHERE n.user_id = ${userId}
      AND (${after === undefined} OR (n.created_at, n.id) < (${after?.createdAt ?? new Date(0)}::timestamptz, ${after?.id ?? ''}))
    ORDER BY n.created_at DESC, n.id DESC LIMIT ${limit + 1}`;
  return rows.map((row) => ({
    id: row.id,
    sessionId: row.device_id
      ? formatSessionId({ deviceId: row.device_id, agentType: row.agent_type, nativeId: row.native_id })
      : row.session_id,
    ...(row.about_device === null ? {} : { deviceId: row.about_device }),
    ...(row.name === null ? {} : { name: row.name }),
    cause: row.cause,
    ...(row.failure === null ? {} : { failure: row.failure }),
    createdAt: row.created_at.toISOString(),
    state: row.state === 'sent' && row.deliveries?.every(isSuppressed) ? 'suppressed' : row.state,
    ...(row.deliveries === null ? {} : { deliveries: row.deliveries.map(deliveryOf) }),
  }));
}
