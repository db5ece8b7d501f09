import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import { type Database, type StatementKind, outboxLag } from '../src/index.ts';
import { onBoth } from './databases.ts';

onBoth('what is told about statements', (open) => {
  let database: Database;
  let told: { kind: StatementKind; seconds: number; ok: boolean }[] = [];
  const kinds = () => told.map(({ kind }) => kind);

  beforeAll(async () => {
    database = await open({ onStatement: (kind, seconds, ok) => told.push({ kind, seconds, ok }) });
  });
  afterAll(() => database.close());

  it('names the kind of each, how long it took, and that it succeeded', async () => {
    told = [];
    await database.sql.query`SELECT 1`;
    await database.sql.execute`DELETE FROM notifications WHERE false`;
    expect(kinds()).toEqual(['query', 'execute']);
    for (const { seconds, ok } of told) expect([ok, seconds > 0]).toEqual([true, true]);
  });

  it('covers the statements of a transaction, including BEGIN and COMMIT', async () => {
    told = [];
    await database.models.$transaction(async (tx) => void (await tx.$queryRaw`SELECT 1`));
    expect([kinds()[0], kinds().at(-1)]).toEqual(['begin', 'commit']);
    expect(kinds()).toContain('query');
  });

  it('covers failures, and the error comes through', async () => {
    told = [];
    await expect(database.sql.query`SELECT no_such_column`).rejects.toThrow(/no_such_column/);
    expect(told.at(-1)).toMatchObject({ kind: 'query', ok: false });
  });

  it('a transaction that fails is rolled back as ever', async () => {
    told = [];
    await expect(
      database.models.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1`;
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(kinds().at(-1)).toBe('rollback');
  });

  it('the pool reports its connections and waiting callers', async () => {
    await database.sql.query`SELECT 1`;
    const { total, idle, waiting } = database.pool();
    expect(total).toBeGreaterThan(0);
    expect(idle).toBeLessThanOrEqual(total);
    expect(waiting).toBe(0);
  });

  it('the outbox reports the wait of its oldest notification', async () => {
    expect(await outboxLag(database)).toBe(0);
    const notification = (state: string, createdAt: Date) => ({
      data: { id: ulid(), userId: 'u', sessionKey: 's', sessionId: 'i', cause: 'completed', state, createdAt },
    });
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
    await database.models.notification.create(notification('sent', ago(9_000)));
    await database.models.notification.create(notification('failed', ago(9_000)));
    expect(await outboxLag(database)).toBe(0);
    await database.models.notification.create(notification('sending', ago(600)));
    await database.models.notification.create(notification('pending', ago(60)));
    const lag = await outboxLag(database);
    expect(lag).toBeGreaterThan(590);
    expect(lag).toBeLessThan(3_000);
  });
});
