import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, type StatementKind, isUnavailable, sql, withDevice, withOwned } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('a transaction of statements', (open) => {
  let database: Database;
  let told: StatementKind[] = [];
  beforeAll(async () => {
    database = await open({ poolSize: 4, onStatement: (kind) => told.push(kind) });
    await database.models.device.createMany({ data: ['a', 'counter'].map((id) => device(id)) });
  });
  afterAll(() => database.close());

  const rename = (name: string) => sql`UPDATE devices SET name = ${name} WHERE id = 'a'`;
  const nameOfA = async (of = database) => (await of.models.device.findUniqueOrThrow({ where: { id: 'a' } })).name;
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => {
        throw new Error('it was expected to fail');
      },
      (error: unknown) => error as Error & { code?: string },
    );

  it('keeps its writes, and returns the result of the work', async () => {
    told = [];
    expect(await database.sql.transaction(async (tx) => tx.sql.execute(rename('kept')))).toBe(1);
    expect(told).toEqual(['begin', 'execute', 'commit']);
    expect(await nameOfA()).toBe('kept');
  });

  it('leaves nothing when the work throws, and throws the same', async () => {
    const reason = new Error('changed my mind');
    told = [];
    const error = await failure(
      database.sql.transaction(async (tx) => {
        await tx.sql.execute(rename('undone'));
        throw reason;
      }),
    );
    expect([error, told]).toEqual([reason, ['begin', 'execute', 'rollback']]);
    expect(await nameOfA()).toBe('kept');
  });

  it('does not claim to have committed after a statement failed', async () => {
    const error = await failure(
      database.sql.transaction(async (tx) => {
        await tx.sql.execute(rename('undone'));
        await tx.sql.query`SELECT no_such_column`.catch(() => {});
      }),
    );
    expect(error.message).toContain('nothing was committed');
    expect(await nameOfA()).toBe('kept');
  });

  it('loses no update of twenty that lock, read and write one row', async () => {
    const increment = () =>
      withDevice(database, 'counter', async (tx, held) => {
        await tx.sql.execute`UPDATE devices SET connection_fence = ${held!.fence + 1} WHERE id = 'counter'`;
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    expect(await database.models.device.findUnique({ where: { id: 'counter' } })).toMatchObject({
      connectionFence: 20n,
    });
  });

  it('of a claim runs while that is the newest on its device, and not for another fence or a missing device', async () => {
    await database.models.device.create({ data: { ...device('owned'), connectionFence: 7n } });
    const fenceOf = (deviceId: string, fence: number) =>
      withOwned(database, { deviceId, fence }, (_, held) => Promise.resolve(held.fence));
    expect(await fenceOf('owned', 7)).toBe(7);
    for (const [id, fence] of [
      ['owned', 6],
      ['owned', 8],
      ['missing', 7],
    ] as const)
      expect(await fenceOf(id, fence)).toBeUndefined();
  });

  it('is undone when it exceeds its time, which is an outage, and everything goes on', async () => {
    // A database of its own: no other transaction has to keep so short a time on a busy machine.
    const hasty = await open({ poolSize: 4, transactionTimeoutMs: 1_000 });
    try {
      await hasty.models.device.create({ data: device('a') });
      const error = await failure(
        hasty.sql.transaction(async (tx) => {
          await tx.sql.execute(rename('late'));
          for (;;) await tx.sql.query`SELECT 1`;
        }),
      );
      expect([error.code, isUnavailable(error)]).toEqual(['TRANSACTION_FAILED', true]);
      expect(await nameOfA(hasty)).toBe(device('a').name);
    } finally {
      await hasty.close();
    }
  });

  it('refuses statements after its commit', async () => {
    const left = await database.sql.transaction((tx) => Promise.resolve(tx));
    expect((await failure(left.sql.query`SELECT 1`)).message).toContain('has ended');
  });
});
