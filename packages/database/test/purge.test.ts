import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, purge } from '../src/index.ts';
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
      FROM generate_series(1, 20000) n`;
    await database.sql.execute`ANALYZE`;
  });
  afterAll(() => database.close());

  const sequentialScans = async () => {
    await database.sql.query`SELECT pg_stat_force_next_flush()::text`;
    const [row] = await database.sql.query<{ scans: bigint }>`
      SELECT seq_scan AS scans FROM pg_stat_user_tables WHERE relname = 'tasks'`;
    return row!.scans;
  };

  it('are old tasks but the newest of each session, found without reading all of them', async () => {
    const before = await sequentialScans();
    await purge(database, 60);
    expect(await sequentialScans()).toBe(before);
    const left = await database.sql.query<{ id: string }>`
      SELECT id FROM tasks WHERE finished_at < now() - interval '30 days'`;
    expect(left.map(({ id }) => Number(id.slice(1))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, n) => n + 51),
    );
  });

  it('is every table but the one that fails, and that one is told', async () => {
    await database.models.revocation.create({ data: { id: 'old', subject: 'x', revokedAt: new Date(0) } });
    await database.sql.execute`ALTER TABLE notifications RENAME TO elsewhere`;
    await expect(purge(database, 60)).rejects.toThrow(/^1 of \d+ tables/);
    expect(await database.models.revocation.count()).toBe(0);
    await database.sql.execute`ALTER TABLE elsewhere RENAME TO notifications`;
  });
});
