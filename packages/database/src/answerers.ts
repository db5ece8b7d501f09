/** Addresses that may answer in a notification, what ends them, and the keys of their tokens (rules, 14.41). */
import { supersedeDeliveries } from './held-deliveries.ts';
import type { Db } from './transaction.ts';

/**
 * Removes the addresses that were added with a sign-in, with a program of the person, or, when neither is named, with any of either, and
 * settles their pending deliveries. A program outlives its sign-in, so an address may name the program alone. Call after the revocation was
 * recorded: an address that is being added right now finds it (`isLoginOver`).
 */
export async function removeSubscriptionsOf(
  db: Db,
  of: { login: string } | { userId: string; client?: string },
): Promise<void> {
  const removed =
    'login' in of
      ? await db.sql.query<{ id: string }>`DELETE FROM subscriptions WHERE login = ${of.login} RETURNING id`
      : await db.sql.query<{ id: string }>`
          DELETE FROM subscriptions WHERE user_id = ${of.userId}
            AND (client = ${of.client ?? null} OR (${of.client === undefined} AND (login IS NOT NULL OR client IS NOT NULL))) RETURNING id`;
  await supersedeDeliveries(
    db,
    removed.map(({ id }) => id),
  );
}

/** Whether this sign-in was revoked, while an access token of it may be accepted somewhere. */
export async function isLoginOver(db: Db, login: string): Promise<boolean> {
  const [row] = await db.sql.query<{ over: boolean }>`
    SELECT EXISTS (SELECT 1 FROM revocations WHERE login = ${login}) AS over`;
  return row?.over === true;
}

/** The name of an address that may answer: added with this sign-in, by this person, and still there. */
export async function findAnswerer(
  db: Db,
  { id, userId, login }: { id: string; userId: string; login: string | undefined },
): Promise<string | undefined> {
  const [row] = await db.sql.query<{ label: string }>`
    SELECT label FROM subscriptions WHERE id = ${id} AND user_id = ${userId} AND login IS NOT DISTINCT FROM ${login ?? null}`;
  return row?.label;
}

export interface AnswerKey {
  publicKey: string;
  /** The private half. */
  sealed: string;
}

/** The key pair of this name; where there is none yet, what `make` returns. Of two callers at the same time, the first one's. */
export async function keepAnswerKey(db: Db, name: string, make: () => AnswerKey): Promise<AnswerKey> {
  const read = async () => {
    const [row] = await db.sql.query<{ public_key: string; sealed: string }>`
      SELECT public_key, sealed FROM server_keys WHERE purpose = ${name}`;
    return row && { publicKey: row.public_key, sealed: row.sealed };
  };
  const kept = await read();
  if (kept) return kept;
  const made = make();
  await db.sql.execute`
    INSERT INTO server_keys (purpose, public_key, sealed) VALUES (${name}, ${made.publicKey}, ${made.sealed})
    ON CONFLICT (purpose) DO NOTHING`;
  return (await read()) ?? made;
}

/** The public halves of these keys, as far as there are any. */
export async function readAnswerKeys(db: Db, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.sql.query<{ purpose: string; public_key: string }>`
    SELECT purpose, public_key FROM server_keys WHERE purpose = ANY(${[...names]}::text[])`;
  return new Map(rows.map((row) => [row.purpose, row.public_key]));
}
