/** Recent revocations, for instances that start while older tokens are still valid. */
import type { WithModels } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** A person (user id), perhaps with one program only, or one sign-in (`sid`). */
interface RecordedRevocation {
  subject: string | undefined;
  client: string | undefined;
  login: string | undefined;
  revokedAt: Date;
}

/** Records revocations. Call before tokens are deleted: a writer that saves a token at that very moment finds the record afterwards. */
export async function recordRevocations(
  db: WithModels,
  revoked: readonly { subject?: string; client?: string; login?: string }[],
): Promise<void> {
  await db.models.revocation.createMany({ data: revoked.map((one) => ({ id: newUlid(), ...one })) });
}

/** The revocations of the last `ms`, oldest first. */
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
