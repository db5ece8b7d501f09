import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { taskStates } from '@relay/protocol';
import { type Database, type SessionPage, Sql, listPages, listSessions } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('pages of many people', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.models.device.create({ data: device('d') });
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, archived, updated_at)
      SELECT 'k' || n, 'user-' || n % 3, 'd', 'claude', 'n' || n, 'title', n % 4 = 0, timestamptz '2026-01-01' + n / 2 * interval '1 hour'
      FROM generate_series(1, 60) n`;
  });
  afterAll(() => database.close());

  it('are read in one statement, each as by itself', async () => {
    const after = { updatedAt: new Date('2026-01-01T12:00:00Z'), key: 'k24' };
    const pages: SessionPage[] = [
      { limit: 20, archived: 'false' },
      { limit: 2, archived: 'true' },
      { limit: 7, archived: 'true', after },
      { limit: 5, archived: 'false', after },
    ];
    const asked = ['user-0', 'user-1', 'user-2', 'nobody'].flatMap((ownerId) =>
      pages.map((page) => ({ ownerId, page })),
    );
    const sent: string[] = [];
    const query: Database['sql']['query'] = (statement, ...values) => {
      sent.push(statement instanceof Sql ? statement.text : new Sql(statement, values).text);
      return database.sql.query(statement, ...values);
    };
    const found = await listPages({ sql: { ...database.sql, query } }, asked);
    expect(sent).toHaveLength(1);
    for (const one of asked)
      expect([one, found.get(one)]).toEqual([one, await listSessions(database, one.ownerId, one.page)]);
    expect(found.get(asked[0]!)?.sessions).toHaveLength(15);
  });

  it('have the four states of open tasks next to each other in the order of the database', async () => {
    const rows = await database.sql.query<{ state: string }>`
      SELECT state FROM unnest(${[...taskStates]}::text[]) AS state WHERE state BETWEEN 'later' AND 'sent' ORDER BY state`;
    expect(rows.map(({ state }) => state)).toEqual(['later', 'queued', 'running', 'sent']);
  });
});
