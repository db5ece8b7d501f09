/** Invitation links: each creates one account, once. Only their hash is kept. */
import { oneAtATime } from './one-at-a-time.ts';
import type { Db, Transactions, WithModels } from './transaction.ts';
import { newUlid } from './ulids.ts';

type InvitationKind = 'setup' | 'invite';

/** Kept until it is used or, if `ttlSeconds` is given, until then. Undefined when its creator has `max` that can still be used. */
export async function createInvitation(
  db: Transactions,
  invitation: { kind: InvitationKind; tokenHash: string; createdBy: string; ttlSeconds?: number; max?: number },
): Promise<{ id: string; expiresAt: string | undefined } | undefined> {
  const { kind, tokenHash, createdBy, ttlSeconds = null, max = null } = invitation;
  return db.sql.transaction(async (tx) => {
    await oneAtATime(tx, 'invitations', createdBy);
    const [row] = await tx.sql.query<{ id: string; expires_at: Date | null }>`
      INSERT INTO invitations (id, kind, token_hash, created_by, expires_at)
      SELECT ${newUlid()}, ${kind}, ${tokenHash}, ${createdBy}, now() + ${ttlSeconds}::double precision * interval '1 second'
      WHERE ${max}::int IS NULL OR ${max}::int > (SELECT count(*) FROM invitations
        WHERE kind = ${kind} AND created_by = ${createdBy} AND used_at IS NULL AND expires_at > now())
      RETURNING id, expires_at`;
    return row && { id: row.id, expiresAt: row.expires_at?.toISOString() };
  });
}

/** Withdraws the unused links of this kind and creator. */
export async function withdrawInvitations(db: WithModels, kind: InvitationKind, createdBy: string): Promise<void> {
  await db.models.invitation.deleteMany({ where: { kind, createdBy, usedAt: null } });
}

/** Finds a link that is valid now; undefined if it was used, has expired, is unknown, or is a set-up link of a relay that has accounts. */
export async function findInvitation(
  db: Db,
  tokenHash: string,
): Promise<{ kind: InvitationKind; createdBy: string; expiresAt: string | undefined } | undefined> {
  const rows = await db.sql.query<{ kind: InvitationKind; created_by: string; expires_at: Date | null }>`
    SELECT kind, created_by, expires_at FROM invitations
    WHERE token_hash = ${tokenHash} AND used_at IS NULL AND (expires_at IS NULL OR expires_at > now())
      AND (kind <> 'setup' OR NOT EXISTS (SELECT 1 FROM users))`;
  const row = rows[0];
  return row && { kind: row.kind, createdBy: row.created_by, expiresAt: row.expires_at?.toISOString() };
}

/**
 * Uses a link; true for exactly one of any number of attempts at the same time. Using one link for the first account uses all
 * of them: instances that started together have printed several.
 */
export async function useInvitation(db: Db, tokenHash: string): Promise<boolean> {
  const used = await db.sql.query<{ token_hash: string }>`
    WITH presented AS (
      SELECT token_hash, kind FROM invitations
      WHERE token_hash = ${tokenHash} AND used_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        AND (kind <> 'setup' OR NOT EXISTS (SELECT 1 FROM users)))
    UPDATE invitations i SET used_at = now() FROM presented p
    WHERE i.used_at IS NULL AND (i.token_hash = p.token_hash OR (p.kind = 'setup' AND i.kind = 'setup'))
    RETURNING i.token_hash`;
  return used.some((row) => row.token_hash === tokenHash);
}

/** Makes a used link valid again: its account could not be created after all. */
export async function restoreInvitation(db: WithModels, tokenHash: string): Promise<void> {
  await db.models.invitation.updateMany({ where: { tokenHash }, data: { usedAt: null } });
}
