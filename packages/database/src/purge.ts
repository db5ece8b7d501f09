/** Deletes expired data. Run rarely, by one instance at a time; a second run does no harm. */
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
 * A few thousand rows per statement, found by `which`, to keep each one short. Each condition has an index; indexes for
 * rare states are partial, and the condition must match the migration's literally.
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

/**
 * Each table on its own. Rotated refresh tokens stay until they expire: their row reveals a stolen token that comes
 * back late.
 */
const steps: readonly Step[] = [
  inBatches('device_codes', sql`expires_at < now() - interval '1 hour'`),
  inBatches('device_keys', sql`expires_at < now()`),
  inBatches('acp_tokens', sql`expires_at < now()`),
  inBatches('idempotency_keys', (ttl) => sql`created_at < now() - ${ttl}::double precision * interval '1 second'`),
  inBatches('session_turns', sql`expires_at < now()`),
  inBatches('schedule_runs', sql`created_at < now() - interval '90 days'`),
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
  // Devices of deleted accounts, once their credential would have expired anyway.
  inBatches(
    'devices',
    sql`owner_id = '' AND removed_at < now() - ${limits.deviceTokenIdleSeconds}::double precision * interval '1 second'`,
  ),
  inBatches('signing_keys', sql`expires_at < now() - interval '30 days'`),
];

/**
 * Deletes registrations an hour after they close; expired registration keys and idempotency keys; audit entries after
 * 90 days and all but the newest 10,000 of a person; after 30 days notifications, deliveries, closed inbox items,
 * closed questions and slash commands that no report repeated; and expired sign-in data. After 7 days discards the
 * first message of a session without a name. Shortens results an hour after their task finished. Erases leftovers of
 * deleted sessions.
 * @throws AggregateError with all failures, after trying every table; one failure does not stop the rest
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
 * Deletes finished tasks after 30 days, except the newest of each session, which loses its result. Follows the index,
 * so that each row is read once; the remaining rows are read in each run, which is why it runs less often than `purge`.
 */
export async function purgeTasks(db: Db): Promise<void> {
  let after = { id: '', finished_at: new Date(0) };
  for (;;) {
    const page = await db.sql.query<{ id: string; finished_at: Date }>`
      SELECT id, finished_at FROM tasks
      WHERE finished_at < now() - interval '30 days' AND (finished_at, id) > (${after.finished_at}::timestamptz, ${after.id})
      ORDER BY finished_at, id LIMIT ${tasksAtOnce}`;
    // PostgreSQL reads the maximum from its index, row by row. It could plan EXISTS, a join, as a scan of the whole
    // table. A steer is not the task that a session shows as its last.
    await db.sql.execute`
      DELETE FROM tasks t WHERE t.id = ANY(${page.map(({ id }) => id)}::text[])
        AND t.seq < (SELECT max(n.seq) FROM tasks n WHERE n.session_key = t.session_key AND (n.kind <> 'steer' OR n.state = 'unknown'))`;
    await db.sql.execute`
      UPDATE tasks SET result = CASE WHEN result = '' THEN '' WHEN result IS NOT NULL THEN '\u2026' END, error_text = NULL
      WHERE id = ANY(${page.map(({ id }) => id)}::text[]) AND (result NOT IN ('', '\u2026') OR error_text IS NOT NULL)`;
    if (page.length < tasksAtOnce) return;
    after = page.at(-1)!;
  }
}

/**
 * A result was shown when its task finished; an hour later the relay keeps only a preview, as long as a last message.
 */
async function shortenResults(db: Db): Promise<void> {
  const long = sql.raw(
    `(instruction <> '' OR octet_length(result) > ${limits.lastMessageBytes} OR octet_length(error_text) > ${limits.lastMessageBytes})`,
  );
  for (;;) {
    const rows = await db.sql.query<{ id: string; result: string | null; error_text: string | null }>`
      SELECT id, result, error_text FROM tasks WHERE finished_at < now() - interval '1 hour' AND ${long} LIMIT ${resultsAtOnce}`;
    for (const { id, result, error_text: error } of rows)
      // The instruction of a task whose final text was never found.
      await db.sql.execute`
        UPDATE tasks SET instruction = '', result = ${result === null ? null : cutText(result, limits.lastMessageBytes)},
          error_text = ${error === null ? null : cutText(error, limits.lastMessageBytes)} WHERE id = ${id}`;
    if (rows.length < resultsAtOnce) return;
  }
}
