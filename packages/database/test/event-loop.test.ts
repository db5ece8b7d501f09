import { describe, expect, it } from '@jest/globals';
import { lendEmbedded } from './databases.ts';

describe('the embedded database', () => {
  it('leaves the main thread free while a long statement runs', async () => {
    const database = await lendEmbedded();
    try {
      const order: string[] = [];
      // Longer than a pause of a busy machine that holds up the main thread alone.
      const statement = database.sql.query`SELECT count(*) FROM generate_series(1, 5000) a, generate_series(1, 1000) b`;
      const answered = statement.then(() => order.push('statement'));
      for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
      order.push('three timers');
      await answered;
      expect(order).toEqual(['three timers', 'statement']);
    } finally {
      await database.close();
    }
  });
});
