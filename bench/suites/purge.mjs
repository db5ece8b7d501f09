// The daily purge of tasks: the processor time of PostgreSQL for a deleted row, with the vacuum and the log.
import { openDatabase, purgeTasks } from '@relay/database';
import { startPostgres } from '@relay/testing';
import { startCpu } from '../cpu.mjs';
import { Table } from '../measure.mjs';

const sessions = 2_000;
const tasks = 20_000;

export async function purge({ rounds, progress, share }) {
  const table = new Table('The purge of tasks: PostgreSQL');
  const count = Math.ceil(tasks * share);
  const postgres = await startPostgres();
  const database = await openDatabase({ url: await postgres.createDatabase(), poolSize: 1 });
  const { sql } = database;
  try {
    await sql.execute`INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash) VALUES ('d', 'o', 'd', 'd', 'a', '')`;
    await sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id)
      SELECT 's' || n, 'o', 'd', 'a', 'n' || n FROM generate_series(1, ${sessions}::int) n`;
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      await sql.execute`
        INSERT INTO tasks (id, session_key, device_id, owner_id, kind, state, instruction, result, expires_at, finished_at)
        SELECT ${`r${round}`} || '-' || n, 's' || (1 + n % ${sessions}::int), 'd', 'o', 'message', 'completed', '', repeat('x', 200),
          now(), now() - interval '31 days' FROM generate_series(1, ${count}::int) n`;
      await sql.execute`ANALYZE tasks`;
      const pids = await sql.query`SELECT pid FROM pg_stat_activity`;
      const spent = startCpu({ postgres: pids.map(({ pid }) => pid) });
      const [before] = await sql.query`SELECT count(*)::int AS n FROM tasks`;
      await purgeTasks(database);
      await sql.execute`VACUUM tasks`;
      const { postgres: us } = spent();
      const [after] = await sql.query`SELECT count(*)::int AS n FROM tasks`;
      if (round > 0) table.add('a deleted task', 'µs', us / (before.n - after.n));
    }
  } finally {
    await database.close();
    await postgres.stop();
  }
  return [table];
}
