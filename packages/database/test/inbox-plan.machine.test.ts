/** Counts and pages of a full inbox come from its index, however many items of this person and of others were closed. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  type Sql,
  inboxCounts,
  inboxCountsStatement,
  inboxPageStatement,
  openDatabase,
  sql,
  trimInbox,
} from '../src/index.ts';
import { onPostgres } from './databases.ts';

interface Node {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
}

onPostgres('a full inbox among many rows', (postgres) => {
  let database: Database;

  beforeAll(async () => {
    database = await openDatabase({ url: await postgres().createDatabase() });
    // A version other than 0 needs no assignment by a transaction.
    const insert = (user: Sql, state: string, count: number) => database.sql.execute`
      INSERT INTO inbox_items (id, user_id, kind, subject, state, version, created_at)
      SELECT gen_random_uuid()::text, ${user}, CASE n % 3 WHEN 0 THEN 'finished' WHEN 1 THEN 'failure' ELSE 'question' END, n::text, ${state}, n,
        now() - n * interval '1 second' FROM generate_series(1, ${count}::int) n`;
    await insert(sql`'alice'`, 'closed', 40_000);
    await insert(sql`'alice'`, 'open', 5_000);
    await insert(sql`'user' || n % 500`, 'open', 20_000);
    await insert(sql`'user' || n % 500`, 'closed', 40_000);
    await database.sql.execute`INSERT INTO inbox_heads (user_id, version) VALUES ('alice', 45000)`;
    // An internal transaction of the server can delay visibility for all, which an index-only scan requires.
    for (let isVisible = false; !isVisible;) {
      await database.sql.execute`VACUUM ANALYZE inbox_items`;
      const [table] = await database.sql.query<{ visible: boolean }>`
        SELECT relallvisible >= relpages AS visible FROM pg_class WHERE relname = 'inbox_items'`;
      isVisible = table!.visible;
    }
  }, 120_000);
  afterAll(() => database.close());

  const explain = async (statement: Sql) => {
    const [row] = await database.sql.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
    );
    const { Plan: plan } = row!['QUERY PLAN'][0];
    const nodes = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
    const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    const scans = nodes(plan).filter((node) => node['Relation Name'] === 'inbox_items');
    return { blocks, scans: scans.map((scan) => `${scan['Node Type']} ${scan['Index Name']}`) };
  };

  it('counts 5,000 open items by one scan of the index alone', async () => {
    const { scans, blocks } = await explain(inboxCountsStatement('alice'));
    expect(scans).toEqual(['Index Only Scan inbox_items_open_idx']);
    expect(blocks).toBeLessThan(100);
    expect((await inboxCounts(database, 'alice')).counts).toMatchObject({ total: 5_000, badge: 3_334 });
  });

  it('reads the first page and one in the middle in the order of the same index', async () => {
    const [middle] = await database.sql.query<{ created_at: Date; id: string }>`
      SELECT created_at, id FROM inbox_items WHERE user_id = 'alice' AND state = 'open' ORDER BY created_at DESC, id DESC OFFSET 2500 LIMIT 1`;
    const after = { createdAt: middle!.created_at, id: middle!.id };
    for (const page of [{ limit: 50 }, { limit: 50, after }]) {
      const { scans, blocks } = await explain(inboxPageStatement('alice', page));
      expect(scans).toEqual(['Index Scan inbox_items_open_idx']);
      expect(blocks).toBeLessThan(200);
    }
  });

  it('has 5,000 at most: drops the oldest finished turns first, and never a question', async () => {
    await database.sql.transaction(async (tx) => {
      for (let n = 0; n < 10; n += 1)
        await tx.sql.query`SELECT relay_inbox_open('alice', 'question', '', ${`new ${n}`}, NULL, NULL)`;
    });
    await trimInbox(database, 'alice');
    const closed = await database.sql.query<{ kind: string; subject: string }>`
      SELECT kind, subject FROM inbox_items WHERE user_id = 'alice' AND closed_by = 'too many' ORDER BY created_at`;
    expect((await inboxCounts(database, 'alice')).counts).toMatchObject({ total: 5_000 });
    expect(closed.map(({ kind }) => kind)).toEqual(Array(10).fill('finished'));
    expect(closed[0]!.subject).toBe('4998');
  });
});
