/** Addresses that can answer in a notification, their revocation, and the keys of their tokens (rules, 14.41). */
import { supersedeDeliveries } from './held-deliveries.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/**
 * Removes the addresses that were added with a sign-in, with one sign-in of a program (`chain`), with a program of the
 * person, or, if neither is given, with any of either, and settles their pending deliveries. A program outlives its
 * sign-in, so an address can name the program alone. `typed`: includes addresses that a person typed into the program.
 * Call after recording the revocation: a concurrent registration of an address finds it (`isSignInOver`).
 */
export async function removeSubscriptionsOf(
  db: Db,
  of: { login: string } | { userId: string; chain: string } | { userId: string; client?: string; typed?: boolean },
): Promise<void> {
  const which =
    'login' in of
      ? sql`login = ${of.login}`
      : 'chain' in of
        ? sql`user_id = ${of.userId} AND chain = ${of.chain}`
        : of.client === undefined
          ? sql`user_id = ${of.userId} AND (login IS NOT NULL OR client IS NOT NULL)`
          : sql`user_id = ${of.userId} AND (client = ${of.client} OR (${of.typed === true} AND typed_in = ${of.client}))`;
  const removed = await db.sql.query<{ id: string }>(sql`DELETE FROM subscriptions WHERE ${which} RETURNING id`);
  await supersedeDeliveries(
    db,
    removed.map(({ id }) => id),
  );
}

/**
 * Whether the sign-in, the chain or the program of an access token was revoked after the token's issue; the token might
 * still pass elsewhere.
 */
export async function isSignInOver(
  db: Db,
  token: { userId: string; issuedAt: number; sessionId?: string; chainId?: string; clientId?: string },
): Promise<boolean> {
  const logins = [token.sessionId, token.chainId].filter((one) => one !== undefined);
  const [row] = await db.sql.query<{ over: boolean }>`
    SELECT EXISTS (SELECT 1 FROM revocations WHERE login = ANY(${logins}::text[]) OR (subject = ${token.userId}
      AND (client IS NULL OR client = ${token.clientId ?? null}) AND revoked_at >= ${new Date(token.issuedAt)}::timestamptz)) AS over`;
  return row?.over === true;
}

/** The name of an address that can answer: added with this sign-in, by this person, and not removed. */
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

/** The key pair of this name, created by `make` if it is missing. Concurrent callers get the first one's pair. */
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
