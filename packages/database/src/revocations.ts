/** Who was thrown out lately: for instances that start while tokens from before still live. */
import { ulid } from 'ulid';
import type { Db } from './transaction.ts';

/** A person (user id), or one sign-in (`sid`). */
export interface RecordedRevocation {
  subject: string | undefined;
  login: string | undefined;
  revokedAt: Date;
}

export async function recordRevocation(db: Db, revoked: { subject?: string; login?: string }): Promise<void> {
  await db.revocation.create({
    data: { id: ulid(), subject: revoked.subject ?? null, login: revoked.login ?? null },
  });
}

/** What was revoked within the last `ms`, oldest first. */
export async function recentRevocations(db: Db, ms: number): Promise<RecordedRevocation[]> {
  const rows = await db.revocation.findMany({
    where: { revokedAt: { gt: new Date(Date.now() - ms) } },
    orderBy: { revokedAt: 'asc' },
    take: 100_000,
  });
  return rows.map((row) => ({
    subject: row.subject ?? undefined,
    login: row.login ?? undefined,
    revokedAt: row.revokedAt,
  }));
}
