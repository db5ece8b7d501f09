/**
 * Applies `prisma/migrations/<name>/migration.sql` in the order of their names, with the bookkeeping of `prisma migrate
 * deploy`: the table `_prisma_migrations` and the same advisory lock, so that both can be used on one database. Prisma's
 * CLI and its engine are not needed where the server runs.
 *
 * A migration and its row are one transaction: killed or failed in the middle, it never happened and is tried again at the
 * next start. (So a migration cannot contain what PostgreSQL refuses in a transaction, CREATE INDEX CONCURRENTLY for one.)
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { DatabaseError } from './database-error.ts';

/** The id that Prisma uses. */
const advisoryLock = 72707369;

const bookkeeping = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
)`;

export interface MigrateOptions {
  /** Default: the migrations of this repository. */
  migrationsDir?: string | undefined;
  /** How long to wait for another process that is migrating, and to retry on a table that others use. Default 60 s. */
  lockTimeoutMs?: number | undefined;
  /** Called when a migration was changed after it was applied. */
  onWarning?: (message: string) => void;
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** The migrations of this repository, wherever it is. */
export function ownMigrationsDir(): string {
  return fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
}

/**
 * Migrates the database to the schema of this code. `client` is one session, connected directly (an advisory lock does not
 * survive a pooler in transaction mode), outside a transaction. Any number of processes may run this at the same time: one
 * applies, the others wait and find nothing to do. When there is nothing to do no lock is taken.
 *
 * Returns the names of the applied migrations, in order. Throws DatabaseError SCHEMA_NEWER when the database knows a migration
 * that this code does not, MIGRATION_FAILED when one fails (the ones before it stay applied) or an earlier tool left one
 * unfinished, MIGRATION_BUSY when the lock, or a table that others use, was not available in time.
 */
export async function migrate(client: pg.ClientBase, options: MigrateOptions = {}): Promise<string[]> {
  const { migrationsDir = ownMigrationsDir(), lockTimeoutMs = 60_000, onWarning = () => {} } = options;
  const migrations = readMigrations(migrationsDir);
  if ((await findPending(client, migrations, onWarning)).length === 0) return [];
  await takeLock(client, lockTimeoutMs);
  try {
    await client.query(bookkeeping);
    const pending = await findPending(client, migrations, () => {}); // another process may have been faster
    for (const migration of pending) await applyPatiently(client, migration, lockTimeoutMs);
    return pending.map(({ name }) => name);
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [advisoryLock]).catch(() => {}); // the session ended: free
  }
}

function readMigrations(dir: string): Migration[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(dir, entry.name, 'migration.sql')))
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const bytes = readFileSync(path.join(dir, name, 'migration.sql'));
      return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') };
    });
}

/** The migrations that are not applied yet. Throws when the database cannot be migrated to this schema. */
async function findPending(
  client: pg.ClientBase,
  migrations: Migration[],
  onWarning: (message: string) => void,
): Promise<Migration[]> {
  const exists = await client.query<{ found: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`,
  );
  if (!exists.rows[0]?.found) return migrations;
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const names = (list: { name: string }[]) => list.map(({ name }) => name).join(', ');
  const unfinished = rows.filter(({ finished }) => !finished);
  if (unfinished.length > 0) {
    throw new DatabaseError(
      'MIGRATION_FAILED',
      `The database has unfinished migrations: ${names(unfinished)}. See what they left, then mark them with ` +
        '`npm run db -- migrate resolve`.',
    );
  }
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const unknown = rows.filter(({ name }) => !known.has(name));
  if (unknown.length > 0) {
    throw new DatabaseError(
      'SCHEMA_NEWER',
      `The database has migrations that this release does not know: ${names(unknown)}. It was used by a newer release: ` +
        'start that one, or restore a backup from before it.',
    );
  }
  for (const { name, checksum } of rows) {
    if (known.get(name)!.checksum !== checksum) onWarning(`Migration ${name} was changed after it had been applied`);
  }
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.filter(({ name }) => !applied.has(name));
}

async function takeLock(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  await client.query(`SET lock_timeout = ${Math.ceil(timeoutMs)}`);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLock]);
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error;
    const text = `Another process has been migrating this database for more than ${timeoutMs} ms`;
    throw new DatabaseError('MIGRATION_BUSY', text, error);
  } finally {
    await client.query('RESET lock_timeout').catch(() => {});
  }
}

/**
 * A statement that waits for a table lock blocks all later statements on that table, readers included. So each attempt waits briefly,
 * gives up to let the others pass, and is retried, for `timeoutMs` in all.
 */
async function applyPatiently(client: pg.ClientBase, migration: Migration, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      await apply(client, migration);
      return;
    } catch (error) {
      const { code } = (error as { cause?: { code?: string } }).cause ?? {};
      if (code === undefined || !standBack.has(code)) throw error;
      if (performance.now() > until) {
        const text = `Migration ${migration.name} waited ${timeoutMs} ms for a table that others are using: end what holds it, and try again`;
        throw new DatabaseError('MIGRATION_BUSY', text, error);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, tableLockMs * (0.5 + Math.random())));
  }
}

/** How long others may have to wait because a migration waits. */
const tableLockMs = 1000;
/** PostgreSQL: no lock in that time; a deadlock of which we were the victim. */
const standBack: ReadonlySet<string> = new Set(['55P03', '40P01']);

async function apply(client: pg.ClientBase, { name, sql, checksum }: Migration): Promise<void> {
  const row = [randomUUID(), checksum, name];
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = ${tableLockMs}`);
    await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', row);
    await client.query(sql); // without values: a whole script in one message
    await client.query('UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1', [
      row[0],
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseError('MIGRATION_FAILED', `Migration ${name} failed and was rolled back: ${reason}`, error);
  }
}
