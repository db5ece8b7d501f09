import { describe, expect, it } from '@jest/globals';
import { statementNames } from '../src/statement-names.ts';
import { device, onBoth } from './databases.ts';

describe('names of statements', () => {
  it('are the same for the same text and different for different texts', () => {
    const nameOf = statementNames();
    const first = nameOf({ sql: 'SELECT 1' });
    expect(first).not.toBe('');
    expect(nameOf({ sql: 'SELECT 2' })).not.toBe(first);
    expect(nameOf({ sql: 'SELECT 1' })).toBe(first);
  });

  it('stop at the limit, so that the engine keeps a bounded number of plans', () => {
    const nameOf = statementNames(2);
    const known = [nameOf({ sql: 'SELECT 1' }), nameOf({ sql: 'SELECT 2' })];
    expect(nameOf({ sql: 'SELECT 3' })).toBe('');
    expect([nameOf({ sql: 'SELECT 1' }), nameOf({ sql: 'SELECT 2' })]).toEqual(known);
  });
});

onBoth('a statement that is run again and again', (open) => {
  it('sees writes between its runs, also after failed transactions', async () => {
    const database = await open();
    try {
      const count = async () => (await database.sql.query<{ n: number }>`SELECT count(*)::int AS n FROM devices`)[0]!.n;
      for (let n = 0; n < 10; n += 1) {
        await database.models.device.create({ data: device(`d-${n}`) });
        const failing = database.models.$transaction(async (tx) => {
          await tx.device.create({ data: device(`lost-${n}`) });
          await tx.$queryRaw`SELECT count(*)::int AS n FROM devices WHERE id = ${`d-${n}`}`;
          throw new Error('rolled back');
        });
        await expect(failing).rejects.toThrow('rolled back');
        expect(await count()).toBe(n + 1);
      }
    } finally {
      await database.close();
    }
  });
});
