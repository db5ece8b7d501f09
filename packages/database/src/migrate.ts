/**
 * Applies `prisma/migrations/<name>/migration.sql` in name order, with the bookkeeping of `prisma migrate deploy`: the
 * table `_prisma_migrations` and the same advisory lock, so that both tools work on one database. The server needs
 * neither Prisma's CLI nor its engine.
 *
 * A migration and its row are one transaction: if it fails or is killed half-way, it leaves no trace and the next start
 * repeats it. An *online* migration is one CREATE INDEX CONCURRENTLY, which blocks no writer and must run outside a
 * transaction: each attempt first drops the remains of the previous one. A *batched* migration (`-- batched`) is one
 * UPDATE or DELETE of a few unchanged rows: it repeats, each time in its own transaction, until it finds no more. A
 * killed attempt leaves the rest to the next. (`prisma migrate deploy` would run it once.)
 *
 * A migration declares in a comment the oldest release that runs with it (`-- compatible-with: 1.4.0`). The database
 * records this, so that an instance of that release, which does not know the migration, still starts: `rollout undo` is
 * the way back (rules, 15.18).
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { DatabaseError } from './database-error.ts';
import type { Db } from './transaction.ts';
import { turnFunctions } from './turn-functions.ts';

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

/** The oldest release that runs with each migration: for releases that do not have its file. */
const floors = `CREATE TABLE IF NOT EXISTS _relay_migrations (
    migration_name  VARCHAR(255) PRIMARY KEY,
    compatible_with TEXT NOT NULL
)`;

export interface MigrateOptions {
  /** This release, as `1.4.0`. Default: the one of this repository. */
  release?: string | undefined;
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
  /** The oldest release that runs with it; undefined for a migration older than this declaration. */
  compatibleWith: string | undefined;
  /** The index that it makes, when it is an online migration. */
  index: string | undefined;
  batched: boolean;
}

export interface Migrated {
  /** Names, in order. */
  applied: string[];
  /** Migrations of a newer release that this one runs with. */
  newer: string[];
}

/** The migrations of this repository, wherever it is. */
export function ownMigrationsDir(): string {
  return fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
}

function ownRelease(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

/**
 * Migrates the database to the schema of this code. `client` is one session, connected directly (an advisory lock does
 * not survive a pooler in transaction mode), outside a transaction. Any number of processes can run this concurrently:
 * one applies, the rest wait and find nothing to do. An up-to-date database takes no lock.
 *
 * Throws DatabaseError SCHEMA_NEWER if the database has an unknown migration that this release does not run with,
 * MIGRATION_FAILED if a migration fails (earlier ones stay applied) or an earlier tool left one unfinished,
 * MIGRATION_BUSY if the lock, or a table in use, was not free in time.
 */
export async function migrate(client: pg.ClientBase, options: MigrateOptions = {}): Promise<Migrated> {
  const { migrationsDir = ownMigrationsDir(), lockTimeoutMs = 60_000, onWarning = () => {} } = options;
  const release = options.release ?? ownRelease();
  const migrations = readMigrations(migrationsDir);
  if (migrationsDir === ownMigrationsDir()) migrations.push(functions);
  const { pending: wanted, newer } = await compare(client, migrations, release, onWarning);
  if (wanted.length === 0) return { applied: [], newer };
  await takeLock(client, lockTimeoutMs);
  try {
    await client.query(`${bookkeeping}; ${floors}`);
    const { pending } = await compare(client, migrations, release, () => {}); // another process may have been faster
    for (const migration of pending)
      if (migration.index !== undefined) await applyOnline(client, migration, migration.index);
      else if (migration.batched) await applyBatched(client, migration, lockTimeoutMs);
      else await patiently(migration, lockTimeoutMs, () => apply(client, migration));
    return { applied: pending.map(({ name }) => name), newer };
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
      const sql = bytes.toString('utf8');
      return {
        name,
        sql,
        checksum: createHash('sha256').update(bytes).digest('hex'),
        compatibleWith: /^--\s*compatible-with:\s*(\d+\.\d+\.\d+)\s*$/m.exec(sql)?.[1],
        index: /^CREATE INDEX CONCURRENTLY "(\w+)"/m.exec(sql)?.[1],
        batched: /^--\s*batched\s*$/m.test(sql),
      };
    });
}

/** The functions of this code, as the last migration. Older releases run with them, because they call functions with other names. */
const functions: Migration = {
  ...turnFunctions,
  checksum: createHash('sha256').update(turnFunctions.sql).digest('hex'),
  compatibleWith: '1.0.0',
  index: undefined,
  batched: false,
};

/**
 * The pending migrations, and the migrations that only a newer release has. Throws if this release cannot run with
 * them.
 */
async function compare(
  client: pg.ClientBase,
  migrations: Migration[],
  release: string,
  onWarning: (message: string) => void,
): Promise<{ pending: Migration[]; newer: string[] }> {
  const [exists] = await rowsOf<{ found: boolean; floors: boolean }>(
    client,
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found, to_regclass('_relay_migrations') IS NOT NULL AS floors`,
  );
  if (!exists?.found) return { pending: migrations, newer: [] };
  const rows = await rowsOf<{ name: string; checksum: string; finished: boolean; floor: string | null }>(
    client,
    `SELECT p.migration_name AS name, p.checksum, p.finished_at IS NOT NULL AS finished,
       ${exists.floors ? '(SELECT r.compatible_with FROM _relay_migrations r WHERE r.migration_name = p.migration_name)' : 'NULL'} AS floor
     FROM _prisma_migrations p WHERE p.rolled_back_at IS NULL ORDER BY p.started_at`,
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
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  // Functions of other releases harm no one: each release calls its own.
  const unknown = rows.filter(({ name }) => !byName.has(name) && !name.startsWith('functions_'));
  const refusing = unknown.filter(({ floor }) => floor === null || isOlder(release, floor));
  if (refusing.length > 0) {
    const oldest = refusing
      .map(({ floor }) => floor)
      .reduce((a, b) => (a !== null && b !== null && isOlder(a, b) ? b : a));
    throw new DatabaseError(
      'SCHEMA_NEWER',
      `The database has migrations that this release (${release}) does not know and cannot run with: ${names(refusing)}. It was used by a ` +
        `newer release: start that one${oldest === null ? '' : `, or one from ${oldest} on`}, or restore a backup from before it.`,
    );
  }
  for (const { name, checksum } of rows) {
    const own = byName.get(name);
    if (own && own.checksum !== checksum) onWarning(`Migration ${name} was changed after it had been applied`);
  }
  const applied = new Set(rows.map(({ name }) => name));
  return { pending: migrations.filter(({ name }) => !applied.has(name)), newer: unknown.map(({ name }) => name) };
}

const rowsOf = async <Row extends pg.QueryResultRow>(client: pg.ClientBase, text: string): Promise<Row[]> =>
  (await client.query<Row>(text)).rows;

/** Compares two releases, such as `1.4.0`. Only the numbers count: a preview runs wherever its release does. */
function isOlder(release: string, than: string): boolean {
  const [own, other] = [release, than].map((text) => text.split(/[.+-]/, 3).map(Number)) as [number[], number[]];
  const place = own.findIndex((number, n) => number !== other[n]);
  return place >= 0 && own[place]! < other[place]!;
}

/** Polls: a request that waits in the database would hold up an online migration, which waits for all open transactions. */
async function takeLock(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [advisoryLock]);
    if (rows[0]?.taken) return;
    if (performance.now() > until) {
      const text = `Another process has been migrating this database for more than ${timeoutMs} ms`;
      throw new DatabaseError('MIGRATION_BUSY', text);
    }
    await new Promise((resolve) => setTimeout(resolve, lockAskMs * (0.5 + Math.random())));
  }
}

const lockAskMs = 100;

/**
 * A statement that waits for a table lock blocks all later statements on that table, readers included. So each attempt waits briefly,
 * gives up to let the others pass, and is retried, for `timeoutMs` in all.
 */
async function patiently<T>({ name }: Migration, timeoutMs: number, attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const { code } = (error as { cause?: { code?: string } }).cause ?? {};
      if (code === undefined || !standBack.has(code)) throw error;
      if (performance.now() > until) {
        const text = `Migration ${name} waited ${timeoutMs} ms for a table that others are using: end what holds it, and try again`;
        throw new DatabaseError('MIGRATION_BUSY', text, error);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, tableLockMs * (0.5 + Math.random())));
  }
}

/** How long a waiting migration can block other statements. */
const tableLockMs = 1000;
/** PostgreSQL: lock not available in time; deadlock victim. */
const standBack: ReadonlySet<string> = new Set(['55P03', '40P01']);

const begun = 'INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)';
const finished = 'UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1';

/** Notes that the migration was applied, in the transaction of the caller or in one of its own. */
async function note(client: pg.ClientBase, { name, checksum, compatibleWith }: Migration): Promise<void> {
  const id = randomUUID();
  await client.query(begun, [id, checksum, name]);
  if (compatibleWith !== undefined)
    await client.query(
      'INSERT INTO _relay_migrations VALUES ($1, $2) ON CONFLICT (migration_name) DO UPDATE SET compatible_with = $2',
      [name, compatibleWith],
    );
  await client.query(finished, [id]);
}

async function transaction<T>(client: pg.ClientBase, name: string, work: () => Promise<T>): Promise<T> {
  try {
    await client.query('BEGIN');
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw failed(name, 'failed and was rolled back', error);
  }
}

function failed(name: string, how: string, error: unknown): DatabaseError {
  const reason = error instanceof Error ? error.message : String(error);
  return new DatabaseError('MIGRATION_FAILED', `Migration ${name} ${how}: ${reason}`, error);
}

const apply = (client: pg.ClientBase, migration: Migration): Promise<void> =>
  transaction(client, migration.name, async () => {
    await client.query(`SET LOCAL lock_timeout = ${tableLockMs}`);
    await client.query(migration.sql); // without values: a whole script in one message
    await note(client, migration);
  });

/** Takes as long as the table is large, and as the longest transaction that runs. Killed in the middle, it is begun again by the next start. */
async function applyOnline(client: pg.ClientBase, migration: Migration, index: string): Promise<void> {
  try {
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
    await client.query(migration.sql);
  } catch (error) {
    throw failed(migration.name, 'failed and is tried again by the next start', error);
  }
  await transaction(client, migration.name, () => note(client, migration));
}

/** Holds up writers of a few rows at a time, and leaves half of the time to others. Rows that were changed before a failure stay so. */
async function applyBatched(client: pg.ClientBase, migration: Migration, timeoutMs: number): Promise<void> {
  const batch = () =>
    transaction(client, migration.name, async () => {
      await client.query(`SET LOCAL lock_timeout = ${tableLockMs}`);
      return (await client.query(migration.sql)).rowCount;
    });
  for (;;) {
    const begunAt = performance.now();
    if (!(await patiently(migration, timeoutMs, batch))) break;
    const tookMs = performance.now() - begunAt;
    await new Promise((resolve) => setTimeout(resolve, tookMs));
  }
  await transaction(client, migration.name, () => note(client, migration));
}

/**
 * Returns the id of the installation: the bookkeeping gave it to the first migration. It is unique per new database, never changes, and stays
 * in every dump, standby and restored state of the database.
 */
export async function readInstallationId(db: Db): Promise<string> {
  const [row] = await db.sql.query<{ id: string }>`
    SELECT id FROM _prisma_migrations ORDER BY migration_name COLLATE "C" LIMIT 1`;
  return row!.id;
}
