/**
 * The blocks that PostgreSQL reads for a conversation, among many sessions and for a person with 14,000 of them: with
 * statistics, and without any, as after a restore. The server counts every statement, including those that no test
 * names.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openDatabase } from '@relay/database';
import {
  type TestPostgres,
  type TestRelay,
  connectApp,
  connectDaemon,
  startPostgres,
  startRelay,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';

/** Sessions of other people, of the person on other machines, and on the machine under test. */
const [others, elsewhere, here] = [20_000, 5_000, 9_000];
const before = others + elsewhere;
/**
 * The mean per call of a statement. A plan that reads all sessions of a machine or of a person reads twenty times as
 * many.
 */
const most = 1_500;

describeWith('postgresql', 'among many sessions', () => {
  let postgres: TestPostgres;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  /** For slow statements. */
  let filling: typeof database;
  let relay: TestRelay;
  let deviceId: string;
  let registration: Awaited<ReturnType<typeof connectDaemon>>['registration'];

  beforeAll(async () => {
    postgres = await startPostgres({
      settings: ['shared_preload_libraries = pg_stat_statements', 'autovacuum = off'],
    });
    const url = await postgres.createDatabase();
    database = await openDatabase({ url });
    const slow = 600_000;
    filling = await openDatabase({ url, poolSize: 1, statementTimeoutMs: slow, transactionTimeoutMs: slow });
    await database.sql.execute`CREATE EXTENSION pg_stat_statements`;
    relay = await startRelay({ database });
    const daemon = await connectDaemon(relay);
    ({ deviceId, registration } = daemon);
    await daemon.close();
    const userId = relay.issuer.userId('alice');
    await filling.sql.transaction(async (tx) => {
      // Disables the triggers, whose rows do not matter here.
      await tx.sql.execute`SET LOCAL session_replication_role = replica`;
      await tx.sql.execute`
        INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash)
        SELECT 'd' || n, 'user-' || n % 20000, '', '', 'scripted', 'hash-' || n FROM generate_series(1, 50000) n`;
      await tx.sql.execute`
        INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at)
        SELECT 'k' || n, CASE WHEN n > ${others}::int THEN ${userId} ELSE 'user-' || n % 20000 END, CASE WHEN n > ${before}::int THEN ${deviceId} ELSE 'd' || n % 50000 END,
          'scripted', 'native-' || n, 'title ' || n, 'report', '/work/' || n % 50, 'idle', 'word' || n % 500, 3, now() - n * interval '1 second'
        FROM generate_series(1, ${before + here}::int) n`;
      await tx.sql.execute`
        INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
        SELECT device_id, agent_type, 'PENDING-' || key, key FROM sessions WHERE owner_id = ${userId}`;
      await tx.sql.execute`
        INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at, sent_at, finished_at)
        SELECT 't' || key, key, device_id, owner_id, 'resume', '', 'completed', updated_at, updated_at, updated_at FROM sessions`;
    });
  }, 600_000);
  afterAll(async () => {
    await relay.stop();
    await filling.close();
    await database.close();
    await postgres.stop();
  });

  /** The typical frames and requests of one person in a day. */
  const live = async (day: number) => {
    const native = (n: number) => `native-${before + day * 1_000 + n}`;
    const id = (n: number) => `${deviceId}:scripted:${native(n)}`;
    const app = await connectApp(relay);
    const daemon = await connectDaemon(relay, {
      registration,
      hello: [
        { type: 'status', running_tasks: [] },
        {
          type: 'report_sessions',
          sessions: Array.from({ length: 5 }, (_, n) => ({
            session_id: n === 0 ? `new-${day}` : native(n),
            title: `of day ${day}`,
            last_message: 'changed',
            message_count: 9,
            last_activity: new Date().toISOString(),
          })),
        },
      ],
    });
    await app.next('session_update', ({ session }) => JSON.stringify(session).includes(native(4)));
    daemon.send({
      type: 'session_activity',
      session_id: native(3),
      is_active: true,
      last_message: 'by hand',
      message_count: 10,
    });
    await app.next('session_update', ({ session }) => JSON.stringify(session).includes('by hand'));

    await relay.call('sendMessage', { params: { id: id(1) }, body: { content: 'go on' } });
    const task = (await daemon.next('task_resume')).task_id as string;
    daemon.send({ type: 'status', running_tasks: [task] });
    daemon.event(task, 'OUTPUT', { text: 'working' });
    daemon.event(task, 'WAIT_FOR_USER', { prompt: 'Which one?', options: [{ label: 'this' }, { label: 'that' }] });
    await app.next('session_update', ({ session }) => JSON.stringify(session).includes('Which one?'));
    await relay.call('sendMessage', { params: { id: id(1) }, body: { content: 'the first' } });
    const answer = (await daemon.next('task_resume')).task_id as string;
    daemon.event(answer, 'TASK_COMPLETE', { result: `done on day ${day}` });
    await app.next('session_update', ({ session }) => JSON.stringify(session).includes(`done on day ${day}`));

    const created = await relay.call('createSession', { body: { deviceId, message: 'begin' } });
    expect(created.status).toBe(201);
    const first = (await daemon.next('task_start')).task_id as string;
    daemon.event(first, 'SESSION_STARTED', { session_id: `begun-${day}` });
    daemon.event(first, 'ERROR', { error: `broken on day ${day}` });
    await app.next('session_update', ({ session }) => JSON.stringify(session).includes('failed'));

    for (const query of [
      {},
      { status: 'failed' },
      { status: 'idle' },
      { archived: 'true' },
      { deviceId },
      { q: 'changed' },
    ] as const)
      expect((await relay.call('listSessions', { query: { limit: 20, ...query } })).status).toBe(200);
    for (const route of ['listDevices', 'listWatched', 'listInbox'] as const)
      expect((await relay.call(route)).status).toBe(200);
    await relay.call('watch', { body: { sessionId: id(2) } });
    await relay.call('updateSession', { params: { id: id(2) }, body: { title: 'mine', archived: true } });
    await daemon.close();
    await app.close();
  };

  it.each(['before there are statistics', 'with statistics'])(
    '%s no statement reads more than its rows',
    async (when) => {
      if (when === 'with statistics') await filling.sql.execute`ANALYZE`;
      await database.sql.query`SELECT pg_stat_statements_reset()`;
      await live(when === 'with statistics' ? 2 : 1);
      const read = await database.sql.query<{ query: string; blocks: number; calls: number }>`
      SELECT query, calls::int, ((shared_blks_hit + shared_blks_read) / calls)::int AS blocks FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query ~ 'sessions|tasks|devices|inbox|notifications'
      ORDER BY blocks DESC`;
      expect(read.length).toBeGreaterThan(40);
      expect(read.filter(({ blocks }) => blocks > most)).toEqual([]);
    },
    600_000,
  );
});
