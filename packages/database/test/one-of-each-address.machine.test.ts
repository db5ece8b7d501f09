/** Promise: of the deliveries to one address one is sent at a time, however many instances claim them. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, claimDeliveries, openDatabase } from '../src/index.ts';
import { onPostgres } from './databases.ts';

onPostgres('deliveries to one address', (postgres) => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase({ url: await postgres().createDatabase() });
    await database.models.subscription.create({
      data: {
        ...{ id: 'phone', userId: 'person', kind: 'webpush', addressHash: 'phone', sealed: '', label: '' },
        ...{ address: 'push.test', causes: [], login: 'login', verified: true },
      },
    });
    await database.sql.execute`
      INSERT INTO deliveries (id, subscription_id, user_id, cause, state, next_at, expires_at)
      SELECT v, 'phone', 'person', 'done', 'pending', now() - interval '1 second', now() + interval '1 hour' FROM unnest('{1,2}'::text[]) v`;
  });
  afterAll(() => database.close());

  const claim = async (claimer: string) => {
    const { claimed } = await claimDeliveries(database, { limit: 10, claimer, afterUser: '' });
    return claimed.map(({ id }) => id);
  };

  it('are not claimed while another instance claims the first, nor while it sends it', async () => {
    await database.sql.transaction(async (tx) => {
      // As a claim that is not committed.
      await tx.sql.execute`UPDATE deliveries SET state = 'sending' WHERE id = '1'`;
      expect(await claim('meanwhile')).toEqual([]);
    });
    expect(await claim('afterwards')).toEqual([]);
    await database.sql.execute`UPDATE deliveries SET state = 'accepted' WHERE id = '1'`;
    expect(await claim('next')).toEqual(['2']);
  });
});
