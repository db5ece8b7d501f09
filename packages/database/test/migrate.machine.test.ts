import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Embedded, openEmbedded } from '../src/embedded.ts';
import { migrate } from '../src/migrate.ts';
import { openDatabase } from '../src/open.ts';
import { onPostgres, temporaryFolders } from './databases.ts';

const folder = temporaryFolders();

/** A folder of migrations: name and script. */
function migrations(scripts: Record<string, string>, migrationsDir = folder()): string {
  for (const [name, sql] of Object.entries(scripts)) {
    mkdirSync(path.join(migrationsDir, name), { recursive: true });
    writeFileSync(path.join(migrationsDir, name, 'migration.sql'), sql);
  }
  writeFileSync(path.join(migrationsDir, 'migration_lock.toml'), 'provider = "postgresql"\n');
  return migrationsDir;
}

const one = { '1_first': 'CREATE TABLE a (id int); INSERT INTO a VALUES (1);' };
const two = {
  ...one,
  '2_second': `CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END; $$; CREATE TABLE b (id int);`,
};
const broken = { ...two, '3_broken': 'CREATE TABLE c (id int); SELECT 1 / 0;' };

/** Each test empties the database first. */
function promises(pool: () => pg.Pool): void {
  const using = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool().connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  };
  const run = (migrationsDir: string, options: Partial<Parameters<typeof migrate>[1]> = {}) =>
    using(async (client) => (await migrate(client, { migrationsDir, ...options })).applied);
  const tables = async (): Promise<string[]> => {
    const sql = `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`;
    return (await pool().query<{ name: string }>(sql)).rows.map(({ name }) => name);
  };
  const empty = () => pool().query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');

  it('applies everything in order on an empty database, and nothing the second time', async () => {
    await empty();
    const dir = migrations(two);
    expect(await run(dir)).toEqual(['1_first', '2_second']);
    expect(await run(dir)).toEqual([]);
    expect(await tables()).toEqual(['_prisma_migrations', '_relay_migrations', 'a', 'b']);
  });

  it('applies newly added ones', async () => {
    await empty();
    const dir = migrations(one);
    await run(dir);
    expect(await run(migrations(two, dir))).toEqual(['2_second']);
  });

  it('applies once when three run at the same time', async () => {
    await empty();
    const dir = migrations(two);
    const applied = await Promise.all([run(dir), run(dir), run(dir)]);
    expect(applied.map((names) => names.length).sort()).toEqual([0, 0, 2]);
    expect((await pool().query('SELECT * FROM a')).rows).toEqual([{ id: 1 }]);
  });

  it('undoes a migration that fails as a whole, names it, and tries again when it is mended', async () => {
    await empty();
    const dir = migrations(broken);
    const refused = {
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('3_broken failed and was rolled back: division'),
    };
    await expect(run(dir)).rejects.toMatchObject(refused);
    await expect(run(dir)).rejects.toMatchObject(refused);
    expect(await tables()).toEqual(['_prisma_migrations', '_relay_migrations', 'a', 'b']);
    expect(await run(migrations({ '3_broken': 'CREATE TABLE c (id int)' }, dir))).toEqual(['3_broken']);
  });

  it('refuses a database that another tool left half migrated', async () => {
    await empty();
    const dir = migrations(two);
    await run(dir);
    await pool().query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '2_second'`);
    await expect(run(dir)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('unfinished migrations: 2_second'),
    });
  });

  it('refuses a database of a newer release, and changes nothing in it', async () => {
    await empty();
    await run(migrations(two));
    await expect(run(migrations({ ...one, '3_other': 'CREATE TABLE d (id int)' }))).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      message: expect.stringContaining('2_second'),
    });
    expect(await tables()).toEqual(['_prisma_migrations', '_relay_migrations', 'a', 'b']);
  });

  const after = (oldest: string) => ({
    ...one,
    '2_next': `-- compatible-with: ${oldest}\nALTER TABLE a ADD COLUMN b int;`,
  });

  it('lets an older release start after a migration that it runs with, and refuses the one before that', async () => {
    await empty();
    await run(migrations(after('1.4.0')), { release: '1.5.0' });
    const older = migrations(one);
    const start = (release: string) => using((client) => migrate(client, { migrationsDir: older, release }));
    for (const release of ['1.4.0', '1.4.1', '1.10.0', '2.0.0-rc.1', '1.4.0-dev.0123abcde', '1.4.0+build'])
      expect(await start(release)).toEqual({ applied: [], newer: ['2_next'] });
    for (const release of ['1.3.9', '0.9.0', '1.3.99-rc.1'])
      await expect(start(release)).rejects.toMatchObject({
        code: 'SCHEMA_NEWER',
        message: expect.stringMatching(/2_next.*or one from 1\.4\.0 on/),
      });
  });

  it('counts the strictest of several migrations', async () => {
    await empty();
    const third = { '3_last': '-- compatible-with: 1.2.0\nALTER TABLE a ADD COLUMN c int;' };
    await run(migrations({ ...after('1.4.0'), ...third }), { release: '1.5.0' });
    const older = migrations(one);
    await expect(run(older, { release: '1.3.0' })).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    expect(await run(older, { release: '1.4.0' })).toEqual([]);
  });

  const indexed = (sql: string) => ({ ...one, '2_index': `-- compatible-with: 1.0.0\n${sql}` });

  it('makes an index outside of a transaction, and again after an attempt that failed', async () => {
    await empty();
    const dir = migrations(indexed('CREATE INDEX CONCURRENTLY "a_by_id" ON a ((1 / (id - 1)));'));
    await expect(run(dir)).rejects.toMatchObject({ code: 'MIGRATION_FAILED' });
    const valid = async () =>
      (
        await pool().query<{ valid: boolean }>(
          `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'a_by_id'::regclass`,
        )
      ).rows;
    expect(await run(migrations(indexed('CREATE INDEX CONCURRENTLY "a_by_id" ON a (id);'), dir))).toEqual(['2_index']);
    expect(await valid()).toEqual([{ valid: true }]);
    expect(await run(dir)).toEqual([]);
  });

  const filled = (value: string) => ({
    '1_first': 'CREATE TABLE a (id int, b bigint); INSERT INTO a SELECT generate_series(1, 25);',
    '2_fill': `-- compatible-with: 1.0.0\n-- batched\nUPDATE a SET b = ${value} WHERE id IN (SELECT id FROM a WHERE b IS NULL ORDER BY id LIMIT 10);`,
  });
  const values = async () =>
    (await pool().query<{ b: string | null; rows: number }>('SELECT b, count(*)::int AS rows FROM a GROUP BY b ORDER BY min(id)')).rows; // prettier-ignore

  it('changes a few rows at a time, each time in its own transaction, until all are done', async () => {
    await empty();
    const dir = migrations(filled('pg_current_xact_id()::text::bigint'));
    expect(await run(dir)).toEqual(['1_first', '2_fill']);
    expect((await values()).map(({ rows }) => rows)).toEqual([10, 10, 5]);
    expect(await run(dir)).toEqual([]);
  });

  it('goes on with the rows that are left after an attempt that failed', async () => {
    await empty();
    const dir = migrations(filled('1 / (id - 15) + 7'));
    await expect(run(dir)).rejects.toMatchObject({ code: 'MIGRATION_FAILED', message: expect.stringMatching(/^Migration 2_fill .*division/) }); // prettier-ignore
    expect(await values()).toEqual([
      { b: '7', rows: 10 },
      { b: null, rows: 15 },
    ]);
    expect(await run(migrations(filled('8'), dir))).toEqual(['2_fill']);
    expect(await values()).toEqual([
      { b: '7', rows: 10 },
      { b: '8', rows: 15 },
    ]);
  });

  it('warns of a migration that was changed after it had been applied', async () => {
    await empty();
    const dir = migrations(two);
    await run(dir);
    const warnings: string[] = [];
    migrations({ '1_first': 'CREATE TABLE other (id int)' }, dir);
    expect(await run(dir, { onWarning: (message) => void warnings.push(message) })).toEqual([]);
    expect(warnings).toEqual(['Migration 1_first was changed after it had been applied']);
  });
}

describe('migrations, embedded', () => {
  let embedded: Embedded;
  beforeAll(async () => {
    embedded = await openEmbedded({ statementTimeoutMs: 30_000, vacuumIntervalMs: 3_600_000, onWarning: () => {} });
  });
  afterAll(() => embedded.close());
  promises(() => embedded.pool);
});

onPostgres('migrations', (postgres) => {
  let pool: pg.Pool;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: await postgres().createDatabase() });
    pool.on('error', () => {});
  });
  afterAll(() => pool.end());
  promises(() => pool);

  it('run with jit off', async () => {
    const url = await postgres().createDatabase();
    const migrationsDir = migrations({ '1_jit': "CREATE TABLE a AS SELECT current_setting('jit') AS jit" });
    const database = await openDatabase({ url, migrationsDir });
    const rows = await database.sql.query`SELECT jit FROM a`;
    await database.close();
    expect(rows).toEqual([{ jit: 'off' }]);
  });

  it('gives up when another process keeps migrating', async () => {
    await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const [holder, waiting] = [await pool.connect(), await pool.connect()];
    try {
      await holder.query('SELECT pg_advisory_lock(72707369)');
      const work = migrate(waiting, { migrationsDir: migrations(one), lockTimeoutMs: 50 });
      await expect(work).rejects.toMatchObject({ code: 'MIGRATION_BUSY' });
    } finally {
      holder.release(true);
      waiting.release(true);
    }
  });

  it('lets others pass while it waits for a table, and goes on when it can, or gives up', async () => {
    await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const dir = migrations({ '1_table': 'CREATE TABLE a (id int)' });
    const [holder, client] = [await pool.connect(), await pool.connect()];
    try {
      await migrate(client, { migrationsDir: dir });
      await holder.query('BEGIN; SELECT * FROM a');
      const wider = migrations({ '2_column': 'ALTER TABLE a ADD COLUMN b int' }, dir);
      await expect(migrate(client, { migrationsDir: wider, lockTimeoutMs: 1 })).rejects.toMatchObject({
        code: 'MIGRATION_BUSY',
      });
      const work = migrate(client, { migrationsDir: wider });
      const isWaiting = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE a %' AND wait_event_type = 'Lock'`;
      while ((await pool.query(isWaiting)).rowCount === 0);
      // Queues after the migration, which waits for the holder.
      await pool.query('SELECT * FROM a');
      await holder.query('COMMIT');
      expect((await work).applied).toEqual(['2_column']);
    } finally {
      holder.release(true);
      client.release(true);
    }
  });

  it('keeps the rows that it has changed when others hold the next ones', async () => {
    await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const dir = migrations({ '1_table': 'CREATE TABLE a (id int, b int); INSERT INTO a VALUES (1), (2)' });
    const fill = 'UPDATE a SET b = id WHERE id IN (SELECT id FROM a WHERE b IS NULL ORDER BY id LIMIT 1)';
    const [holder, client] = [await pool.connect(), await pool.connect()];
    try {
      await migrate(client, { migrationsDir: dir });
      await holder.query('BEGIN; SELECT * FROM a WHERE id = 2 FOR UPDATE');
      const wider = migrations({ '2_fill': `-- batched\n${fill}` }, dir);
      const work = migrate(client, { migrationsDir: wider, lockTimeoutMs: 1 });
      await expect(work).rejects.toMatchObject({ code: 'MIGRATION_BUSY' });
      expect((await pool.query('SELECT b FROM a ORDER BY id')).rows).toEqual([{ b: 1 }, { b: null }]);
      await holder.query('COMMIT');
      expect((await migrate(client, { migrationsDir: wider })).applied).toEqual(['2_fill']);
      expect((await pool.query('SELECT b FROM a ORDER BY id')).rows).toEqual([{ b: 1 }, { b: 2 }]);
    } finally {
      holder.release(true);
      client.release(true);
    }
  });

  it('leaves nothing when its connection is lost in the middle', async () => {
    await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const dir = migrations({ '1_long': 'CREATE TABLE a (id int); SELECT pg_sleep(600);' });
    const client = await pool.connect();
    client.on('error', () => {});
    const work = migrate(client, { migrationsDir: dir });
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND wait_event = 'PgSleep'`;
    while ((await pool.query(kill)).rowCount === 0);
    await expect(work).rejects.toMatchObject({ code: 'MIGRATION_FAILED' });
    client.release(true);
    const mended = migrations({ '1_long': 'CREATE TABLE a (id int)' }, dir);
    const again = await pool.connect();
    expect((await migrate(again, { migrationsDir: mended })).applied).toEqual(['1_long']);
    again.release();
  });
});

onPostgres('migrate-cli', (postgres) => {
  const cli = fileURLToPath(new URL('../dist/migrate-cli.js', import.meta.url));
  const run = (url: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli], {
      env: { ...process.env, DATABASE_URL: url },
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };

  it('applies missing ones, then nothing, and fails with the code of the error', async () => {
    const url = await postgres().createDatabase();
    expect(run(url)).toEqual({ status: 0, said: expect.stringMatching(/^applied \d+_/) });
    expect(run(url)).toEqual({ status: 0, said: 'nothing to apply\n' });
    expect(run(postgres().url('nowhere'))).toEqual({ status: 1, said: expect.stringMatching(/^DATABASE_REFUSED: /) });
    expect(run('')).toEqual({ status: 1, said: expect.stringContaining('DATABASE_URL is not set') });
  });
});

describe('opening a database', () => {
  it('of a newer release, compatible with this one, reports the unknown migrations', async () => {
    const dataDir = folder();
    const newer = { ...one, '2_next': '-- compatible-with: 1.4.0\nALTER TABLE a ADD COLUMN b int;' };
    const current = await openDatabase({ dataDir, migrationsDir: migrations(newer), release: '1.5.0' });
    expect(current.newerMigrations).toEqual([]);
    await current.close();
    const older = await openDatabase({ dataDir, migrationsDir: migrations(one), release: '1.4.0' });
    expect(older.newerMigrations).toEqual(['2_next']);
    await older.close();
  });

  it('refuses the folder of a newer release and leaves it unlocked', async () => {
    const dataDir = folder();
    await (await openDatabase({ dataDir, migrationsDir: migrations(two) })).close();
    const older = migrations(one);
    await expect(openDatabase({ dataDir, migrationsDir: older })).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    await expect(openDatabase({ dataDir, migrationsDir: older })).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
  });
});
