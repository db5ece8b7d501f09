/**
 * The ledger of deliveries (rules, 14.8): one row for each notification to each address. One instance claims a row,
 * sends it and settles it. Another instance takes over an unsettled claim once, and marks the row as possibly delivered
 * twice.
 */
import {
  type Delivery,
  type DeliveryCause,
  type DeliveryState,
  type Hold,
  type QuietHours,
  type SubscriptionActions,
  type SubscriptionDetail,
  type SubscriptionKind,
  accountCauses,
} from '@relay/protocol';
import { isAboutProgram } from './held-waits.ts';
import { isOver, releaseDigests, releaseGroups } from './held-deliveries.ts';
import { type Failure, failureOf, nameOfRun } from './notified-failures.ts';
import type { NamedPrompt } from './prompts.ts';
import { sql } from './sql.ts';
import type { Db, Whole } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** A row as `row_to_json` writes it, so times are texts. */
export interface DeliveryRow {
  id: string;
  subscription_id: string;
  cause: DeliveryCause;
  state: DeliveryState;
  reason: string | null;
  attempts: number;
  http_status: number | null;
  maybe_duplicate: boolean;
  created_at: string;
  next_at: string;
  accepted_at: string | null;
  held_for: Exclude<Hold, 'group'> | null;
  after_id: string | null;
  digest_id: string | null;
}

const utc = (given: string) => new Date(given).toISOString();

function holdOf({ after_id: after, held_for: held }: DeliveryRow): { heldFor?: Hold } {
  if (after !== null) return { heldFor: 'group' };
  return held === null ? {} : { heldFor: held };
}

export const deliveryOf = (row: DeliveryRow): Delivery => ({
  id: row.id,
  subscriptionId: row.subscription_id,
  cause: row.cause,
  state: row.state,
  ...(row.reason === null ? {} : { reason: row.reason }),
  attempts: row.attempts,
  ...(row.http_status === null ? {} : { httpStatus: row.http_status }),
  maybeDuplicate: row.maybe_duplicate,
  createdAt: utc(row.created_at),
  ...(row.state === 'pending' ? { nextAt: utc(row.next_at), ...holdOf(row) } : {}),
  ...(row.digest_id === null ? {} : { sentWith: row.digest_id }),
  ...(row.accepted_at === null ? {} : { acceptedAt: utc(row.accepted_at) }),
});

/** Writes the delivery of a test to one address. Returns its id. */
export async function addTestDelivery(db: Db, userId: string, subscriptionId: string, ttlMs: number): Promise<string> {
  const id = newUlid();
  await db.sql.execute`
    INSERT INTO deliveries (id, subscription_id, user_id, cause, expires_at)
    VALUES (${id}, ${subscriptionId}, ${userId}, 'test', now() + ${ttlMs}::double precision * interval '1 millisecond')`;
  return id;
}

/** A question that a notification can answer. A large one comes without its text: `isCut`. */
export type DueQuestion = Pick<NamedPrompt, 'id' | 'options'> & Partial<NamedPrompt> & { isCut?: true };

/** More than this is never answered in a notification, so it is not loaded. */
const questionBytes = 16 * 1024;

/** A claimed delivery with all data for its message. */
export interface ClaimedDelivery {
  id: string;
  userId: string;
  subscriptionId: string;
  cause: DeliveryCause;
  attempts: number;
  createdAt: Date;
  expiresAt: Date;
  kind: SubscriptionKind;
  sealed: string;
  detail: SubscriptionDetail;
  actions: SubscriptionActions;
  /** The sign-in whose revocation removes the address. */
  login?: string | undefined;
  /** The oldest open question of the session, with `needs_you`. */
  question?: DueQuestion | undefined;
  /** The reason of a program that waits for its person; can be empty. Absent for other notifications. */
  waits?: string | undefined;
  /** A failure that is not an error of the agent. */
  failure?: Failure | undefined;
  /** Host of the address; for apps of the stores, their service. */
  host: string;
  /** The session of the notification; empty for a test, and for anything that is about no session. */
  sessionId: string;
  deviceId: string;
  /** The title of the session, or the name of the device or program; can be empty. */
  title: string;
  /** The newest message of the session. */
  text: string;
  /** The reason for the notification is gone: the question was answered, anything else was read. */
  over: boolean;
  /** It waited for that: an app showed its session. */
  awaitsReading: boolean;
  /** It is sent with everything else that is held for its address. */
  isDigest: boolean;
  /** Another address of its group is notified when this one fails. */
  hasNext: boolean;
  /** The quiet hours of the person. */
  quietHours: QuietHours | null;
}

interface ClaimedRow {
  id: string;
  user_id: string;
  subscription_id: string;
  cause: DeliveryCause;
  attempts: number;
  created_at: Date;
  expires_at: Date;
  kind: SubscriptionKind;
  sealed: string;
  detail: SubscriptionDetail;
  actions: SubscriptionActions;
  login: string | null;
  question: DueQuestion | null;
  waits: string | null;
  failure: Failure | null;
  address: string;
  last: string | null;
  session_id: string | null;
  device_id: string | null;
  title: string | null;
  text: string | null;
  over: boolean;
  held_for: Hold | null;
  has_next: boolean;
  quiet: QuietHours | null;
}

/** Bounds the cost of a claim; the next one goes on after them. */
const maxPeopleAtOnce = 200;
/** Some people with due rows already have all their addresses in progress. */
const peoplePerRow = 4;

interface ClaimRequest {
  limit: number;
  claimer: string;
  /** Begins after this person; empty for the first. */
  afterUser: string;
  /** Hosts that have enough under way. */
  withoutHosts?: readonly string[];
}

/**
 * Claims up to `limit` due deliveries, one of each address, of the next people (at most 200) after `afterUser` in the order of their ids, so that
 * one person with many due rows delays no other. Returns them in that order, and in `next` where to go on: empty when the last person was
 * reached.
 */
export async function claimDeliveries(
  db: Db,
  { limit, claimer, afterUser, withoutHosts = [] }: ClaimRequest,
): Promise<{ claimed: ClaimedDelivery[]; next: string }> {
  // If the busiest hosts are excluded, most people have nothing to claim.
  const peopleAtOnce = withoutHosts.length > 0 ? maxPeopleAtOnce : Math.min(maxPeopleAtOnce, peoplePerRow * limit);
  // A delivery is locked only when it was chosen: where another instance is claiming the first of an address, the second is not taken.
  // A loose scan of the index: one step for each person with something due, however much it is.
  const rows = await db.sql.query<ClaimedRow | { id: null; last: string | null }>`
    WITH RECURSIVE people AS (
      (SELECT user_id, 1 AS nth FROM deliveries
        WHERE state = 'pending' AND user_id > ${afterUser} AND next_at <= now() ORDER BY user_id LIMIT 1)
      UNION ALL
      SELECT (SELECT d.user_id FROM deliveries d
        WHERE d.state = 'pending' AND d.user_id > p.user_id AND d.next_at <= now() ORDER BY d.user_id LIMIT 1), nth + 1
      FROM people p WHERE p.user_id IS NOT NULL AND nth < ${peopleAtOnce}
    ),
    chosen AS MATERIALIZED (
      SELECT p.user_id, f.id FROM people p
      CROSS JOIN LATERAL (SELECT id, paused, address FROM subscriptions WHERE user_id = p.user_id OFFSET 0) s
      CROSS JOIN LATERAL (
        SELECT id FROM deliveries
        WHERE subscription_id = s.id AND state = 'pending' AND after_id IS NULL AND next_at <= now() AND (NOT s.paused OR cause = ANY(${[...accountCauses, 'test']}::text[]))
        ORDER BY next_at LIMIT 1
      ) f
      WHERE (SELECT o.id FROM deliveries o WHERE o.subscription_id = s.id AND o.state = 'sending' ORDER BY o.next_at LIMIT 1) IS NULL
        AND split_part(s.address, '/', 1) <> ALL(${[...withoutHosts]}::text[])
    ),
    -- PostgreSQL expects few rows to pass a comparison with a number, and can use no index for a CASE: it finds each delivery by its id. A plan
    -- that was made when the table was small would otherwise read all pending rows for each chosen one.
    due AS (
      SELECT d.id FROM chosen c JOIN deliveries d ON d.id = c.id AND CASE d.state WHEN 'pending' THEN true ELSE false END
      WHERE (c.id IS NOT NULL)::int = 1 ORDER BY c.user_id LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED
    ),
    claimed AS (
      UPDATE deliveries d SET state = 'sending', claimed_by = ${claimer}, claimed_at = now(), attempts = attempts + 1
      FROM due WHERE d.id = due.id AND (due.id IS NOT NULL)::int = 1 RETURNING d.*
    )
    SELECT (SELECT user_id FROM people WHERE nth = ${peopleAtOnce}) AS last,
      d.id, d.user_id, d.subscription_id, d.cause, d.attempts, d.created_at, d.expires_at, d.held_for, s.kind, s.sealed, s.detail, s.address, s.actions, s.login,
      n.session_id, n.device_id, COALESCE(n.name, ses.title, ${nameOfRun}, (SELECT name FROM devices WHERE id = n.device_id)) AS title,
      ses.last_message AS text, asked.question, CASE WHEN ${isAboutProgram} THEN COALESCE(ses.held->>'waits', '') END AS waits, ${failureOf} AS failure,
      ${isOver} AS over, p.quiet,
      EXISTS (SELECT 1 FROM deliveries f WHERE f.after_id = d.id AND f.state = 'pending') AS has_next
    FROM (SELECT 1) AS one
    LEFT JOIN (claimed d JOIN subscriptions s ON s.id = d.subscription_id) ON true
    LEFT JOIN notifications n ON n.id = d.notification_id
    LEFT JOIN sessions ses ON ses.key = n.session_key
    LEFT JOIN notification_settings p ON p.user_id = d.user_id
    LEFT JOIN LATERAL (
      SELECT CASE WHEN octet_length(q.payload::text) <= ${questionBytes}::int THEN q.payload
        ELSE (q.payload - '{prompt,result,context,subject,fields}'::text[]) || '{"isCut":true}'::jsonb END AS question
      FROM prompts q WHERE d.cause = 'needs_you' AND NOT ${isAboutProgram} AND q.session_key = n.session_key AND q.state = 'open'
        AND (q.expires_at IS NULL OR q.expires_at > now()) ORDER BY q.seq LIMIT 1
    ) asked ON true
    ORDER BY d.user_id, d.next_at`;
  const claimed = rows.filter((row): row is ClaimedRow => row.id !== null).map(claimedOf);
  return { claimed, next: claimed.length === limit ? claimed.at(-1)!.userId : (rows[0]?.last ?? '') };
}

const claimedOf = (row: ClaimedRow): ClaimedDelivery => ({
  id: row.id,
  userId: row.user_id,
  subscriptionId: row.subscription_id,
  cause: row.cause,
  attempts: row.attempts,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  kind: row.kind,
  sealed: row.sealed,
  detail: row.detail,
  host: row.address.split('/')[0]!,
  actions: row.actions,
  ...(row.login === null ? {} : { login: row.login }),
  ...(row.question === null ? {} : { question: row.question }),
  ...(row.waits === null ? {} : { waits: row.waits }),
  ...(row.failure === null ? {} : { failure: row.failure }),
  sessionId: row.session_id ?? '',
  deviceId: row.device_id ?? '',
  title: row.title ?? '',
  text: row.text ?? '',
  over: row.over,
  awaitsReading: row.held_for === 'reading',
  isDigest: row.held_for === 'quiet_hours' || row.held_for === 'storm',
  hasNext: row.has_next,
  quietHours: row.quiet,
});

/** The outcome of one attempt. */
export interface DeliveryOutcome {
  state: 'accepted' | 'pending' | 'held' | 'failed' | 'gone' | 'superseded' | 'suppressed';
  httpStatus?: number | undefined;
  reason?: string | undefined;
  /** For `pending`: when to retry. For `held`, which is not an attempt: when the quiet hours are over. */
  delayMs?: number | undefined;
  /** For `pending`: the service refuses this relay, for every address. */
  isRefused?: boolean | undefined;
  /** Pauses the address, with the reason that its person reads. */
  pause?: string | undefined;
}

const failingDays = 7;

type Claim = Pick<ClaimedDelivery, 'id' | 'subscriptionId' | 'attempts' | 'sealed'>;

/**
 * Settles a claim if it is still current: an attempt that another instance took over changes nothing. An accepted
 * delivery verifies its address; a `gone` address is removed; an address that accepted nothing for seven days is
 * paused. An address that was registered again in between stays, and gets the refused delivery. Returns whether the
 * claim was current.
 */
export function settleDelivery(db: Whole, claim: Claim, claimer: string, outcome: DeliveryOutcome): Promise<boolean> {
  return outcome.state === 'accepted'
    ? settleAccepted(db, claim, claimer, outcome)
    : settleOther(db, claim, claimer, outcome);
}

/** The common outcome takes one statement. */
async function settleAccepted(
  db: Whole,
  { id, attempts, sealed }: Claim,
  claimer: string,
  { httpStatus }: DeliveryOutcome,
): Promise<boolean> {
  const settled = await db.sql.query<{ id: string }>`
    WITH settled AS (
      UPDATE deliveries SET state = 'accepted', http_status = ${httpStatus ?? null}::int, reason = NULL, next_at = now(), accepted_at = now()
      WHERE id = ${id} AND state = 'sending' AND claimed_by = ${claimer} AND attempts = ${attempts}
      RETURNING id, subscription_id
    ),
    verified AS (
      UPDATE subscriptions SET verified = true, failing_since = NULL
      WHERE id IN (SELECT subscription_id FROM settled) AND sealed = ${sealed} AND (NOT verified OR failing_since IS NOT NULL)
    )
    SELECT id FROM settled`;
  return settled.length > 0;
}

async function settleOther(
  db: Whole,
  { id, subscriptionId, attempts, sealed }: Claim,
  claimer: string,
  { state, httpStatus, reason, delayMs = 0, pause }: DeliveryOutcome,
): Promise<boolean> {
  const held = state === 'held';
  const next = held ? 'pending' : state;
  return db.sql.transaction(async (tx) => {
    const [settled] = await tx.sql.query<{ state: string }>`
      UPDATE deliveries SET
        state = CASE WHEN ${state} = 'pending' AND now() + ${delayMs}::double precision * interval '1 millisecond' >= expires_at
          THEN 'expired' ELSE ${next} END,
        held_for = CASE WHEN ${held} THEN 'quiet_hours' ELSE held_for END,
        attempts = attempts - ${held ? 1 : 0}::int,
        expires_at = expires_at + ${held ? delayMs : 0}::double precision * interval '1 millisecond',
        http_status = ${httpStatus ?? null}::int, reason = ${reason ?? null},
        next_at = now() + ${delayMs}::double precision * interval '1 millisecond'
      WHERE id = ${id} AND state = 'sending' AND claimed_by = ${claimer} AND attempts = ${attempts} RETURNING state`;
    if (settled === undefined) return false;
    if (settled.state === 'superseded' || settled.state === 'expired') await releaseDigests(tx, [id]);
    if (held || state === 'superseded' || state === 'suppressed') return true;
    if (state === 'gone') {
      const removed = await tx.sql.execute`
        DELETE FROM subscriptions WHERE id = ${subscriptionId} AND sealed = ${sealed}`;
      if (removed === 0) return againElsewhere(tx, id);
      await tx.sql.execute`
        UPDATE deliveries SET state = 'gone', reason = ${reason ?? null} WHERE subscription_id = ${subscriptionId} AND state = 'pending'`;
      return true;
    }
    const failed = await tx.sql.execute`
      UPDATE subscriptions SET failing_since = COALESCE(failing_since, now()),
        paused = paused OR ${pause !== undefined} OR COALESCE(failing_since < now() - ${failingDays}::int * interval '1 day', false),
        reason = CASE WHEN ${pause !== undefined} THEN ${pause ?? null}
          WHEN failing_since < now() - ${failingDays}::int * interval '1 day' THEN 'It took nothing for seven days.' ELSE reason END
      WHERE id = ${subscriptionId} AND sealed = ${sealed}`;
    return failed === 0 && pause !== undefined ? againElsewhere(tx, id) : true;
  });
}

/** The old address refused it: the delivery is due for the address that replaced it, if any. */
async function againElsewhere(tx: Db, id: string): Promise<true> {
  await tx.sql.execute`
    UPDATE deliveries d SET state = 'pending', reason = NULL FROM subscriptions s WHERE d.id = ${id} AND s.id = d.subscription_id`;
  return true;
}

/** A question waits for its person, so its claim is short, and its instance renews it while the service answers. */
export const isClaimOver = sql`claimed_at < now() - CASE WHEN cause = 'needs_you' THEN interval '10 seconds' ELSE interval '60 seconds' END`;

/** Keeps claims whose attempts are still under way. */
export async function renewClaims(db: Db, claimer: string, ids: readonly string[]): Promise<void> {
  await db.sql.execute`
    UPDATE deliveries SET claimed_at = now() WHERE id = ANY(${sql.texts(ids)}) AND state = 'sending' AND claimed_by = ${claimer}`;
}

/**
 * Expires overdue deliveries and stale claims. Such a claim is due again once, marked as a
 * possible duplicate; the second time its outcome is unknown. Groups go on to their next address. Returns how many were taken over.
 */
export async function sweepDeliveries(db: Db): Promise<number> {
  const expired = await db.sql.query<{ id: string }>`
    UPDATE deliveries SET state = 'expired', reason = COALESCE(reason, 'It was not sent in time.')
    WHERE state = 'pending' AND expires_at < now() RETURNING id`;
  await releaseDigests(
    db,
    expired.map(({ id }) => id),
  );
  const takenOver = await db.sql.execute`
    UPDATE deliveries SET state = CASE WHEN maybe_duplicate THEN 'unknown' ELSE 'pending' END, maybe_duplicate = true, next_at = now(),
      reason = 'An instance ended while it was sent.'
    WHERE state = 'sending' AND ${isClaimOver}`;
  await releaseGroups(db);
  return takenOver;
}

/**
 * How long the most overdue delivery has been due, in seconds; 0 if the ledger has no due row. Rows that wait for a
 * retry or a pause are not due.
 */
export async function deliveryLag(db: Db): Promise<number> {
  const [row] = await db.sql.query<{ seconds: number | null }>`
    SELECT extract(epoch FROM now() - min(d.next_at))::double precision AS seconds
    FROM deliveries d JOIN subscriptions s ON s.id = d.subscription_id
    WHERE d.state = 'pending' AND d.next_at <= now() AND d.after_id IS NULL
      AND (NOT s.paused OR d.cause = ANY(${[...accountCauses]}::text[]))`;
  return Math.max(0, row?.seconds ?? 0);
}

export async function findDelivery(db: Db, userId: string, id: string): Promise<Delivery | undefined> {
  const [row] = await db.sql.query<{ delivery: DeliveryRow }>`
    SELECT row_to_json(d) AS delivery FROM deliveries d WHERE d.id = ${id} AND d.user_id = ${userId}`;
  return row && deliveryOf(row.delivery);
}
