/** Tokens of ACP clients (rules, 18.8), each for one device. Only their hash is kept; a revoked one is deleted. */
import { addAccessNotice } from './access-notices.ts';
import { type AcpScope, type AcpToken, acpTokenIdleSeconds } from '@relay/protocol';
import { sql } from './sql.ts';
import type { Db, Transactions } from './transaction.ts';
import { newUlid } from './ulids.ts';

interface Row {
  id: string;
  device_id: string;
  name: string;
  scopes: AcpScope[];
  created_at: Date;
  used_at: Date | null;
  expires_at: Date;
}
const columns = sql`id, device_id, name, scopes, created_at, used_at, expires_at`;
const unused = sql`now() + ${acpTokenIdleSeconds}::double precision * interval '1 second'`;
const toToken = (row: Row): AcpToken => ({
  id: row.id,
  deviceId: row.device_id,
  name: row.name,
  scopes: row.scopes,
  createdAt: row.created_at.toISOString(),
  ...(row.used_at ? { usedAt: row.used_at.toISOString() } : {}),
  expiresAt: row.expires_at.toISOString(),
});

/** The name of a token in its notice. */
export const acpTokenName = (name: string): string => name || 'ACP app';

/** Saves a token with its notice (rules, 8.13); undefined when the person has `max` that are valid. The caller has checked that the device is theirs. */
export async function createAcpToken(
  db: Transactions,
  token: {
    userId: string;
    deviceId: string;
    tokenHash: string;
    name: string;
    scopes: readonly AcpScope[];
    max: number;
  },
): Promise<AcpToken | undefined> {
  return db.sql.transaction(async (tx) => {
    // One at a time for each person, so that the count holds.
    await tx.sql.execute`SELECT pg_advisory_xact_lock(hashtextextended(${`acp_tokens ${token.userId}`}, 0))`;
    const [row] = await tx.sql.query<Row>`
      INSERT INTO acp_tokens (id, user_id, device_id, token_hash, name, scopes, expires_at)
      SELECT ${newUlid()}, ${token.userId}, ${token.deviceId}, ${token.tokenHash}, ${token.name}, ${[...token.scopes]}::text[], ${unused}
      WHERE ${token.max} > (SELECT count(*) FROM acp_tokens WHERE user_id = ${token.userId} AND expires_at > now())
      RETURNING ${columns}`;
    if (row) await addAccessNotice(tx, { userId: token.userId, name: acpTokenName(token.name) });
    return row && toToken(row);
  });
}

/** Tokens of a person that are valid, newest first. */
export async function listAcpTokens(db: Db, userId: string): Promise<AcpToken[]> {
  const rows = await db.sql.query<Row>`
    SELECT ${columns} FROM acp_tokens WHERE user_id = ${userId} AND expires_at > now() ORDER BY created_at DESC, id DESC`;
  return rows.map(toToken);
}

/** False when the person does not own such a token. */
export async function revokeAcpToken(db: Db, userId: string, id: string): Promise<boolean> {
  return (
    (await db.sql.execute`
      DELETE FROM acp_tokens WHERE id = ${id} AND user_id = ${userId} AND expires_at > now()`) > 0
  );
}

/** Revokes every token of a person. Returns their ids. */
export async function revokeAllAcpTokens(db: Db, userId: string): Promise<string[]> {
  const rows = await db.sql.query<{ id: string }>`DELETE FROM acp_tokens WHERE user_id = ${userId} RETURNING id`;
  return rows.map(({ id }) => id);
}

/** The token with this hash, and its person, and the use is noted. undefined: it is not valid, or its person is disabled. */
export async function useAcpToken(db: Db, tokenHash: string): Promise<(AcpToken & { userId: string }) | undefined> {
  const [row] = await db.sql.query<Row & { user_id: string }>`
    UPDATE acp_tokens SET used_at = now(), expires_at = ${unused}
    WHERE token_hash = ${tokenHash} AND expires_at > now()
      AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = user_id AND u.disabled_at IS NOT NULL)
    RETURNING ${columns}, user_id`;
  return row && { ...toToken(row), userId: row.user_id };
}

/** Records that clients are connected with these tokens. Returns the tokens that are still valid. */
export async function touchAcpTokens(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.sql.query<{ id: string }>`
    UPDATE acp_tokens SET used_at = now(), expires_at = ${unused}
    WHERE id = ANY(${[...ids]}::text[]) AND expires_at > now() RETURNING id`;
  return new Set(rows.map(({ id }) => id));
}
