import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, Prisma, type StatementKind, isUnavailable, withDevice, withOwned } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('a direct transaction', (open) => {
  let database: Database;
  let prisma: Database['prisma'];
  let told: StatementKind[] = [];
  beforeAll(async () => {
    database = await open({ poolSize: 4, transactionTimeoutMs: 1_000, onStatement: (kind) => told.push(kind) });
    prisma = database.prisma;
    await prisma.device.createMany({ data: ['a', 'counter'].map((id) => device(id)) });
  });
  afterAll(() => database.close());

  const rename = (name: string) => Prisma.sql`UPDATE devices SET name = ${name} WHERE id = 'a'`;
  const nameOfA = async () => (await prisma.device.findUniqueOrThrow({ where: { id: 'a' } })).name;
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => {
        throw new Error('it was expected to fail');
      },
      (error: unknown) => error as Error & { code?: string },
    );

  it('keeps what was written, and returns what the work returned', async () => {
    told = [];
    expect(await prisma.$direct(async (tx) => tx.$executeRaw(rename('kept')))).toBe(1);
    expect(told).toEqual(['begin', 'execute', 'commit']);
    expect(await nameOfA()).toBe('kept');
  });

  it('leaves nothing when the work throws, and throws the same', async () => {
    const reason = new Error('changed my mind');
    told = [];
    const error = await failure(
      prisma.$direct(async (tx) => {
        await tx.$executeRaw(rename('undone'));
        throw reason;
      }),
    );
    expect([error, told]).toEqual([reason, ['begin', 'execute', 'rollback']]);
    expect(await nameOfA()).toBe('kept');
  });

  it('does not claim to have committed after a statement failed', async () => {
    const error = await failure(
      prisma.$direct(async (tx) => {
        await tx.$executeRaw(rename('undone'));
        await tx.$queryRaw`SELECT no_such_column`.catch(() => {});
      }),
    );
    expect(error.message).toContain('nothing was committed');
    expect(await nameOfA()).toBe('kept');
  });

  it('loses no update of twenty that lock, read and write one row', async () => {
    const increment = () =>
      withDevice(prisma, 'counter', async (tx, held) => {
        await tx.$executeRaw`UPDATE devices SET connection_fence = ${held!.fence + 1} WHERE id = 'counter'`;
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    expect(await prisma.device.findUnique({ where: { id: 'counter' } })).toMatchObject({ connectionFence: 20n });
  });

  it('of a claim runs while that is the newest on its device, and not for another fence or a missing device', async () => {
    await prisma.device.create({ data: { ...device('owned'), connectionFence: 7n } });
    const fenceOf = (deviceId: string, fence: number) =>
      withOwned(prisma, { deviceId, fence }, (_, held) => Promise.resolve(held.fence));
    expect(await fenceOf('owned', 7)).toBe(7);
    for (const [id, fence] of [
      ['owned', 6],
      ['owned', 8],
      ['missing', 7],
    ] as const)
      expect(await fenceOf(id, fence)).toBeUndefined();
  });

  it('is undone when it exceeds its time, which is an outage, and everything goes on', async () => {
    const error = await failure(
      prisma.$direct(async (tx) => {
        await tx.$executeRaw(rename('late'));
        for (;;) await tx.$queryRaw`SELECT 1`;
      }),
    );
    expect([error.code, isUnavailable(error)]).toEqual(['P2028', true]);
    expect(await nameOfA()).toBe('kept');
  });

  it('has no statements after its end', async () => {
    const left = await prisma.$direct((tx) => Promise.resolve(tx));
    expect((await failure(left.$queryRaw`SELECT 1`)).message).toContain('has ended');
  });
});
