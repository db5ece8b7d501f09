/**
 * The blocks that hot statements read for a person with many sessions: with statistics, and before there are any, as after a restore. A plan
 * that reads all of a device or a person costs hundreds of times as much, and no test of the answer would notice.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Database,
  type Db,
  type DeviceLock,
  type SessionFacts,
  Sql,
  type Transactions,
  acceptMessage,
  ackItem,
  applyReport,
  claimOwned,
  claimTasks,
  confirmTask,
  devicesWithResetLimits,
  findNativeSession,
  findPlaces,
  findSession,
  inboxPageStatement,
  listPages,
  listSessions,
  listWatches,
  longestWait,
  openDatabase,
  readInbox,
  readSessions,
  recentFolders,
  saveReportHash,
  settleTask,
  unfoundEnds,
  watchedOnDevices,
} from '../src/index.ts';
import { device, onPostgres } from './databases.ts';
import { type Noted, explaining } from './explained.ts';

const count = 20_000;
/** Other people, with this many sessions each. */
const [people, sessionsEach] = [1_000, 20];

/** Functions that are called alone, as their caller sends them. */
const atOnce = (db: Db): Transactions => ({
  sql: {
    ...db.sql,
    transaction: async (work, ahead = []) => {
      const rows: unknown[][] = [];
      for (const statement of ahead) rows.push(await db.sql.query(statement));
      return work(db, rows);
    },
  },
});

onPostgres('one person with 20,000 sessions on a machine, beside 1,000 others', (postgres) => {
  let database: Database;

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

  const report = (size: number) => Array.from({ length: size }, (_, n) => fact(n + 1));
  const held: DeviceLock = { id: 'many', ownerId: 'user-1', agentType: 'claude', status: 'online', fence: 0 };
  const apply = (db: Db) => applyReport(db, held, report(10), { discover: false, clockAheadMs: 0 });
  /** The statements of the hot paths, with a limit of blocks for each. */
  const hot: { name: string; most: number; work: (db: Db) => Promise<unknown> }[] = [
    { name: 'a changed report of ten sessions', most: 1_000, work: apply },
    {
      name: 'ten sessions by key',
      most: 300,
      work: (db) =>
        readSessions(
          db,
          report(10).map((_, n) => `k${n + 1}`),
        ),
    },
    { name: 'a session by its id', most: 60, work: (db) => findSession(db, 'user-1', 'many:codex:native-777') },
    { name: 'a session by its native id', most: 60, work: (db) => findNativeSession(db, 'many', 'native-19999') },
    {
      name: 'the first page of sessions',
      most: 500,
      work: (db) => listSessions(db, 'user-1', { limit: 20, archived: 'false' }),
    },
    {
      name: 'the first pages of two people',
      most: 500,
      work: (db) =>
        listPages(
          db,
          ['user-1', 'other-7'].map((ownerId) => ({ ownerId, page: { limit: 20, archived: 'false' } })),
        ),
    },
    {
      name: 'a page of 100 sessions',
      most: 300,
      work: (db) => listSessions(db, 'user-1', { limit: 100, archived: 'false' }),
    },
    {
      name: 'the sessions of a machine that has few',
      most: 30,
      work: (db) => listSessions(db, 'user-1', { limit: 100, archived: 'false', deviceId: 'few' }),
    },
    {
      name: 'the idle sessions of a machine that has few',
      most: 30,
      work: (db) => listSessions(db, 'user-1', { limit: 100, archived: 'false', deviceId: 'few', status: 'idle' }),
    },
    {
      name: 'the sessions of a machine that has few, archived or not',
      most: 30,
      work: (db) => listSessions(db, 'user-1', { limit: 100, archived: 'all', deviceId: 'few' }),
    },
    {
      name: 'the sessions that an agent started',
      most: 30,
      work: (db) => listSessions(db, 'user-1', { limit: 100, archived: 'false', startedBy: 'sign-in' }),
    },
    {
      name: 'the folders of a machine that has few sessions',
      most: 30,
      work: (db) => recentFolders(db, 'user-1', 'few'),
    },
    { name: 'the end of a changed report', most: 30, work: (db) => saveReportHash(db, 'many', 'changed') },
    { name: 'a claim of one message', most: 150, work: (db) => claimTasks(db, 'many', 1) },
    { name: 'the devices whose limits have reset', most: 60, work: (db) => devicesWithResetLimits(db) },
    // Rows that no vacuum has visited, one by one.
    { name: 'the 1,000 watched sessions of a person', most: 1_100, work: (db) => listWatches(db, 'user-1') },
    { name: 'the ends that the history may complete', most: 100, work: (db) => unfoundEnds(db, ['many']) },
    { name: 'the watched sessions of a device', most: 60, work: (db) => watchedOnDevices(db, ['few']) },
    // Their versions changed after they were inserted, and no vacuum has removed the entries of the rows before.
    { name: 'an inbox of 50 items', most: 600, work: (db) => readInbox(db, 'user-1', { limit: 50 }) },
    { name: 'an item that its person closes', most: 60, work: (db) => ackItem(atOnce(db), 'user-1', 'item') },
    {
      name: 'the first page of the inbox',
      most: 200,
      work: (db) => db.sql.query(inboxPageStatement('user-1', { limit: 20 })),
    },
    {
      name: 'the items that a message closes',
      most: 60,
      work: (db) => db.sql
        .query`SELECT relay_inbox_close('user-1', '{failure,unknown,finished}', 'k1', NULL, 'message')::text,
        relay_inbox_close('user-1', '{question}', 'k1', '', 'answered')::text`,
    },
  ];

  beforeAll(async () => {
    const url = await postgres().createDatabase();
    // One connection, which is never idle, so that it keeps its plans; as in production, plans that do not know the values.
    const long = { statementTimeoutMs: 600_000, transactionTimeoutMs: 600_000 };
    database = await openDatabase({
      url: `${url}?options=-c%20plan_cache_mode%3Dforce_generic_plan`,
      poolSize: 1,
      ...long,
    });
    for (const table of [
      'sessions',
      'session_aliases',
      'session_words',
      'tasks',
      'devices',
      'inbox_items',
      'watched_sessions',
    ])
      await database.sql.execute(new Sql([`ALTER TABLE ${table} SET (autovacuum_enabled = false)`]));
    await database.models.device.createMany({ data: ['many', 'few'].map((id) => device(id)) });
    for (const { work } of hot) await work(database);
    await database.sql.execute`
      INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash)
      SELECT 'other-' || n, 'other-' || n, '', '', 'claude', 'hash-' || n FROM generate_series(1, ${people}::int) n`;
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at)
      SELECT 'other-' || n || '-' || m, 'other-' || n, 'other-' || n, 'claude', 'native-' || m, 'title', 'report', '/work', 'idle', 'word', 3,
        now() - n * interval '1 minute' FROM generate_series(1, ${people}::int) n, generate_series(1, ${sessionsEach}::int) m`;
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at)
      SELECT 'k' || n, 'user-1', 'many', CASE n % 2 WHEN 0 THEN 'claude' ELSE 'codex' END, 'native-' || n, 'title ' || n, 'report', '/work/' || n % 50,
        'idle', 'word' || n % 500, 3, now() - n * interval '1 minute' FROM generate_series(1, ${count}::int) n`;
    await database.sql.execute`
      INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
      SELECT 'many', CASE n % 2 WHEN 0 THEN 'claude' ELSE 'codex' END, 'PENDING-' || n, 'k' || n FROM generate_series(1, ${count}::int) n`;
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at, sent_at, finished_at)
      SELECT 't' || n, 'k' || n, 'many', 'user-1', 'resume', '', 'completed', now(), now() - n * interval '1 second', now() - n * interval '1 second'
      FROM generate_series(1, ${count}::int) n`;
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at, sent_at, finished_at)
      SELECT 't' || key, key, device_id, owner_id, 'resume', '', 'completed', updated_at, updated_at, updated_at FROM sessions WHERE owner_id <> 'user-1'`;
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, updated_at)
      VALUES ('few', 'user-1', 'few', 'claude', 'few', 'few', 'report', '/few', 'idle', '', now() - interval '1 year')`;
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at)
      VALUES ('waits', 'k1', 'many', 'user-1', 'resume', 'go on', 'queued', now() + interval '1 day')`;
    await database.sql.execute`
      INSERT INTO watched_sessions (user_id, session_key)
      SELECT 'user-1', 'k' || n FROM generate_series(1, 1000) n UNION ALL VALUES ('user-1', 'few')
      UNION ALL SELECT owner_id, key FROM sessions WHERE owner_id <> 'user-1'`;
    // Their version is 0: the trigger counts them at the commit.
    await database.sql.execute`
      INSERT INTO inbox_items (id, user_id, kind, session_key, subject, created_at)
      SELECT gen_random_uuid()::text, 'user-1', 'failure', 'k' || n, 't' || n, now() - n * interval '1 second' FROM generate_series(1, 1450) n
      UNION ALL SELECT gen_random_uuid()::text, owner_id, 'finished', key, '', updated_at FROM sessions WHERE key LIKE 'other-%-1'`;
  }, 600_000);
  afterAll(() => database.close());

  const note = async (work: (db: Db) => Promise<unknown>, how: { prepared?: boolean } = {}) => {
    const noted: Noted = { blocks: 0, read: [] };
    await work(explaining(database, noted, how));
    return noted;
  };
  const blocksOf = async (work: (db: Db) => Promise<unknown>) => (await note(work)).blocks;

  it.each(hot)(
    'performance 1, 6, 9: $name reads no more by a plan that was made on empty tables',
    async ({ work, most }) => {
      const { blocks, read } = await note(work, { prepared: true });
      expect(read).toEqual([]);
      expect(blocks).toBeLessThan(most);
    },
  );

  describe.each(['before there are statistics', 'with statistics'])('%s', (when) => {
    beforeAll(async () => {
      if (when === 'with statistics') await database.sql.execute`ANALYZE`;
    });

    it('finds a session by its native id, by an earlier one, and notices a missing one', async () => {
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

    it('lists by state and text, also without a match', async () => {
      for (const status of ['active', 'waiting', 'failed', 'pending'] as const) {
        const page = { limit: 20, archived: 'false', status } as const;
        for (const q of [undefined, 'word7', 'word7 title', 'nothing', 'title', 'wo'])
          expect(await blocksOf((db) => listSessions(db, 'user-1', { ...page, q }))).toBeLessThan(500);
      }
    });

    it.each(['word7', 'word7 title', 'title', 'wo', 'nothing', 'k'])(
      'performance 2: finds %s among its own words',
      async (q) => {
        const page = { limit: 20, archived: 'false', q } as const;
        expect(await blocksOf((db) => listSessions(db, 'user-1', page))).toBeLessThan(
          when === 'with statistics' ? 500 : 1_000,
        );
        expect((await listSessions(database, 'user-1', page)).sessions.length > 0).toBe(
          q.length > 1 && q !== 'nothing',
        );
      },
    );

    it('computes the wait of messages when nothing waits', async () => {
      expect(await blocksOf((db) => longestWait(db))).toBeLessThan(100);
    });

    it('claims where nothing is queued', async () => {
      expect(await blocksOf((db) => claimTasks(db, 'many', 1))).toBeLessThan(100);
    });

    it('reads a page of 100 sessions by their rows alone', async () => {
      expect(await blocksOf((db) => listSessions(db, 'user-1', { limit: 100, archived: 'false' }))).toBeLessThan(300);
    });

    it('takes a turn of a person with 20,000 sessions as it takes one of a person with 20', async () => {
      const turn = async (owner: string, deviceId: string, key: string, n: number) => {
        const taskId = `turn-${when}-${key}-${n}`;
        const [row] = await database.sql.query<{ agent_type: string; native_id: string }>`
          SELECT agent_type, native_id FROM sessions WHERE key = ${key}`;
        const { agent_type: agentType, native_id: nativeId } = row!;
        const message = {
          taskId,
          content: `go on ${n}`,
          isBehind: false,
          isBound: false,
          ttlMs: 60_000,
          queueLimit: 50,
        };
        const steps: ((db: Transactions) => Promise<unknown>)[] = [
          (db) => acceptMessage(db, { ...message, ownerId: owner, deviceId, agentType, nativeId }),
          (db) => claimOwned(db, { deviceId, fence: 0 }),
          (db) => confirmTask(db, { deviceId, fence: 0 }, taskId, nativeId),
          (db) =>
            settleTask(db, {
              deviceId,
              taskId,
              nativeId,
              outcome: { kind: 'completed', result: `done ${n}` },
              windowMs: 1,
            }),
        ];
        const blocks: number[] = [];
        for (const step of steps) blocks.push((await note((db) => step(atOnce(db)))).blocks);
        const [end] = await database.sql.query<{ state: string }>`SELECT state FROM tasks WHERE id = ${taskId}`;
        expect(end?.state).toBe('completed');
        return blocks.reduce((sum, some) => sum + some, 0);
      };
      // The first turn of each makes the plans again.
      for (const n of [1, 2]) {
        const small = await turn('other-7', 'other-7', 'other-7-1', n);
        const large = await turn('user-1', 'many', 'k9', n);
        if (n === 2) expect(Math.abs(large - small) / small).toBeLessThan(0.15);
      }
    });

    it.each(hot.slice(-2))('performance 6: reads no more for $name', async ({ work, most }) => {
      expect(await blocksOf(work)).toBeLessThan(most);
    });

    it('applies a report of twenty sessions', async () => {
      const reading = { discover: true, clockAheadMs: 0 };
      expect(await blocksOf((db) => applyReport(db, held, report(20), reading))).toBeLessThan(2_000);
    });
  });
});
