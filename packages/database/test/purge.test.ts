import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type Database, purge, purgeTasks } from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('K12: what is purged', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.models.device.create({ data: device('d') });
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id)
      SELECT 's' || n, 'user-1', 'd', 'claude', 'n' || n FROM generate_series(1, 200) n`;
    // A hundred old ones, two in each of fifty sessions; the rest is of today.
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, state, instruction, expires_at, finished_at)
      SELECT 't' || n, 's' || (CASE WHEN n <= 100 THEN n % 50 + 1 ELSE n % 100 + 51 END), 'd', 'user-1', 'start', 'completed', '', now(),
        now() - CASE WHEN n <= 100 THEN interval '40 days' ELSE interval '1 minute' END
      FROM generate_series(1, 8000) n`;
    await database.sql.execute`ANALYZE`;
  });
  afterAll(() => database.close());

  it('is found without reading a large table, and deleted a few thousand rows at a time', async () => {
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, placeholder, first_words, deleted_at)
      SELECT 'many' || n, 'user-1', 'd', 'claude', 'DELETED-' || n, false, CASE WHEN n <= 10 THEN 'x' END, CASE WHEN n > 4000 THEN now() END
      FROM generate_series(1, 8000) n`;
    await database.sql.execute`
      INSERT INTO notifications (id, user_id, session_key, session_id, cause, created_at)
      SELECT 'n' || n, 'user-1', 's1', 'd:a:n', 'done', now() - CASE WHEN n <= 6000 THEN interval '31 days' ELSE interval '1 day' END
      FROM generate_series(1, 20000) n`;
    await database.sql.execute`
      INSERT INTO prompts (session_key, uuid, device_id, state, payload, expires_at, ended_at)
      SELECT 's1', 'r' || n, 'd', CASE WHEN n <= 20 THEN 'open' ELSE 'answered' END, '{}', now() - interval '1 minute',
        CASE WHEN n > 20 THEN now() END
      FROM generate_series(1, 8000) n`;
    await database.sql.execute`
      INSERT INTO audit_entries (id, user_id, action, outcome, at)
      SELECT 'a' || n, CASE WHEN n <= 16000 THEN 'busy' ELSE 'gone' END, 'a', 'done',
        now() - CASE WHEN n <= 16000 THEN n * interval '5 minutes' ELSE interval '91 days' END
      FROM generate_series(1, 22000) n`;
    await database.sql.execute`ANALYZE`;
    const before = await sequentialScans();
    const execute = jest.spyOn(database.sql, 'execute');
    await purge(database, 60);
    const counts = await Promise.all(execute.mock.results.map(({ value }) => value as Promise<number>));
    execute.mockRestore();
    expect(await sequentialScans()).toEqual(before);
    expect(counts.filter((count) => count > 5000)).toEqual([]);
    expect(counts.filter((count) => count === 5000)).toHaveLength(3);
    expect(await database.models.notification.count()).toBe(14_000);
    expect(await database.models.session.count({ where: { firstWords: { not: null } } })).toBe(0);
    expect(await database.models.prompt.count({ where: { state: 'open' } })).toBe(0);
    const entries = await database.sql.query<{ id: string }>`SELECT id FROM audit_entries ORDER BY at DESC`;
    expect([entries.length, entries.at(-1)?.id]).toEqual([10_000, 'a10000']);
  });

  const sequentialScans = async () => {
    await database.sql.query`SELECT pg_stat_force_next_flush()::text`;
    return database.sql.query<{ relname: string; scans: bigint }>`
      SELECT relname, seq_scan AS scans FROM pg_stat_user_tables
      WHERE relname IN ('tasks', 'sessions', 'notifications', 'prompts', 'audit_entries') ORDER BY 1`;
  };

  it('are old tasks but the newest of each session, found without reading all of them', async () => {
    const before = await sequentialScans();
    await purgeTasks(database);
    expect(await sequentialScans()).toEqual(before);
    const left = await database.sql.query<{ id: string }>`
      SELECT id FROM tasks WHERE finished_at < now() - interval '30 days'`;
    expect(left.map(({ id }) => Number(id.slice(1))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, n) => n + 51),
    );
  });

  it('covers every table except the failing one, and reports the failure', async () => {
    await database.models.revocation.create({ data: { id: 'old', subject: 'x', revokedAt: new Date(0) } });
    await database.sql.execute`ALTER TABLE notifications RENAME TO elsewhere`;
    await expect(purge(database, 60)).rejects.toThrow(/^1 of \d+ tables/);
    expect(await database.models.revocation.count()).toBe(0);
    await database.sql.execute`ALTER TABLE elsewhere RENAME TO notifications`;
  });
});
