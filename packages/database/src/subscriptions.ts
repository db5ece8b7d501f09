/** Addresses at which people are notified (rules, 14.7). The address itself is sealed by the api: this room never sees it. */
import {
  type Subscription,
  type SubscriptionActions,
  type SubscriptionDetail,
  type SubscriptionKind,
  type SubscriptionState,
  type CauseLevels,
  maxSubscriptions,
} from '@relay/protocol';
import { addAccountNotice } from './access-notices.ts';
import { type DeliveryRow, deliveryOf } from './deliveries.ts';
import { supersedeDeliveries } from './held-deliveries.ts';
import type { Db, Whole } from './transaction.ts';
import { newUlid } from './ulids.ts';

interface NewSubscription {
  kind: SubscriptionKind;
  /** Keyed hashes of the address, the one of the current secret first. */
  addressHashes: readonly string[];
  sealed: string;
  label: string;
  /** The host, for people. */
  address: string;
  levels: CauseLevels;
  installation: string | undefined;
  /** Empty: ungrouped. */
  group: string;
  delaySeconds: number;
  detail: SubscriptionDetail;
  actions: SubscriptionActions;
  /** For ntfy and webhooks: the program that the person typed it in. */
  typedIn?: string | undefined;
  /**
   * For a browser or an app: its program, its sign-in, and the program's sign-in, whose revocation removes the address.
   */
  client?: string | undefined;
  login?: string | undefined;
  chain?: string | undefined;
  /** False for an address that has to take a test first. */
  verified: boolean;
  /** The notice for the other addresses of the person. */
  notice?: string | undefined;
}

interface Row {
  id: string;
  user_id: string;
  kind: SubscriptionKind;
  label: string;
  address: string;
  levels: CauseLevels;
  installation: string | null;
  group_name: string;
  delay_seconds: number;
  detail: SubscriptionDetail;
  actions: SubscriptionActions;
  paused: boolean;
  verified: boolean;
  reason: string | null;
  created_at: Date;
  sealed: string;
  last: DeliveryRow | null;
}

/** A subscription and its secrets, which stay inside the relay. */
export interface SealedSubscription {
  subscription: Subscription;
  sealed: string;
}

const toSealed = (row: Row): SealedSubscription => ({
  sealed: row.sealed,
  subscription: {
    id: row.id,
    kind: row.kind,
    label: row.label,
    address: row.address,
    causes: row.levels,
    ...(row.installation === null ? {} : { installation: row.installation }),
    ...(row.group_name === '' ? {} : { group: row.group_name }),
    ...(row.delay_seconds === 0 ? {} : { delaySeconds: row.delay_seconds }),
    detail: row.detail,
    actions: row.actions,
    state: row.paused ? 'paused' : row.verified ? 'active' : 'unverified',
    ...(row.reason === null ? {} : { reason: row.reason }),
    createdAt: row.created_at.toISOString(),
    ...(row.last === null ? {} : { lastDelivery: deliveryOf(row.last) }),
  },
});

/** Up to `maxSubscriptions` of a person, oldest first; with an `id`, at most that one. */
export async function listSubscriptions(db: Db, userId: string, id?: string): Promise<SealedSubscription[]> {
  const rows = await db.sql.query<Row>`
    SELECT s.id, s.user_id, s.kind, s.label, s.address, s.levels, s.installation, s.group_name, s.delay_seconds, s.detail, s.actions, s.paused, s.verified, s.reason, s.created_at, s.sealed,
      (SELECT row_to_json(d) FROM (
        SELECT * FROM deliveries WHERE subscription_id = s.id ORDER BY created_at DESC LIMIT 1) d) AS last
    FROM subscriptions s WHERE s.user_id = ${userId} AND (${id === undefined} OR s.id = ${id ?? ''})
    ORDER BY s.created_at, s.id LIMIT ${maxSubscriptions}`;
  return rows.map(toSealed);
}

export async function findSubscription(db: Db, userId: string, id: string): Promise<SealedSubscription | undefined> {
  const [found] = await listSubscriptions(db, userId, id);
  return found;
}

/**
 * Adds an address, or changes an existing one: the person's same address, or the earlier address of this kind from its
 * installation, which keeps its id and loses its pause. A new address is verified as given, independent of the old one.
 * Returns undefined if the person has `maxSubscriptions` already.
 */
export async function saveSubscription(
  db: Whole,
  userId: string,
  given: NewSubscription,
): Promise<{ id: string; added: boolean; noticed: boolean } | undefined> {
  return db.sql.transaction(async (tx) => {
    // One change at a time per person, so that the bound holds.
    await tx.sql.query`SELECT pg_advisory_xact_lock(hashtextextended(${`subscriptions:${userId}`}, 0))::text AS locked`;
    const levels = JSON.stringify(given.levels);
    const rows = await tx.sql.query<{ id: string; login: string | null; same: boolean; installed: boolean }>`
      SELECT id, login, address_hash = ANY(${[...given.addressHashes]}::text[]) AS same,
        COALESCE(installation = ${given.installation ?? null} AND kind = ${given.kind}, false) AS installed
      FROM subscriptions WHERE user_id = ${userId}`;
    const existing = rows.find(({ same }) => same) ?? rows.find(({ installed }) => installed);
    const replaces = rows.some(({ same, installed, login }) => installed && !same && login !== (given.login ?? null));
    const notice = given.notice ?? (replaces ? removalNotice : undefined);
    // The address itself is as old as its notice, and does not get it.
    const noticed = notice !== undefined && (existing !== undefined || rows.length < maxSubscriptions);
    if (noticed) await addAccountNotice(tx, userId, notice);
    for (const { id } of rows.filter(({ id, installed }) => installed && id !== existing?.id))
      await remove(tx, userId, id);
    if (existing) {
      await tx.sql.execute`
        UPDATE subscriptions SET address_hash = ${given.addressHashes[0]!}, sealed = ${given.sealed}, label = ${given.label},
          address = ${given.address}, levels = ${levels}::jsonb, installation = ${given.installation ?? null}, group_name = ${given.group},
          delay_seconds = ${given.delaySeconds}, detail = ${given.detail}, actions = ${given.actions},
          login = ${given.login ?? null}, client = ${given.client ?? null}, chain = ${given.chain ?? null}, typed_in = ${given.typedIn ?? null},
          paused = false, reason = NULL, failing_since = NULL,
          verified = (verified AND address_hash = ANY(${[...given.addressHashes]}::text[])) OR ${given.verified}
        WHERE id = ${existing.id}`;
      return { id: existing.id, added: false, noticed };
    }
    if (rows.length >= maxSubscriptions) return undefined;
    const id = newUlid();
    await tx.sql.execute`
      INSERT INTO subscriptions (id, user_id, kind, address_hash, sealed, label, address, levels, installation, group_name, delay_seconds, detail, actions, login, client, chain, typed_in, verified)
      VALUES (${id}, ${userId}, ${given.kind}, ${given.addressHashes[0]!}, ${given.sealed}, ${given.label}, ${given.address},
        ${levels}::jsonb, ${given.installation ?? null}, ${given.group}, ${given.delaySeconds}, ${given.detail},
        ${given.actions}, ${given.login ?? null}, ${given.client ?? null}, ${given.chain ?? null}, ${given.typedIn ?? null}, ${given.verified})`;
    return { id, added: true, noticed };
  });
}

/** The number of addresses of all people, by kind and state. */
export async function countSubscriptions(
  db: Db,
): Promise<{ kind: SubscriptionKind; state: SubscriptionState; count: number }[]> {
  return db.sql.query<{ kind: SubscriptionKind; state: SubscriptionState; count: number }>`
    SELECT kind, CASE WHEN paused THEN 'paused' WHEN verified THEN 'active' ELSE 'unverified' END AS state, count(*)::int AS count
    FROM subscriptions GROUP BY 1, 2`;
}

/** The choices of the person for this address, and its secrets; undefined when it is new to them. */
export async function subscriptionWith(
  db: Db,
  userId: string,
  addressHashes: readonly string[],
): Promise<Pick<Row, 'detail' | 'actions' | 'sealed'> | undefined> {
  const [row] = await db.sql.query<Pick<Row, 'detail' | 'actions' | 'sealed'>>`
    SELECT detail, actions, sealed FROM subscriptions
    WHERE address_hash = ANY(${[...addressHashes]}::text[]) AND user_id = ${userId} LIMIT 1`;
  return row;
}

/** Subscriptions of other people with this address: one browser that changed hands. */
export async function subscriptionsOfOthers(
  db: Db,
  userId: string,
  addressHashes: readonly string[],
): Promise<{ id: string; userId: string; sealed: string }[]> {
  const rows = await db.sql.query<{ id: string; user_id: string; sealed: string }>`
    SELECT id, user_id, sealed FROM subscriptions
    WHERE address_hash = ANY(${[...addressHashes]}::text[]) AND user_id <> ${userId} LIMIT 10`;
  return rows.map(({ id, user_id: owner, sealed }) => ({ id, userId: owner, sealed }));
}

interface SubscriptionChange {
  label?: string | undefined;
  causes?: CauseLevels | undefined;
  group?: string | undefined;
  delaySeconds?: number | undefined;
  detail?: SubscriptionDetail | undefined;
  actions?: SubscriptionActions | undefined;
  state?: 'active' | 'paused' | undefined;
  sealed?: string | undefined;
  /** The notice for all addresses of the person. */
  notice?: string | undefined;
}

/** Changes the given fields. Lifting a pause does not verify an address. Returns whether the person has it. */
export function changeSubscription(
  db: Whole,
  userId: string,
  id: string,
  { notice, ...change }: SubscriptionChange,
): Promise<boolean> {
  return db.sql.transaction(async (tx) => {
    const isTheirs = await update(tx, userId, id, change);
    if (isTheirs && notice !== undefined) await addAccountNotice(tx, userId, notice);
    return isTheirs;
  });
}

async function update(
  tx: Db,
  userId: string,
  id: string,
  { label, causes, group, delaySeconds, detail, actions, state, sealed }: Omit<SubscriptionChange, 'notice'>,
): Promise<boolean> {
  const paused = state === undefined ? null : state === 'paused';
  const changed = await tx.sql.execute`
    UPDATE subscriptions SET
      label = COALESCE(${label ?? null}, label),
      levels = COALESCE(${causes === undefined ? null : JSON.stringify(causes)}::jsonb, levels),
      group_name = COALESCE(${group ?? null}, group_name),
      delay_seconds = COALESCE(${delaySeconds ?? null}::int, delay_seconds),
      detail = COALESCE(${detail ?? null}, detail),
      actions = COALESCE(${actions ?? null}, actions),
      sealed = COALESCE(${sealed ?? null}, sealed),
      paused = COALESCE(${paused}::boolean, paused),
      reason = CASE WHEN ${paused}::boolean THEN 'Paused by you.' WHEN ${paused}::boolean IS NULL THEN reason END,
      failing_since = CASE WHEN ${paused}::boolean THEN failing_since END
    WHERE user_id = ${userId} AND id = ${id}`;
  return changed > 0;
}

const removalNotice = 'An address to notify was removed.';

/** The sign-in and the program that remove an address. */
interface Remover {
  login: string | undefined;
  client: string | undefined;
}

/**
 * Removes an address. Its pending deliveries are superseded; the ledger stays. The other addresses of the person get a notice, unless `by` added
 * this address itself or is omitted. Returns undefined if the person does not have the address.
 */
export async function removeSubscription(
  db: Whole,
  userId: string,
  id: string,
  by?: Remover,
): Promise<{ noticed: boolean } | undefined> {
  return db.sql.transaction(async (tx) => {
    const removed = await remove(tx, userId, id);
    if (!removed) return undefined;
    const isOwn =
      removed.login === null ? removed.typed_in === (by?.client ?? null) : removed.login === (by?.login ?? null);
    const noticed = by !== undefined && !isOwn;
    if (noticed) await addAccountNotice(tx, userId, removalNotice);
    return { noticed };
  });
}

/** An address of a browser or an app has a sign-in; a typed address has a program. */
type Owner = { login: string | null; typed_in: string | null };

async function remove(tx: Db, userId: string, id: string): Promise<Owner | undefined> {
  const [removed] = await tx.sql.query<Owner>`
    DELETE FROM subscriptions WHERE user_id = ${userId} AND id = ${id} RETURNING login, typed_in`;
  if (removed) await supersedeDeliveries(tx, [id]);
  return removed;
}

interface ServerKey {
  publicKey: string;
  sealed: string;
}

/** The first key pair of a purpose; of two callers at the same time, the first one's. */
export async function keepServerKey(db: Db, purpose: string, made: ServerKey): Promise<ServerKey> {
  await db.sql.execute`
    INSERT INTO server_keys (purpose, public_key, sealed) VALUES (${purpose}, ${made.publicKey}, ${made.sealed})
    ON CONFLICT (purpose) DO NOTHING`;
  return (await readServerKeys(db, purpose))[0] ?? made;
}

const keptKeyDays = 90;

/** The current key pair of a purpose, then those before it, the newest first, for 90 days after their rotation. */
export async function readServerKeys(db: Db, purpose: string): Promise<ServerKey[]> {
  const rows = await db.sql.query<{ public_key: string; sealed: string }>`
    SELECT public_key, sealed FROM server_keys
    WHERE purpose = ${purpose}
      OR (purpose LIKE ${`${purpose}:%`} AND rotated_at > now() - ${keptKeyDays}::int * interval '1 day')
    ORDER BY rotated_at DESC NULLS FIRST`;
  return rows.map(({ public_key: publicKey, sealed }) => ({ publicKey, sealed }));
}

/**
 * Makes `made` the current key pair of a purpose. The previous pair stays for its recipients; pairs older than 90 days
 * are deleted.
 */
export async function rotateServerKey(db: Whole, purpose: string, made: ServerKey): Promise<void> {
  await db.sql.transaction(async (tx) => {
    await tx.sql.execute`
      DELETE FROM server_keys WHERE purpose LIKE ${`${purpose}:%`} AND rotated_at <= now() - ${keptKeyDays}::int * interval '1 day'`;
    await tx.sql.execute`
      UPDATE server_keys SET purpose = purpose || ':' || public_key, rotated_at = now() WHERE purpose = ${purpose}`;
    await tx.sql.execute`
      INSERT INTO server_keys (purpose, public_key, sealed) VALUES (${purpose}, ${made.publicKey}, ${made.sealed})`;
  });
}
