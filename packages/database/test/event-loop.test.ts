import { describe, expect, it } from '@jest/globals';
import { openDatabase } from '../src/open.ts';
import { template } from './databases.ts';

describe('the embedded database', () => {
  it('leaves the main thread free while a long statement runs', async () => {
    const database = await openDatabase({ template: await template() });
    try {
      const order: string[] = [];
      const statement = database.sql.query`SELECT count(*) FROM generate_series(1, 5000000)`;
      const answered = statement.then(() => order.push('statement'));
      for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
      order.push('twenty timers');
      await answered;
      expect(order).toEqual(['twenty timers', 'statement']);
    } finally {
      await database.close();
    }
  });
});
