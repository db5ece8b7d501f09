/** Deletes what need not be kept any longer. Run rarely, by one instance at a time; running twice does no harm. */
import { cutText, limits } from '@relay/protocol';
import { trimAudit } from './audit.ts';
import { eraseLeftovers } from './erase.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';

const tasksAtOnce = 5000;
const rowsAtOnce = 5000;
const resultsAtOnce = 100;

type Step = (db: Db, idempotencyTtlSeconds: number) => Promise<unknown>;

/**
 * A few thousand rows per statement, found by `which`, so that none takes long or holds many. Each condition has an index: those of states
 * that few rows are in are partial, and their words must be found here as they are in the migration.
 */
const inBatches =
  (table: string, which: Sql | ((idempotencyTtlSeconds: number) => Sql), change?: Sql): Step =>
  async (db, idempotencyTtlSeconds) => {
    const name = sql.raw(table);
    const condition = typeof which === 'function' ? which(idempotencyTtlSeconds) : which;
    const some = sql`WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${name} WHERE ${condition} LIMIT ${rowsAtOnce}))`;
    const statement = change ? sql`UPDATE ${name} SET ${change} ${some}` : sql`DELETE FROM ${name} ${some}`;
    while ((await db.sql.execute(statement)) === rowsAtOnce);
  };

/** Each table on its own. Rotated refresh tokens stay until they expire: a stolen one that comes back late is recognised by its row. */
const steps: readonly Step[] = [
  inBatches('device_codes', sql`expires_at < now() - interval '1 hour'`),
  inBatches('device_keys', sql`expires_at < now()`),
  inBatches('acp_tokens', sql`expires_at < now()`),
  inBatches('idempotency_keys', (ttl) => sql`created_at < now() - ${ttl}::double precision * interval '1 second'`),
  inBatches('session_turns', sql`expires_at < now()`),
  inBatches('prompts', sql`ended_at < now() - interval '30 days'`),
  inBatches(
    'prompts',
    sql`state = 'open' AND expires_at < now()`,
    sql`state = 'expired', payload = '{}'::jsonb, ended_at = now()`,
  ),
  inBatches('deliveries', sql`created_at < now() - interval '30 days'`),
  inBatches('inbox_items', sql`state = 'closed' AND closed_at < now() - interval '30 days'`),
  inBatches('notifications', sql`created_at < now() - interval '30 days'`),
  inBatches(
    'sessions',
    sql`first_words IS NOT NULL AND (NOT placeholder OR created_at < now() - interval '7 days')`,
    sql`first_words = NULL`,
  ),
  inBatches('audit_entries', sql`at < now() - interval '90 days'`),
  trimAudit,
  shortenResults,
  eraseLeftovers,
  inBatches('slash_commands', sql`reported_at < now() - interval '30 days'`),
  inBatches('slash_command_sets', sql`reported_at < now() - interval '30 days'`),
  inBatches('verifications', sql`expires_at < now() - interval '1 hour'`),
  // A browser whose sign-in has expired gets no more notifications.
  inBatches('subscriptions', sql`client = 'relay-web' AND login IN (SELECT id FROM logins WHERE expires_at < now())`),
  // So does an app whose own sign-in has.
  inBatches(
    'subscriptions',
    sql`EXISTS (SELECT 1 FROM oauth_refresh_tokens t WHERE t.authorization_code_id = chain)
      AND NOT EXISTS (SELECT 1 FROM oauth_refresh_tokens t WHERE t.authorization_code_id = chain AND t.expires_at >= now())`,
  ),
  inBatches('logins', sql`expires_at < now()`),
  // Keys of answers, long after their last token has expired.
  inBatches('server_keys', sql`purpose LIKE 'answers:%' AND created_at < now() - interval '90 days'`),
  inBatches('oauth_access_tokens', sql`expires_at < now()`),
  // A day longer than they count: addresses of an app whose sign-in has expired are found by them, above.
  inBatches('oauth_refresh_tokens', sql`expires_at < now() - interval '1 day'`),
  inBatches('invitations', sql`expires_at < now() - interval '30 days'`),
  inBatches('revocations', sql`revoked_at < now() - interval '1 hour'`),
  // Devices of deleted accounts, when their credential would have ended anyway.
  inBatches(
    'devices',
    sql`owner_id = '' AND removed_at < now() - ${limits.deviceTokenIdleSeconds}::double precision * interval '1 second'`,
  ),
  inBatches('signing_keys', sql`expires_at < now() - interval '30 days'`),
];

/**
 * Deletes registrations an hour after they ended, registration keys and idempotency keys after their time, entries of the audit after 90
 * days and all but the newest 10,000 of a person, notifications, deliveries, closed
 * items of inboxes, questions that ended and slash commands that no report repeated for 30 days; of the sign-in, what has expired. Discards
 * after 7 days the first words of a session that was never named. Cuts results an hour after their task ended. Erases what is left of deleted
 * sessions.
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

/**
 * Deletes ended tasks after 30 days, all but the newest of each session, which loses its result. In the order of their index, so that none is
 * read twice; those that stay are read each time, which is why it runs less often than `purge`.
 */
export async function purgeTasks(db: Db): Promise<void> {
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
      UPDATE tasks SET result = CASE WHEN result = '' THEN '' WHEN result IS NOT NULL THEN '\u2026' END, error_text = NULL
      WHERE id = ANY(${page.map(({ id }) => id)}::text[]) AND (result NOT IN ('', '\u2026') OR error_text IS NOT NULL)`;
    if (page.length < tasksAtOnce) return;
    after = page.at(-1)!;
  }
}

/** A result was shown when its task ended; an hour later what is left of it is a hint, as long as a last message. */
async function shortenResults(db: Db): Promise<void> {
  const long = sql.raw(
    `(instruction <> '' OR octet_length(result) > ${limits.lastMessageBytes} OR octet_length(error_text) > ${limits.lastMessageBytes})`,
  );
  for (;;) {
    const rows = await db.sql.query<{ id: string; result: string | null; error_text: string | null }>`
      SELECT id, result, error_text FROM tasks WHERE finished_at < now() - interval '1 hour' AND ${long} LIMIT ${resultsAtOnce}`;
    for (const { id, result, error_text: error } of rows)
      // The instruction is one of an end whose text was never found.
      await db.sql.execute`
        UPDATE tasks SET instruction = '', result = ${result === null ? null : cutText(result, limits.lastMessageBytes)},
          error_text = ${error === null ? null : cutText(error, limits.lastMessageBytes)} WHERE id = ${id}`;
    if (rows.length < resultsAtOnce) return;
  }
}
