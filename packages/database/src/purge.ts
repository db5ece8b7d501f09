/** What need not be remembered any longer. Run rarely, by any instance. */
import type { Db } from './transaction.ts';

/** Deletes registrations an hour after they ended, idempotency keys after their time, notifications and ended tasks after 30 days. */
export async function purge(db: Db, idempotencyTtlSeconds: number): Promise<void> {
  await db.$executeRaw`DELETE FROM device_codes WHERE expires_at < now() - interval '1 hour'`;
  await db.$executeRaw`
    DELETE FROM idempotency_keys WHERE created_at < now() - ${idempotencyTtlSeconds}::double precision * interval '1 second'`;
  await db.$executeRaw`DELETE FROM notifications WHERE created_at < now() - interval '30 days'`;
  await db.$executeRaw`
    DELETE FROM tasks t WHERE t.finished_at < now() - interval '30 days'
      AND EXISTS (SELECT 1 FROM tasks n WHERE n.session_key = t.session_key AND n.seq > t.seq)`;
}
