/**
 * Databases for tests, quickly: all migrations are applied once and the result is copied. By default each is an embedded
 * one in memory; with TEST_DATABASE=postgres each is a new database on one real PostgreSQL, so that the same tests run on
 * both.
 */
import { createHash } from 'node:crypto';
import { constants, existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {
  type Database,
  type OpenDatabaseOptions,
  createTemplate,
  migratePostgres,
  openDatabase,
  ownMigrationsDir,
  turnFunctions,
} from '@relay/database';
import { type PostgresAddress, connectPostgres, dropDatabase, startPostgres } from './postgres.ts';

const templateDatabase = 'relay_template';
/** Set by `prepareTestDatabases` for the processes of the test run: PostgresAddress as JSON. */
const postgresVariable = 'RELAY_TEST_POSTGRES';

/** The choices of an application; the test run decides where the database is. */
type TestDatabaseOptions = Pick<OpenDatabaseOptions, 'poolSize' | 'statementTimeoutMs' | 'onWarning'>;

export function wantsPostgres(): boolean {
  const wanted = process.env.TEST_DATABASE ?? 'embedded';
  if (wanted === 'postgres') return true;
  if (wanted === 'embedded') return false;
  throw new Error(`TEST_DATABASE must be "embedded" or "postgres", not "${wanted}"`);
}

/** Does the common work of all tests once. Called before the first test of a run. */
export async function prepareTestDatabases(): Promise<void> {
  if (!wantsPostgres()) {
    await templateFolder();
    return;
  }
  const postgres = await startPostgres(); // ends with this process
  await migratePostgres(await postgres.createDatabase({ name: templateDatabase }));
  process.env[postgresVariable] = JSON.stringify(postgres.address);
}

/** A database that no other test uses now, with all migrations applied and no rows. `close()` gives it back or removes it. */
export async function openTestDatabase(options: TestDatabaseOptions = {}): Promise<Database> {
  const hasOptions = Object.keys(options).length > 0;
  if (!wantsPostgres()) return hasOptions ? openEmbedded(options) : borrowEmbedded();
  const url = await createTestDatabase();
  const database = await openDatabase({ ...options, url });
  return {
    ...database,
    close: async () => {
      await database.close();
      await dropDatabase(sharedPostgres(), url);
    },
  };
}

/** The address of a new migrated database on the PostgreSQL of this run. */
export async function createTestDatabase(): Promise<string> {
  return connectPostgres(sharedPostgres()).createDatabase({ template: templateDatabase });
}

const openEmbedded = async (options: TestDatabaseOptions = {}) =>
  openDatabase({ ...options, template: readFileSync(await templateFile()) });

/** A `Database` of this package or of the sources of `@relay/database`, whose classes are other ones. */
interface Lendable {
  readonly sql: {
    execute(statement: TemplateStringsArray): Promise<number>;
    query<Row>(statement: TemplateStringsArray): Promise<Row[]>;
  };
  watchInboxes(listener: never): () => void;
  close(): Promise<void>;
}

const mostIdle = 2;
/** The databases that tests of this process gave back: one list for each function that opens them. */
const idleLists: Lendable[][] = [];

export async function closeIdleDatabases(): Promise<void> {
  await Promise.all(idleLists.flatMap((idle) => idle.splice(0)).map((database) => database.close()));
}

/**
 * Returns a function that lends embedded databases; `open` opens a new one from the template. Closing a lent one gives it
 * back: opening one costs 2 CPU seconds, emptying one a tenth of a second.
 */
export function lendDatabases<Of extends Lendable>(open: () => Promise<Of>): () => Promise<Of> {
  const idle: Of[] = [];
  idleLists.push(idle);
  return async () => {
    let database = idle.pop();
    while (database && !(await empty(database))) {
      await database.close();
      database = idle.pop();
    }
    const lent = database ?? (await open());
    shape ??= await shapeOf(lent.sql);
    const watches = new Set<() => void>();
    let closing: Promise<void> | undefined;
    return {
      ...lent,
      watchInboxes: (listener: never) => {
        const stop = lent.watchInboxes(listener);
        watches.add(stop);
        return stop;
      },
      close: () => {
        closing ??= (async () => {
          for (const stop of watches) stop();
          if (idle.length < mostIdle) idle.push(lent);
          else await lent.close();
        })();
        return closing;
      },
    };
  };
}

const borrowEmbedded = lendDatabases(() => openEmbedded());

/**
 * Removes every row, setting, temporary table and statistic; the upkeep of an embedded database writes statistics after a minute. False if
 * the schema differs from a new database.
 */
async function empty({ sql }: Lendable): Promise<boolean> {
  try {
    await sql.execute`DO $$ DECLARE tables text; BEGIN
      SELECT string_agg(format('%I', relname), ', ') INTO tables FROM pg_class WHERE relnamespace = 'public'::regnamespace
        AND relkind = 'r' AND relname NOT LIKE '%migrations' AND (pg_relation_size(oid) > 0 OR reltuples >= 0);
      IF tables IS NOT NULL THEN EXECUTE 'TRUNCATE ' || tables || ' RESTART IDENTITY CASCADE'; END IF;
    END $$`;
    await sql.execute`DELETE FROM pg_statistic USING pg_class c WHERE c.oid = starelid AND relnamespace = 'public'::regnamespace`;
    await sql.execute`RESET ALL`;
    await sql.execute`DISCARD TEMP`;
    return (await shapeOf(sql)) === shape;
  } catch {
    return false;
  }
}

/** The shape of a new database. */
let shape: string | undefined;

/** Everything that TRUNCATE does not undo. */
async function shapeOf(sql: Lendable['sql']): Promise<string> {
  const [row] = await sql.query<{ shape: string }>`SELECT md5(concat(
    (SELECT string_agg(concat(relname, relkind, reloptions), ',' ORDER BY relname) FROM pg_class
      WHERE relnamespace = 'public'::regnamespace),
    (SELECT string_agg(concat(attrelid, attname, atttypid, attnotnull), ',' ORDER BY attrelid, attnum) FROM pg_attribute
      JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped),
    (SELECT string_agg(concat(proname, prosrc), ',' ORDER BY proname, oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
    (SELECT string_agg(concat(tgname, tgrelid, tgenabled), ',' ORDER BY tgname, tgrelid) FROM pg_trigger WHERE NOT tgisinternal),
    (SELECT string_agg(pg_get_constraintdef(oid), ',' ORDER BY oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace),
    (SELECT count(*) FROM pg_statistic JOIN pg_class c ON c.oid = starelid WHERE relnamespace = 'public'::regnamespace),
    (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples >= 0
      AND relname NOT LIKE '%migrations')
  )) AS shape`;
  return row!.shape;
}

/** The files of a migrated embedded database, built when this run is the first since the migrations changed. */
export async function templateFile(): Promise<string> {
  const file = path.join(os.tmpdir(), `relay-template-${process.getuid?.() ?? 0}-${fingerprint()}.tgz`);
  if (existsSync(file) && statSync(file).size > 0) return file;
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, await createTemplate(), { mode: 0o600 });
  renameSync(unfinished, file);
  return file;
}

/** Gives a relay process that is about to start there a migrated database of its own: making one takes it ten seconds of work. */
export async function seedDataFolder(dataDir: string): Promise<void> {
  await cp(await templateFolder(), dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

/** A data folder with a migrated database, which no process uses; built as `templateFile` is. */
async function templateFolder(): Promise<string> {
  const folder = path.join(os.tmpdir(), `relay-template-${process.getuid?.() ?? 0}-${fingerprint()}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  const database = await openDatabase({ dataDir: unfinished, template: readFileSync(await templateFile()) });
  await database.close();
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Everything that determines the content of the template. */
function fingerprint(): string {
  const hash = createHash('sha256');
  const dir = ownMigrationsDir();
  for (const name of readdirSync(dir).sort()) {
    const sql = path.join(dir, name, 'migration.sql');
    if (existsSync(sql)) hash.update(`${name}\0`).update(readFileSync(sql));
  }
  const engine = createRequire(import.meta.resolve('@relay/database')).resolve('@electric-sql/pglite');
  hash.update(readFileSync(path.join(path.dirname(engine), '..', 'package.json')));
  hash.update(turnFunctions.name);
  return hash.digest('hex').slice(0, 16);
}

function sharedPostgres(): PostgresAddress {
  const found = process.env[postgresVariable];
  if (!found) throw new Error('TEST_DATABASE=postgres works in a test run only: its start sets up the server');
  return JSON.parse(found) as PostgresAddress;
}
