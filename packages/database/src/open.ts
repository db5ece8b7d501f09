/**
 * Entry point of the database: opens PostgreSQL or the embedded one, migrates it to the schema of this code and
 * connects Prisma. Both kinds share driver and adapter, so that callers see no difference.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { BackupResult } from './backup.ts';
import { ConnectingClient, reasonOf, unreachable } from './connecting.ts';
import { DatabaseError } from './database-error.ts';
import { type Embedded, openEmbedded } from './embedded.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import type { Whole } from './db.ts';
import { transactions } from './sql-transaction.ts';
import { sendOver, statements, statementsNamedBy } from './statements.ts';
import { type MigrateOptions, type Migrated, migrate, ownMigrationsDir } from './migrate.ts';
import { type OnStatement, observedAdapter } from './observed-adapter.ts';
import { succeedsWithin } from './succeeds-within.ts';
import { statementNames } from './statement-names.ts';
import { type OnInboxRaised, raisedInboxes } from './raised-inboxes.ts';
import { planSettings } from './plan-settings.ts';
import { isUnavailable } from './unavailable.ts';
import { writability } from './writability.ts';

const healthTimeoutMs = 2_000;
const closeTimeoutMs = 5_000;
const connectTimeoutMs = 5_000;
const plansOff = planSettings.map((name) => `SET ${name} = off`).join('; ');
const transactionOptions = { maxWait: 10_000, timeout: 10_000 };

/**
 * `sql` sends hand-written statements: everything hot or set-based. `models` are Prisma's, for the rest. Inside a
 * transaction use only its own client: in the embedded database, another client waits for the commit and deadlocks.
 */
export interface Database extends Whole {
  readonly kind: 'embedded' | 'postgres';
  /** Migrations of a newer release, which this one runs with: it was started after them, by a rollback or in the middle of a rollout. */
  readonly newerMigrations: readonly string[];
  /** Checks whether the database is writable, at most 2 s. Never rejects; `probeMs` is the duration. */
  health(): Promise<{ ok: boolean; probeMs: number }>;
  /** Counts: all connections, the idle ones, and the callers that wait for one. */
  pool(): { total: number; idle: number; waiting: number };
  /**
   * Calls `listener` after each commit of this process that changed inboxes, with their people; the returned function
   * stops it. A hint:
   * the listener can read an older state or a newer one, and other processes report their own commits only.
   */
  watchInboxes(listener: OnInboxRaised): () => void;
  /**
   * Embedded in a folder: copies the folder to `target`, a new folder that can replace it. It contains everything
   * committed.
   * Statements wait during the copy and fail after 10 s. Throws DatabaseError BACKUP_REFUSED. Absent for PostgreSQL,
   * which has pg_dump.
   */
  backup?: (target: string) => Promise<BackupResult>;
  /**
   * Disconnects and releases the folder. Waits for running statements: embedded 2 s, PostgreSQL 5 s. Safe to call
   * twice.
   */
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  /** Address of a PostgreSQL (15 or newer), or of a pooler before an already migrated one. Absent: embedded. */
  url?: string | undefined;
  /** Folder of the embedded database, made with mode 700 on first use. Absent: in memory, for tests. */
  dataDir?: string | undefined;
  /** Embedded: files of a new database, from `createTemplate`. Faster than an empty one. Ignored when the folder has one. */
  template?: Uint8Array | Blob | undefined;
  /** Default: `prisma/migrations` of this repository. */
  migrationsDir?: string | undefined;
  /**
   * PostgreSQL: whether to prepare statements. Turn it off for a transaction-mode pooler without support for them
   * (PgBouncer before 1.21). Default true.
   */
  prepare?: boolean | undefined;
  /** This release, as `1.4.0`. Default: the one of this repository. */
  release?: string | undefined;
  /** PostgreSQL: most connections at a time. Default 10. */
  poolSize?: number | undefined;
  /** Folder: whether a commit is on the disk, safe from a power cut, before it is answered. Default true. */
  sync?: boolean | undefined;
  /** Embedded: between two rounds of VACUUM. Default one hour. */
  vacuumIntervalMs?: number | undefined;
  /** Longest statement. Default 30 s. PostgreSQL cancels it; the embedded engine counts as hung and is opened again. */
  statementTimeoutMs?: number | undefined;
  /** Longest transaction, from BEGIN to COMMIT. Default 10 s. */
  transactionTimeoutMs?: number | undefined;
  /** Called with warnings for an operator: a migration that was changed, an engine that broke, a VACUUM that failed. */
  onWarning?: (message: string) => void;
  /** Called for every statement, of `sql` and of `models`: its kind, its duration in seconds, and whether it succeeded. */
  onStatement?: OnStatement | undefined;
}

/**
 * Opens, locks, migrates, connects. Throws DatabaseError: DATA_DIR_IN_USE, DATA_DIR_UNUSABLE, DATABASE_UNREACHABLE,
 * DATABASE_REFUSED, SCHEMA_NEWER, MIGRATION_FAILED, MIGRATION_BUSY. Leaves nothing open when it throws.
 */
export async function openDatabase(options: OpenDatabaseOptions = {}): Promise<Database> {
  return options.url === undefined ? openEmbeddedDatabase(options) : openPostgres(options.url, options);
}

/**
 * The files of a new embedded database with all migrations applied, for use as `template`. About 5 MB; takes seconds.
 */
export async function createTemplate(options: Pick<OpenDatabaseOptions, 'migrationsDir'> = {}): Promise<Uint8Array> {
  const { embedded } = await migratedEmbedded(options);
  try {
    return await embedded.dump();
  } finally {
    await embedded.close();
  }
}

async function openEmbeddedDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { embedded, newer } = await migratedEmbedded(options);
  const database = connect('embedded', embedded.pool, newer, options, () => embedded.close());
  return options.dataDir === undefined ? database : { ...database, backup: (target) => embedded.backup(target) };
}

async function migratedEmbedded(options: OpenDatabaseOptions): Promise<{ embedded: Embedded; newer: string[] }> {
  const { template, statementTimeoutMs = 30_000, vacuumIntervalMs = 3_600_000, onWarning = () => {} } = options;
  const embedded = await openEmbedded({
    dataDir: options.dataDir,
    migrationsDir: options.migrationsDir ?? ownMigrationsDir(),
    template: template instanceof Blob ? new Uint8Array(await template.arrayBuffer()) : template,
    sync: options.sync,
    statementTimeoutMs,
    vacuumIntervalMs,
    onWarning,
  });
  try {
    let newer: string[] = [];
    await embedded.patiently(async () => {
      const client = await embedded.pool.connect();
      try {
        ({ newer } = await migrate(client, options));
      } finally {
        client.release(true); // no other caller may inherit its settings
      }
    });
    return { embedded, newer };
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

async function openPostgres(url: string, options: OpenDatabaseOptions): Promise<Database> {
  const { poolSize = 10, statementTimeoutMs = 30_000, onWarning = () => {} } = options;
  const { newer } = await migratePostgres(url, options);
  const pool = new pg.Pool({
    connectionString: url,
    Client: ConnectingClient,
    application_name: 'relay',
    max: poolSize,
    // Statements that do not wait for each other's answers are sent together.
    pipeline: true,
    connectionTimeoutMillis: connectTimeoutMs,
    // The pool keeps the connections of a burst: a new connection plans all statements again.
    idleTimeoutMillis: 600_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Not as startup parameters, which poolers refuse. A frozen instance must not hold the lock of a device forever.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it despite its types
    onConnect: async (client) => {
      const idleMs = 2 * transactionOptions.timeout;
      await client
        .query(
          `SET statement_timeout = ${statementTimeoutMs}; SET idle_in_transaction_session_timeout = ${idleMs}; ${plansOff}`,
        )
        .catch((error: unknown) => Promise.reject(unreachable(error)));
    },
    // for a network that swallows packets: nothing comes back, not even the cancellation
    query_timeout: statementTimeoutMs + 5_000,
  });
  pool.on('error', (error) => onWarning(`A PostgreSQL connection was lost: ${error.message}`));
  return connect('postgres', pool, newer, options, async () => void (await succeedsWithin(closeTimeoutMs, pool.end())));
}

/** Migrates over a connection of its own, without a statement timeout. Takes a URL like DATABASE_URL. */
export async function migratePostgres(
  url: string,
  options: Pick<MigrateOptions, 'migrationsDir' | 'release' | 'onWarning'> = {},
): Promise<Migrated> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'relay-migrate',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => {}); // the running query fails too
  try {
    await client.connect();
    await client.query('SET jit = off');
    return await migrate(client, options);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const where = `PostgreSQL at ${client.host}:${client.port}, database ${client.database}`;
    const reason = reasonOf(error);
    // A wrong name or password is for people to correct, before anything has begun.
    if (isUnavailable(error) && !/^(?:28|3D)/.test((error as { code?: string }).code ?? ''))
      throw new DatabaseError('DATABASE_UNREACHABLE', `${where} does not answer: ${reason}`, error);
    throw new DatabaseError('DATABASE_REFUSED', `${where} refuses: ${reason}`, error);
  } finally {
    await client.end().catch(() => {});
  }
}

function connect(
  kind: Database['kind'],
  pool: pg.Pool,
  newerMigrations: readonly string[],
  options: Pick<OpenDatabaseOptions, 'onStatement' | 'onWarning' | 'prepare' | 'transactionTimeoutMs'>,
  closeBelow: () => Promise<void>,
): Database {
  const { onStatement, transactionTimeoutMs: timeoutMs = transactionOptions.timeout } = options;
  // The pool handles errors of idle connections only. An error during checkout or use would crash the process; the
  // current statement gets its error, or the next one does.
  pool.on('connect', (connection) => void connection.on('error', () => {}));
  const nameOf = options.prepare === false ? () => '' : statementNames();
  // A server keeps no plans for Prisma's statements: there are too many texts, and planning is cheap there.
  const adapter = new PrismaPg(pool, kind === 'embedded' ? { statementNameGenerator: nameOf } : {});
  const models = new PrismaClient({
    adapter: onStatement ? observedAdapter(adapter, onStatement) : adapter,
    transactionOptions: { ...transactionOptions, timeout: timeoutMs },
  });
  const statementOf = statementsNamedBy(nameOf);
  const writable = writability(pool, kind === 'postgres' ? options.onWarning : undefined);
  const noted = { onStatement, onError: writable.note };
  const raised = raisedInboxes();
  const sql = {
    ...statements(sendOver(pool, noted), statementOf),
    transaction: transactions(pool, statementOf, { ...noted, timeoutMs, raised }),
  };
  let probe: Promise<unknown> | undefined;
  /** The reason of the last failed probe: logged once. */
  let trouble: string | undefined;
  const say = (reason: string | undefined) => {
    if (reason !== undefined && reason !== trouble) options.onWarning?.(`The database is not ready: ${reason}`);
    trouble = reason;
  };
  let closing: Promise<void> | undefined;
  return {
    sql,
    models,
    kind,
    newerMigrations,
    watchInboxes: (listener) => raised.watch(listener),
    health: async () => {
      if (closing) return { ok: false, probeMs: 0 };
      const startedAt = performance.now();
      // One probe at a time: a database that hangs must not collect them.
      probe ??= writable
        .probe()
        .then(
          () => say(undefined),
          (error: unknown) => {
            if (!closing) say(reasonOf(error));
            throw error;
          },
        )
        .finally(() => (probe = undefined));
      const ok = await succeedsWithin(healthTimeoutMs, probe);
      return { ok, probeMs: performance.now() - startedAt };
    },
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => {
      closing ??= Promise.all([succeedsWithin(closeTimeoutMs, models.$disconnect()), closeBelow()]).then(() => {});
      return closing;
    },
  };
}
