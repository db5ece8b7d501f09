/** What need not be remembered any longer. Run rarely, by any instance. */
import type { Db } from './transaction.ts';

/**
 * Deletes registrations an hour after they ended, idempotency keys after their time, notifications, ended tasks and slash
 * commands that nobody reported again after 30 days; of the sign-in, what has expired.
 */
export async function purge(db: Db, idempotencyTtlSeconds: number): Promise<void> {
  await db.$executeRaw`DELETE FROM device_codes WHERE expires_at < now() - interval '1 hour'`;
  await db.$executeRaw`
    DELETE FROM idempotency_keys WHERE created_at < now() - ${idempotencyTtlSeconds}::double precision * interval '1 second'`;
  await db.$executeRaw`DELETE FROM notifications WHERE created_at < now() - interval '30 days'`;
  await db.$executeRaw`
    DELETE FROM tasks t WHERE t.finished_at < now() - interval '30 days'
      AND EXISTS (SELECT 1 FROM tasks n WHERE n.session_key = t.session_key AND n.seq > t.seq)`;
  await db.$executeRaw`DELETE FROM slash_commands WHERE reported_at < now() - interval '30 days'`;
  await purgeSignIn(db);
}

/** Rotated refresh tokens stay until they expire: a stolen one that comes back late is recognised by its row. */
async function purgeSignIn(db: Db): Promise<void> {
  await db.$executeRaw`DELETE FROM verifications WHERE expires_at < now() - interval '1 hour'`;
  await db.$executeRaw`DELETE FROM logins WHERE expires_at < now()`;
  await db.$executeRaw`DELETE FROM oauth_access_tokens WHERE expires_at < now()`;
  await db.$executeRaw`DELETE FROM oauth_refresh_tokens WHERE expires_at < now()`;
  await db.$executeRaw`DELETE FROM invitations WHERE expires_at < now() - interval '30 days'`;
  await db.$executeRaw`DELETE FROM revocations WHERE revoked_at < now() - interval '1 hour'`;
  await db.$executeRaw`DELETE FROM signing_keys WHERE expires_at < now() - interval '30 days'`;
}
