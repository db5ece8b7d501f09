import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PrismaClient } from '../src/generated/prisma/client.ts';
import type { Database } from '../src/open.ts';
import { sql } from '../src/sql.ts';
import { isUnavailable } from '../src/unavailable.ts';
import { device, onBoth } from './databases.ts';

onBoth('statements and models', (open, kind) => {
  let database: Database;
  /** Has one connection, and is really closed. */
  let other: Database;
  beforeAll(async () => {
    database = await open(kind === 'postgres' ? { poolSize: 10 } : undefined);
    other = await open({ poolSize: 1 });
  });
  afterAll(() => Promise.all([database.close(), other.close()]));

  const failure = async (work: Promise<unknown>): Promise<{ code?: string; message: string }> =>
    work.then(
      () => {
        throw new Error('it was expected to fail');
      },
      (error: { code?: string; message: string }) => error,
    );

  it('reports its kind of database', () => {
    expect(database.kind).toBe(kind);
  });

  it('has jit off on each connection, for statements, transactions and models', async () => {
    const setting = sql`SELECT current_setting('jit') AS jit`;
    const found = await Promise.all([
      database.sql.query(setting),
      database.sql.query(setting),
      database.sql.transaction((tx) => tx.sql.query(setting)),
      (database.models as PrismaClient).$queryRawUnsafe(setting.text),
    ]);
    expect(found).toEqual(Array(4).fill([{ jit: 'off' }]));
  });

  it('returns values of every type as they were written', async () => {
    const rows = await database.sql.query`
      SELECT 9007199254740993::bigint AS big, 1.50::numeric AS exact, ${{ a: [1, null, 'ü'] }}::jsonb AS json,
             ${['a', 'b"c', '']}::text[] AS list, ${Buffer.from([0, 255, 10])}::bytea AS bytes, ${true}::boolean AS yes,
             ${new Date('2026-01-02T03:04:05.678Z')}::timestamptz AS at, NULL::text AS nothing, ${'😀 \u0001'}::text AS text`;
    expect(rows).toEqual([
      expect.objectContaining({
        big: 9007199254740993n,
        exact: '1.50',
        json: { a: [1, null, 'ü'] },
        list: ['a', 'b"c', ''],
        bytes: new Uint8Array([0, 255, 10]),
        yes: true,
        at: new Date('2026-01-02T03:04:05.678Z'),
        nothing: null,
        text: '😀 \u0001',
      }),
    ]);
  });

  it('stores and finds a model, with its fences and its JSON', async () => {
    await database.models.device.create({ data: { ...device('model'), connectionFence: 2n ** 53n + 1n } });
    const found = await database.models.device.findUniqueOrThrow({ where: { id: 'model' } });
    expect(found).toMatchObject({ ...device('model'), connectionFence: 2n ** 53n + 1n, revokedAt: null });
    expect(found.createdAt).toBeInstanceOf(Date);
    const key = {
      userId: 'u',
      route: 'r',
      key: 'k',
      bodyHash: 'h',
      status: 201,
      response: { id: 'ü', list: [1, 'two'] },
    };
    await database.models.idempotencyKey.create({ data: key });
    expect(await database.models.idempotencyKey.findMany()).toEqual([expect.objectContaining(key)]);
  });

  it('answers a mistake with its own code, never as an outage', async () => {
    await database.models.device.create({ data: device('twice') });
    const mistakes = {
      P2002: () => database.models.device.create({ data: device('twice') }),
      P2003: () =>
        database.models.deviceConnection.create({ data: { id: 'c', deviceId: 'nobody', fence: 1n, instance: 'i' } }),
      P2025: () => database.models.device.update({ where: { id: 'nobody' }, data: { name: 'x' } }),
      42883: () => database.sql.query`SELECT no_such_function()`,
    };
    for (const [code, make] of Object.entries(mistakes)) {
      const error = await failure(make());
      expect(error.code).toBe(code);
      expect(isUnavailable(error)).toBe(false);
    }
  });

  it('loses no update of twenty transactions that read, then write, one row', async () => {
    await database.models.device.create({ data: device('counter') });
    const increment = () =>
      database.models.$transaction(async (tx) => {
        const rows = await tx.$queryRaw<{ fence: bigint }[]>`
          SELECT connection_fence AS fence FROM devices WHERE id = 'counter' FOR UPDATE`;
        await tx.device.update({ where: { id: 'counter' }, data: { connectionFence: rows[0]!.fence + 1n } });
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    expect(await database.models.device.findUnique({ where: { id: 'counter' } })).toMatchObject({
      connectionFence: 20n,
    });
  });

  it('leaves nothing of a transaction that fails', async () => {
    const error = await failure(
      database.models.$transaction(async (tx) => {
        await tx.device.create({ data: device('undone') });
        await tx.device.create({ data: device('undone') });
      }),
    );
    expect(error.code).toBe('P2002');
    expect(await database.models.device.findUnique({ where: { id: 'undone' } })).toBeNull();
  });

  it('undoes a transaction that exceeds its time, and goes on', async () => {
    const error = await failure(
      database.models.$transaction(
        async (tx) => {
          await tx.device.create({ data: device('late') });
          for (;;) await tx.$queryRaw`SELECT 1`;
        },
        { timeout: 200 },
      ),
    );
    expect(error.code).toBe('P2028');
    expect(isUnavailable(error)).toBe(true);
    expect(await database.models.device.findUnique({ where: { id: 'late' } })).toBeNull();
  });

  it('carries two megabytes in one value and five thousand rows in one statement', async () => {
    const text = 'ü'.repeat(1024 * 1024);
    const echoed = await database.sql.query<{ json: { text: string } }>`SELECT ${{ text }}::jsonb AS json`;
    expect(echoed[0]?.json.text === text).toBe(true);
    const { count } = await database.models.device.createMany({
      data: Array.from({ length: 5000 }, (_, n) => device(`many-${n}`)),
    });
    expect(count).toBe(5000);
    expect(await database.models.device.count({ where: { id: { startsWith: 'many-' } } })).toBe(5000);
  });

  it('starts a clean session after a connection was lost', async () => {
    await other.sql.execute`CREATE TEMPORARY TABLE leftover (id int)`;
    await failure(other.sql.query`SELECT 1 / 0`); // the pool drops a connection whose statement failed
    expect(await other.sql.query`SELECT to_regclass('leftover')::text AS found`).toEqual([{ found: null }]);
  });

  it('reports health, and knows when it is closed', async () => {
    expect(await database.health()).toEqual({ ok: true, probeMs: expect.any(Number) });
    await Promise.all([other.close(), other.close()]);
    expect(await other.health()).toMatchObject({ ok: false });
    await expect(other.models.device.count()).rejects.toThrow();
  });
});
