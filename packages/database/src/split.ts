/**
 * Notification → deliveries, one for each address, each with its verdict (rules, 14.11): one transaction. The caller
 * decides the verdict; this file reads its inputs under a lock of the person, so that two instances count the same.
 */
import {
  type CauseLevels,
  type Hold,
  type NotificationCause,
  type QuietHours,
  accountCauses,
  chosenCauseOf,
} from '@relay/protocol';
import { isAboutRun } from './notified-failures.ts';
import type { Db, Whole } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** An address that can be notified, and its person's preferences. */
export interface SplitAddress {
  id: string;
  levels: CauseLevels;
  /** Empty: ungrouped. */
  group: string;
  delaySeconds: number;
  /** Deliveries of the last minute: of `done` if the notification is one, else of all other causes. */
  recent: number;
  /** A digest of this address is sent then. */
  digestInMs: number | undefined;
}

export interface SplitContext {
  levels: CauseLevels;
  quietHours: QuietHours | null;
  watched: boolean;
  /** The choice of the user for the session. */
  notify: 'all' | 'off' | undefined;
}

export interface NotificationPlan {
  /** Undefined: it is sent. */
  suppressed?: string | undefined;
  reason?: string | undefined;
  heldFor?: Exclude<Hold, 'group'> | undefined;
  delayMs: number;
}

interface Row {
  id: string;
  levels: CauseLevels;
  group_name: string;
  delay_seconds: number;
  recent: number;
  digest_in: number | null;
  person_levels: CauseLevels | null;
  quiet: QuietHours | null;
  notify: 'all' | 'off' | null;
  watched: boolean;
}

/**
 * Writes a delivery of the notification for each address of the person. Safe to repeat: each address gets one delivery.
 * In a group, every delivery but the first waits for its predecessor; a change of the account goes to each address. Returns the
 * longest wait of the deliveries to send; undefined without an address.
 */
export async function splitNotification(
  db: Whole,
  notification: { id: string; userId: string; cause: NotificationCause },
  ttlMs: number,
  judge: (address: SplitAddress, context: SplitContext) => NotificationPlan,
): Promise<{ waitsMs: readonly number[] } | undefined> {
  return db.sql.transaction(async (tx) => {
    const rows = await readAddresses(tx, notification);
    if (rows.length === 0) return undefined;
    const lastOfGroup = new Map<string, string>();
    const planned = rows.map((row) => {
      const address = addressOf(row);
      const verdict = judge(address, contextOf(row));
      const id = newUlid();
      const group = chosenCauseOf(notification.cause) === undefined ? '' : address.group;
      const after = lastOfGroup.get(group) ?? null;
      if (group !== '' && verdict.suppressed === undefined) lastOfGroup.set(group, id);
      return { id, subscriptionId: address.id, after: verdict.suppressed === undefined ? after : null, verdict };
    });
    await insert(tx, notification, ttlMs, planned);
    return {
      waitsMs: planned.flatMap(({ verdict }) => (verdict.suppressed === undefined ? [verdict.delayMs] : [])),
    };
  });
}

async function readAddresses(tx: Db, { id, userId, cause }: { id: string; userId: string; cause: string }) {
  await tx.sql.query`SELECT pg_advisory_xact_lock(hashtextextended(${`split:${userId}`}, 0))::text AS locked`;
  // Locked: a removal waits for this commit, and so finds the delivery that it has to settle.
  return tx.sql.query<Row>`
    SELECT a.id, a.levels, a.group_name, a.delay_seconds,
      (SELECT count(*) FROM deliveries d WHERE d.subscription_id = a.id AND d.created_at > now() - interval '1 minute'
        AND d.state <> 'suppressed' AND d.cause <> 'test' AND (d.cause = 'done') = (${cause} = 'done'))::int AS recent,
      (SELECT extract(epoch FROM min(d.next_at) - now()) * 1000 FROM deliveries d
        WHERE d.subscription_id = a.id AND d.state = 'pending' AND d.next_at > now() AND d.held_for = 'storm')::double precision AS digest_in,
      p.levels AS person_levels, p.quiet, s.notify,
      ${isAboutRun} OR EXISTS (SELECT 1 FROM watched_sessions w WHERE w.session_key = s.key AND w.user_id = a.user_id) AS watched
    FROM subscriptions a
    LEFT JOIN notification_settings p ON p.user_id = a.user_id
    LEFT JOIN notifications n ON n.id = ${id}
    LEFT JOIN sessions s ON s.key = n.session_key
    WHERE a.user_id = ${userId} AND a.verified AND (NOT a.paused OR ${cause} = ANY(${[...accountCauses]}::text[]))
      AND (${cause} <> 'account_changed' OR n.created_at IS NULL OR a.created_at < n.created_at) ORDER BY a.created_at, a.id
    FOR KEY SHARE OF a`;
}

const addressOf = (row: Row): SplitAddress => ({
  id: row.id,
  levels: row.levels,
  group: row.group_name,
  delaySeconds: row.delay_seconds,
  recent: row.recent,
  digestInMs: row.digest_in ?? undefined,
});

const contextOf = (row: Row): SplitContext => ({
  levels: row.person_levels ?? {},
  quietHours: row.quiet,
  watched: row.watched,
  notify: row.notify ?? undefined,
});

interface Planned {
  id: string;
  subscriptionId: string;
  after: string | null;
  verdict: NotificationPlan;
}

async function insert(
  tx: Db,
  { id, userId, cause }: { id: string; userId: string; cause: string },
  ttlMs: number,
  planned: readonly Planned[],
): Promise<void> {
  const values = planned.map(({ id: deliveryId, subscriptionId, after, verdict }) => ({
    id: deliveryId,
    subscription_id: subscriptionId,
    after_id: after,
    state: verdict.suppressed === undefined ? 'pending' : 'suppressed',
    reason: verdict.suppressed ?? verdict.reason ?? null,
    held_for: verdict.heldFor ?? null,
    delay_ms: verdict.delayMs,
  }));
  await tx.sql.execute`
    INSERT INTO deliveries (id, notification_id, subscription_id, user_id, cause, state, reason, held_for, after_id, next_at, expires_at)
    SELECT v.id, ${id}, v.subscription_id, ${userId}, ${cause}, v.state, v.reason, v.held_for, v.after_id,
      now() + v.delay_ms * interval '1 millisecond', now() + (v.delay_ms + ${ttlMs}::double precision) * interval '1 millisecond'
    FROM json_to_recordset(${JSON.stringify(values)}::json) AS v (id text, subscription_id text, state text, reason text, held_for text,
      after_id text, delay_ms double precision)
    ON CONFLICT (notification_id, subscription_id) DO NOTHING`;
}
