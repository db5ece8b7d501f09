/** The blocks that the ledgers of notifications read by plans that were made on empty tables, as on a new installation. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  type Db,
  Sql,
  claimDeliveries,
  claimNotifications,
  openDatabase,
  outboxLag,
  sweepDeliveries,
} from '../src/index.ts';
import { onPostgres } from './databases.ts';
import { type Noted, explaining } from './explained.ts';

/** One person has many due rows at each of five addresses; each of the others has a few at one. */
const [people, rowsEach, rowsOfOne] = [500, 4, 2_000];

onPostgres('ten thousand deliveries of one person beside those of 500 others', (postgres) => {
  let database: Database;

  const paths: { name: string; most: number; work: (db: Db) => Promise<unknown> }[] = [
    {
      name: 'a claim of deliveries',
      most: 2_500,
      work: (db) => claimDeliveries(db, { limit: 20, claimer: 'api', afterUser: '' }),
    },
    {
      name: 'a claim of deliveries while a host is full',
      most: 8_000,
      work: (db) => claimDeliveries(db, { limit: 20, claimer: 'api', afterUser: '', withoutHosts: ['full'] }),
    },
    {
      name: 'a claim of notifications',
      most: 2_800,
      work: (db) => claimNotifications(db, { limit: 100, afterUser: '', pauseMs: 1_000 }),
    },
    { name: 'the sweep of deliveries', most: 1_000, work: (db) => sweepDeliveries(db) },
    { name: 'the lag of notifications', most: 1_000, work: (db) => outboxLag(db) },
  ];

  beforeAll(async () => {
    const url = await postgres().createDatabase();
    const long = { statementTimeoutMs: 600_000, transactionTimeoutMs: 600_000 };
    database = await openDatabase({
      url: `${url}?options=-c%20plan_cache_mode%3Dforce_generic_plan`,
      poolSize: 1,
      ...long,
    });
    for (const table of ['subscriptions', 'deliveries', 'notifications', 'sessions'])
      await database.sql.execute(new Sql([`ALTER TABLE ${table} SET (autovacuum_enabled = false)`]));
    for (const { work } of paths) await work(database);
    await database.sql.execute`
      INSERT INTO subscriptions (id, user_id, kind, sealed, address, address_hash, label, causes)
      SELECT 'one-' || n, 'one', 'webpush', '', 'host-' || n || '/path', n, '', '{}'::text[] FROM generate_series(1, 5) n
      UNION ALL SELECT 'other-' || n, 'other-' || n, 'webpush', '', 'host/path', n, '', '{}'::text[] FROM generate_series(1, ${people}::int) n`;
    await database.sql.execute`
      INSERT INTO deliveries (id, subscription_id, user_id, cause, expires_at)
      SELECT s.id || '-' || n, s.id, s.user_id, 'test', now() + interval '1 hour'
      FROM subscriptions s, generate_series(1, CASE s.user_id WHEN 'one' THEN ${rowsOfOne}::int ELSE ${rowsEach}::int END) n`;
    await database.sql.execute`
      INSERT INTO notifications (id, user_id, session_key, session_id, cause)
      SELECT 'one-' || n, 'one', '', '', 'finished' FROM generate_series(1, ${5 * rowsOfOne}::int) n
      UNION ALL SELECT 'other-' || n || '-' || m, 'other-' || n, '', '', 'finished'
      FROM generate_series(1, ${people}::int) n, generate_series(1, ${rowsEach}::int) m`;
  }, 600_000);
  afterAll(() => database.close());

  it.each(paths)(
    'performance 1: $name reads no more by a plan that was made on empty tables',
    async ({ work, most }) => {
      const noted: Noted = { blocks: 0, read: [] };
      await work(explaining(database, noted, { prepared: true }));
      expect(noted.blocks).toBeLessThan(most);
    },
  );
});
