import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { itWith } from '@relay/testing/needs';
import { type Database, openDatabase } from '../src/open.ts';
import { sql } from '../src/sql.ts';
import { isUnavailable } from '../src/unavailable.ts';
import { device, onPostgres } from './databases.ts';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );

onPostgres('R1: a database that says "not now"', (postgres) => {
  const ends: (() => unknown)[] = [];
  let url: string;
  let database: Database;
  /** One connection that the tests rule with; nothing of it is under test. */
  let ruler: Database;

  beforeEach(async () => {
    url = await postgres().createDatabase();
    database = await openDatabase({ url });
    ruler = await openDatabase({ url: await postgres().createDatabase(), poolSize: 1 });
    const first = database;
    ends.push(
      () => ruler.close(),
      () => first.close(),
    );
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  const name = () => new URL(url).pathname.slice(1);
  const rule = (statement: string) => ruler.sql.execute(sql.raw(statement));
  const cutAll = () =>
    rule(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name()}' AND pid <> pg_backend_pid()`,
    );
  /** A change by every way there is. */
  const writes = (database: Database) => [
    () => database.models.device.create({ data: device(`model-${Math.random()}`) }),
    () => database.sql.execute`UPDATE devices SET name = 'x'`,
    () => database.sql.query`UPDATE devices SET name = 'x' RETURNING id`,
    () => database.models.$transaction((tx) => tx.device.create({ data: device(`transaction-${Math.random()}`) })),
    () => database.models.$transaction([database.models.device.updateMany({ data: { name: 'x' } })]),
    () => database.sql.transaction((tx) => tx.sql.execute`UPDATE devices SET name = 'x'`),
  ];
  const expectNotNow = async () => {
    for (const write of writes(database)) {
      const error = await failure(write());
      expect({ error, notNow: isUnavailable(error) }).toEqual({ error, notNow: true });
    }
    expect(await database.health()).toMatchObject({ ok: false });
  };
  /** The first statements can still hit cut connections. */
  const expectHealed = async () => {
    while (!(await database.health()).ok) await new Promise((resolve) => setImmediate(resolve));
    for (const write of writes(database)) {
      let error = await failure(write());
      while (isUnavailable(error)) error = await failure(write());
      expect(error).not.toBeInstanceOf(Error);
    }
  };

  it('reports itself unavailable while it is read-only, as a standby after a failover, and is not ready during that time', async () => {
    await rule(`ALTER DATABASE "${name()}" SET default_transaction_read_only = on`);
    await cutAll();
    while (isUnavailable(await failure(database.models.device.count())));
    await expectNotNow();
    await rule(`ALTER DATABASE "${name()}" RESET default_transaction_read_only`);
    await cutAll();
    await expectHealed();
  });

  it('is not now while its login is refused', async () => {
    await rule(`CREATE ROLE guest LOGIN SUPERUSER PASSWORD 'first'`);
    ends.push(() => rule('DROP ROLE guest'));
    const guest = new URL(url);
    guest.username = 'guest';
    const asGuest = await openDatabase({ url: guest.href });
    ends.push(() => asGuest.close());
    database = asGuest;
    await rule('ALTER ROLE guest NOLOGIN');
    await cutAll();
    await expectNotNow();
    await rule('ALTER ROLE guest LOGIN');
    await expectHealed();
  });

  it('is not now while it does not exist', async () => {
    await rule(`ALTER DATABASE "${name()}" ALLOW_CONNECTIONS false`);
    await cutAll();
    await rule(`ALTER DATABASE "${name()}" RENAME TO elsewhere`);
    await expectNotNow();
    await rule(`ALTER DATABASE elsewhere RENAME TO "${name()}"`);
    await rule(`ALTER DATABASE "${name()}" ALLOW_CONNECTIONS true`);
    await expectHealed();
  });

  it('reports itself unavailable if the peer is not PostgreSQL, or lacks TLS', async () => {
    const sockets: Socket[] = [];
    let garbled = false;
    const server = createServer((near) => {
      sockets.push(near);
      near.on('error', () => {});
      if (garbled) return void near.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      const far = connect(Number(new URL(url).port), '127.0.0.1');
      sockets.push(far);
      far.on('error', () => {});
      near.pipe(far).pipe(near);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const through = new URL(url);
    through.port = String((server.address() as AddressInfo).port);
    const garbledOne = await openDatabase({ url: through.href });
    ends.push(() => garbledOne.close());
    database = garbledOne;
    garbled = true;
    for (const socket of sockets) socket.destroy();
    await expectNotNow();
    garbled = false;
    await expectHealed();
  });

  itWith('root', 'is not now when its disk is full, and not ready until it can store again', async () => {
    const [row] = await ruler.sql.query<{ data_directory: string }>`SHOW data_directory`;
    const cluster = row!.data_directory;
    const { uid, gid } = statSync(cluster);
    const disk = mkdtempSync(path.join(os.tmpdir(), 'relay-small-disk-'));
    ends.push(() => rmSync(disk, { recursive: true }));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=32m,mode=700,uid=${uid},gid=${gid}`, 'tmpfs', disk]);
    expect(mounted.status).toBe(0);
    ends.push(() => spawnSync('umount', [disk]));
    await rule(`CREATE TABLESPACE small LOCATION '${disk}'`);
    ends.push(() => rule('DROP TABLESPACE small'));
    await database.close();
    await rule(`ALTER DATABASE "${name()}" SET TABLESPACE small`);
    ends.push(() => rule(`DROP DATABASE "${name()}" WITH (FORCE)`));
    const moved = await openDatabase({ url });
    ends.push(() => moved.close());
    database = moved;
    await database.sql.execute`CREATE TABLE filler (text text)`;
    const fill = () => database.sql.execute`INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 1000)`;
    let error = await failure(fill());
    while (error === 'it did not fail') error = await failure(fill());
    expect(String(error)).toContain('No space left on device');
    expect(isUnavailable(error)).toBe(true);
    expect(await database.health()).toMatchObject({ ok: false });
    spawnSync('mount', ['-o', 'remount,size=64m', disk]);
    await expectHealed();
  });

  it('is not now with every code that means it', async () => {
    const define = (code: string) =>
      database.sql.execute(
        sql.raw(
          `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`,
        ),
      );
    await define('XX000');
    await database.sql.execute`
      CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON devices FOR EACH STATEMENT EXECUTE FUNCTION refuse()`;
    const others: string[] = [];
    for (const code of ['53100', '53200', '55P03', '57014', '58030', 'XX000', 'XX001', '40001', '40P01']) {
      await define(code);
      for (const [way, write] of writes(database).entries()) {
        const error = await failure(write());
        if (!isUnavailable(error)) others.push(`${code}, write ${way}: ${String(error)}`);
      }
    }
    expect(others).toEqual([]);
  });
});
