/** The blocks that a search reads for a person with 10,000 sessions, for each share of matches, and the pages that it returns. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, type SessionPage, Sql, listSessions, openDatabase, sql } from '../src/index.ts';
import { device, onPostgres } from './databases.ts';
import { type Noted, explaining } from './explained.ts';

const count = 10_000;
/** Each term is in every so many sessions. */
const terms = { every2: 2, every7: 7, every22: 22, every90: 90, every240: 240, every500: 500 };

onPostgres('one person with 10,000 sessions', (postgres) => {
  let database: Database;

  beforeAll(async () => {
    const url = await postgres().createDatabase();
    const long = { statementTimeoutMs: 600_000, transactionTimeoutMs: 600_000 };
    database = await openDatabase({ url: `${url}?options=-c%20plan_cache_mode%3Dforce_generic_plan`, ...long });
    await database.models.device.create({ data: device('d') });
    const words = Object.entries(terms).map(
      ([term, n]) => sql`CASE WHEN n % ${n}::int = 0 THEN ${` ${term}`} ELSE '' END`,
    );
    // A tenth of each page is used, as if the rows of other people were between these.
    for (const table of ['sessions', 'session_words'])
      await database.sql.execute(new Sql([`ALTER TABLE ${table} SET (fillfactor = 10)`]));
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, last_message, file_path, archived, updated_at)
      SELECT 'k' || n, 'user-1', 'd', 'claude', 'n' || n, 'Сад ' || n, ${sql.join(words, ' || ')}, repeat('x', 500), n % 50 = 1, now() - n * interval '1 minute'
      FROM generate_series(1, ${count}::int) n`;
    await database.sql.execute`ANALYZE`;
  }, 600_000);
  afterAll(() => database.close());

  const page = (q: string): SessionPage => ({ limit: 20, archived: 'false', q });
  const blocksOf = async (asked: SessionPage) => {
    const noted: Noted = { blocks: 0, read: [] };
    await listSessions(explaining(database, noted), 'user-1', asked);
    return noted.blocks;
  };

  it.each([...Object.keys(terms), 'every', 'сад', 'сад every22', 'ev', 'e', 'nothing'])(
    'performance 2: a search for %s reads at most 500 blocks',
    async (q) => {
      expect(await blocksOf(page(q))).toBeLessThanOrEqual(500);
    },
  );

  it.each([
    ['archived', { limit: 20, archived: 'true' }],
    ['pinned', { limit: 20, archived: 'false', pinned: true }],
  ] as const)('performance 2: a page of %s sessions reads at most 500 blocks', async (_which, asked) => {
    expect(await blocksOf(asked)).toBeLessThanOrEqual(500);
  });

  it.each(['every22', 'every90', 'every500', 'сад'])(
    'performance 2: the pages of a search for %s contain each match once, newest first',
    async (q) => {
      const expected = await database.sql.query<{ key: string }>`
        SELECT key FROM sessions WHERE NOT archived AND (last_message LIKE ${`%${q}%`} OR title ILIKE ${`%${q}%`}) ORDER BY updated_at DESC LIMIT 100`;
      const keys: string[] = [];
      let after: SessionPage['after'];
      for (let isOver = false; !isOver && keys.length < 100;) {
        const { sessions, searchedTo } = await listSessions(database, 'user-1', {
          ...page(q),
          ...(after ? { after } : {}),
        });
        const shown = sessions.slice(0, 20);
        keys.push(...shown.map(({ key }) => key));
        const last = shown.at(-1);
        if (sessions.length > 20)
          after = { key: last!.key, updatedAt: new Date(JSON.parse(last!.json).updatedAt as string) };
        else if (searchedTo) after = searchedTo;
        else isOver = true;
      }
      expect(keys.slice(0, 100)).toEqual(expected.map(({ key }) => key));
    },
    60_000,
  );
});
