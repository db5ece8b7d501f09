/** Who was thrown out lately: for instances that start while tokens from before still live. */
import type { WithModels } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** A person (user id), perhaps with one program only, or one sign-in (`sid`). */
export interface RecordedRevocation {
  subject: string | undefined;
  client: string | undefined;
  login: string | undefined;
  revokedAt: Date;
}

/** Recorded before anything is forgotten: whoever writes a token at that very moment finds it afterwards. */
export async function recordRevocations(
  db: WithModels,
  revoked: readonly { subject?: string; client?: string; login?: string }[],
): Promise<void> {
  await db.models.revocation.createMany({ data: revoked.map((one) => ({ id: newUlid(), ...one })) });
}

/** What was revoked within the last `ms`, oldest first. */
export async function recentRevocations(db: WithModels, ms: number): Promise<RecordedRevocation[]> {
  const rows = await db.models.revocation.findMany({
    where: { revokedAt: { gt: new Date(Date.now() - ms) } },
    orderBy: { revokedAt: 'asc' },
    take: 100_000,
  });
  return rows.map((row) => ({
    subject: row.subject ?? undefined,
    client: row.client ?? undefined,
    login: row.login ?? undefined,
    revokedAt: row.revokedAt,
  }));
}
