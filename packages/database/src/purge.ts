/** Deletes what need not be kept any longer. Run rarely, by one instance at a time; running twice does no harm. */
import { cutText, limits } from '@relay/protocol';
import { purgeAudit } from './audit.ts';
import { eraseLeftovers } from './erase.ts';
import type { Db } from './transaction.ts';

const tasksAtOnce = 5000;
const resultsAtOnce = 100;

type Step = (db: Db, idempotencyTtlSeconds: number) => Promise<unknown>;

/** Each table on its own. Rotated refresh tokens stay until they expire: a stolen one that comes back late is recognised by its row. */
const steps: readonly Step[] = [
  (db) => db.sql.execute`DELETE FROM device_codes WHERE expires_at < now() - interval '1 hour'`,
  (db) => db.sql.execute`DELETE FROM device_keys WHERE expires_at < now()`,
  (db, idempotencyTtlSeconds) => db.sql.execute`
    DELETE FROM idempotency_keys WHERE created_at < now() - ${idempotencyTtlSeconds}::double precision * interval '1 second'`,
  (db) => db.sql.execute`DELETE FROM prompts WHERE ended_at < now() - interval '30 days'`,
  (db) => db.sql.execute`
    UPDATE prompts SET state = 'expired', payload = '{}'::jsonb, ended_at = now() WHERE state = 'open' AND expires_at < now()`,
  (db) => db.sql.execute`DELETE FROM deliveries WHERE created_at < now() - interval '30 days'`,
  (db) => db.sql.execute`DELETE FROM inbox_items WHERE state = 'closed' AND closed_at < now() - interval '30 days'`,
  (db) => db.sql.execute`DELETE FROM notifications WHERE created_at < now() - interval '30 days'`,
  (db) => db.sql.execute`
    UPDATE sessions SET first_words = NULL WHERE first_words IS NOT NULL AND (NOT placeholder OR created_at < now() - interval '7 days')`,
  purgeAudit,
  purgeTasks,
  shortenResults,
  eraseLeftovers,
  (db) => db.sql.execute`DELETE FROM slash_commands WHERE reported_at < now() - interval '30 days'`,
  (db) => db.sql.execute`DELETE FROM slash_command_sets WHERE reported_at < now() - interval '30 days'`,
  (db) => db.sql.execute`DELETE FROM verifications WHERE expires_at < now() - interval '1 hour'`,
  // A browser whose sign-in has expired is told nothing more.
  (db) => db.sql.execute`
    DELETE FROM subscriptions WHERE client = 'relay-web' AND login IN (SELECT id FROM logins WHERE expires_at < now())`,
  (db) => db.sql.execute`DELETE FROM logins WHERE expires_at < now()`,
  // Keys of answers, long after the last token of theirs has expired.
  (db) => db.sql.execute`
    DELETE FROM server_keys WHERE purpose LIKE 'answers:%' AND created_at < now() - interval '90 days'`,
  (db) => db.sql.execute`DELETE FROM oauth_access_tokens WHERE expires_at < now()`,
  (db) => db.sql.execute`DELETE FROM oauth_refresh_tokens WHERE expires_at < now()`,
  (db) => db.sql.execute`DELETE FROM invitations WHERE expires_at < now() - interval '30 days'`,
  (db) => db.sql.execute`DELETE FROM revocations WHERE revoked_at < now() - interval '1 hour'`,
  // Devices of deleted accounts, when their credential would have ended anyway.
  (db) => db.sql.execute`
    DELETE FROM devices WHERE owner_id = ''
      AND removed_at < now() - ${limits.deviceTokenIdleSeconds}::double precision * interval '1 second'`,
  (db) => db.sql.execute`DELETE FROM signing_keys WHERE expires_at < now() - interval '30 days'`,
];

/**
 * Deletes registrations an hour after they ended, registration keys and idempotency keys after their time, notifications, deliveries, closed items of inboxes, questions that ended, ended tasks and slash
 * commands that no report repeated for 30 days; of the sign-in, what has expired. Discards after 7 days the first words of a session
 * that was never named. Cuts results an hour after their task
 * ended, and discards the one of the newest task of a session after 30 days too. Erases what is left of deleted sessions.
 * @throws AggregateError after all were tried, with what failed; a table that fails keeps no other from being purged
 */
export async function purge(db: Db, idempotencyTtlSeconds: number): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    await step(db, idempotencyTtlSeconds).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${steps.length} tables could not be purged`);
}

/** All but the newest of each session, 30 days after they ended; in the order of their index, so that none is looked at twice. */
async function purgeTasks(db: Db): Promise<void> {
  let after = { id: '', finished_at: new Date(0) };
  for (;;) {
    const page = await db.sql.query<{ id: string; finished_at: Date }>`
      SELECT id, finished_at FROM tasks
      WHERE finished_at < now() - interval '30 days' AND (finished_at, id) > (${after.finished_at}::timestamptz, ${after.id})
      ORDER BY finished_at, id LIMIT ${tasksAtOnce}`;
    // The maximum is read from its index, row by row. EXISTS would be a join, which may be planned as a scan of the whole table.
    await db.sql.execute`
      DELETE FROM tasks t WHERE t.id = ANY(${page.map(({ id }) => id)}::text[])
        AND t.seq < (SELECT max(n.seq) FROM tasks n WHERE n.session_key = t.session_key)`;
    await db.sql.execute`
      UPDATE tasks SET result = CASE WHEN result = '' THEN '' WHEN result IS NOT NULL THEN '…' END, error_text = NULL
      WHERE id = ANY(${page.map(({ id }) => id)}::text[]) AND (result NOT IN ('', '…') OR error_text IS NOT NULL)`;
    if (page.length < tasksAtOnce) return;
    after = page.at(-1)!;
  }
}

/** A result was shown when its task ended; an hour later what is left of it is a hint, as long as a last message. */
async function shortenResults(db: Db): Promise<void> {
  // Of an end whose text was never found.
  await db.sql.execute`
    UPDATE tasks SET instruction = '' WHERE finished_at < now() - interval '1 hour' AND instruction <> ''`;
  for (;;) {
    const rows = await db.sql.query<{ id: string; result: string | null; error_text: string | null }>`
      SELECT id, result, error_text FROM tasks WHERE finished_at < now() - interval '1 hour'
        AND (octet_length(result) > ${limits.lastMessageBytes} OR octet_length(error_text) > ${limits.lastMessageBytes})
      LIMIT ${resultsAtOnce}`;
    for (const { id, result, error_text: error } of rows)
      await db.sql.execute`
        UPDATE tasks SET result = ${result === null ? null : cutText(result, limits.lastMessageBytes)},
          error_text = ${error === null ? null : cutText(error, limits.lastMessageBytes)} WHERE id = ${id}`;
    if (rows.length < resultsAtOnce) return;
  }
}
