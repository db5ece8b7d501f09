/** Answers to POSTs with an Idempotency-Key (rules, 6.6): kept per user and route for a day, only 2xx ones. */
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

interface Replay {
  bodyHash: string;
  status: number;
  response: unknown;
}

/** The answer given before under this key, if any and not older than `ttlSeconds`. */
export async function findReplay(
  db: Db,
  userId: string,
  route: string,
  key: string,
  ttlSeconds: number,
): Promise<Replay | undefined> {
  const rows = await db.sql.query<{ body_hash: string; status: number; response: unknown }>`
    SELECT body_hash, status, response FROM idempotency_keys
    WHERE user_id = ${userId} AND route = ${route} AND key = ${key} AND created_at > now() - ${ttlSeconds}::double precision * interval '1 second'`;
  const row = rows[0];
  return row && { bodyHash: row.body_hash, status: row.status, response: row.response };
}

/** Saves an answer, in the transaction of its request. False if another request took the key first: roll back. */
export async function keepReplay(
  db: Db,
  input: {
    userId: string;
    route: string;
    key: string;
    bodyHash: string;
    status: number;
    response: unknown;
    ttlSeconds: number;
  },
): Promise<boolean> {
  const count = await db.sql.execute(sql`
    INSERT INTO idempotency_keys AS k (user_id, route, key, body_hash, status, response)
    VALUES (${input.userId}, ${input.route}, ${input.key}, ${input.bodyHash}, ${input.status}, ${JSON.stringify(input.response)}::jsonb)
    ON CONFLICT (user_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
      response = excluded.response, created_at = now()
    WHERE k.created_at <= now() - ${input.ttlSeconds}::double precision * interval '1 second'`);
  return count > 0;
}
