/**
 * The blocks that hot statements read for a person with many sessions: with statistics, and before there are any, as after a restore. A plan
 * that reads all of a device or a person costs hundreds of times as much, and no test of the answer would notice.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Database,
  type Db,
  type SessionFacts,
  Sql,
  applyReport,
  claimTasks,
  findNativeSession,
  findPlaces,
  findSession,
  listSessions,
  longestWait,
  openDatabase,
  readSessions,
  withDevice,
} from '../src/index.ts';
import { device, onPostgres } from './databases.ts';

const count = 100_000;

/** Explains each statement, which carries it out, and answers it only if it is a read. */
function explaining(db: Db, noted: { blocks: number }): Db {
  return {
    sql: {
      query: async (statement, ...values) => {
        const whole = statement instanceof Sql ? statement : new Sql(statement, values);
        const [row] = await db.sql.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          new Sql(['EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ', ''], [whole]),
        );
        const { Plan: plan } = row!['QUERY PLAN'][0];
        noted.blocks += plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
        return /\b(?:UPDATE|INSERT)\b/.test(whole.text) ? [] : db.sql.query(whole);
      },
      execute: (...given) => db.sql.execute(...given),
    },
  };
}

onPostgres('one person with 20,000 sessions on a machine', (postgres) => {
  let database: Database;

  beforeAll(async () => {
    database = await openDatabase({ url: await postgres().createDatabase() });
    for (const table of ['sessions', 'session_aliases', 'session_words', 'tasks', 'devices'])
      await database.sql.execute(new Sql([`ALTER TABLE ${table} SET (autovacuum_enabled = false)`]));
    await database.models.device.createMany({ data: ['many', 'few'].map((id) => device(id)) });
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at)
      SELECT 'k' || n, 'user-1', 'many', CASE n % 2 WHEN 0 THEN 'claude' ELSE 'codex' END, 'native-' || n, 'title ' || n, 'report', '/work/' || n % 50,
        'idle', 'word' || n % 500, 3, now() - n * interval '1 minute' FROM generate_series(1, ${count}::int) n`;
    await database.sql.execute`
      INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
      SELECT 'many', CASE n % 2 WHEN 0 THEN 'claude' ELSE 'codex' END, 'PENDING-' || n, 'k' || n FROM generate_series(1, ${count}::int) n`;
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at, sent_at, finished_at)
      SELECT 't' || n, 'k' || n, 'many', 'user-1', 'resume', '', 'completed', now(), now() - interval '1 day', now() - interval '1 day'
      FROM generate_series(1, ${count}::int) n`;
  }, 180_000);
  afterAll(() => database.close());

  const blocksOf = async (work: (db: Db) => Promise<unknown>) => {
    const noted = { blocks: 0 };
    await work(explaining(database, noted));
    return noted.blocks;
  };

  const fact = (n: number): SessionFacts => ({
    nativeId: `native-${2 * n}`,
    title: `title ${2 * n}`,
    projectPath: '/work',
    filePath: '',
    lastMessage: `changed ${n}`,
    messageCount: 4,
    active: undefined,
    lastActivity: new Date(),
  });

  describe.each(['before there are statistics', 'with statistics'])('%s', (when) => {
    beforeAll(async () => {
      if (when === 'with statistics') await database.sql.execute`ANALYZE`;
    });

    it('finds a session by its native id, by an earlier one, and notices that there is none', async () => {
      for (const id of ['native-19999', 'native-2', 'PENDING-19999', 'unknown'])
        expect(await blocksOf((db) => findNativeSession(db, 'many', id))).toBeLessThan(60);
      expect((await findNativeSession(database, 'many', 'native-19999'))?.key).toBe('k19999');
      expect((await findNativeSession(database, 'many', 'PENDING-20000'))?.key).toBe('k20000');
      expect(await findNativeSession(database, 'many', 'unknown')).toBeUndefined();
      expect(await findNativeSession(database, 'few', 'native-2')).toBeUndefined();
    });

    it('finds a session by its public id, and reads some by key', async () => {
      expect(await blocksOf((db) => findSession(db, 'user-1', 'many:codex:native-777'))).toBeLessThan(60);
      expect(await blocksOf((db) => readSessions(db, ['k1', 'k2', 'k3']))).toBeLessThan(100);
    });

    it('finds the places of two hundred sessions, by their ids and by earlier ones', async () => {
      const named = (nativeId: string) => ({ ownerId: 'user-1', sessionId: `many:codex:${nativeId}` });
      const asked = Array.from({ length: 100 }, (_, n) => [
        named(`native-${2 * n + 1}`),
        named(`PENDING-${2 * n + 1}`),
      ]).flat();
      expect(await blocksOf((db) => findPlaces(db, asked))).toBeLessThan(2_500);
      expect((await findPlaces(database, asked)).size).toBe(200);
    });

    it('lists by state and words, also where nothing matches', async () => {
      for (const status of ['active', 'waiting', 'failed', 'pending'] as const) {
        const page = { limit: 20, archived: 'false', status } as const;
        for (const q of [undefined, 'word7', 'word7 title', 'nothing'])
          expect(await blocksOf((db) => listSessions(db, 'user-1', { ...page, q }))).toBeLessThan(500);
      }
    });

    it('knows how long messages wait, where none does', async () => {
      expect(await blocksOf((db) => longestWait(db))).toBeLessThan(100);
    });

    it('claims where nothing is queued', async () => {
      expect(await blocksOf((db) => claimTasks(db, 'many', 1))).toBeLessThan(100);
    });

    it('applies a report of twenty sessions', async () => {
      const facts = Array.from({ length: 20 }, (_, n) => fact(n + 1));
      const noted = { blocks: 0 };
      await withDevice(database, 'many', (tx, held) =>
        applyReport(explaining(tx, noted), held!, facts, { discover: true, clockAheadMs: 0 }),
      );
      expect(noted.blocks).toBeLessThan(2_000);
    });
  });
});
