/**
 * The upkeep that a PostgreSQL server does in background processes, which an embedded one does not have: VACUUM, without which
 * every update makes a table larger forever, and checkpoints, without which the write-ahead log grows forever.
 */
import type pg from 'pg';

const checkpointIntervalMs = 60_000;
/** As the autovacuum of a server. Statistics matter as much as room: without them the planner reads whole tables. */
const changedIntervalMs = 60_000;
/** The first round of all tables comes soon, because the counters of an earlier process are lost. */
const firstVacuumMs = 300_000;
/** Half of `max_wal_size` in embedded-pglite.ts. Also about the most that a start after `kill -9` has to replay. */
const checkpointBytes = 32 * 1024 * 1024;

interface UpkeepOptions {
  /** Pause after each round of VACUUM. */
  vacuumIntervalMs: number;
  /** Runs work that can take longer than an ordinary statement. */
  patiently<T>(work: () => Promise<T>): Promise<T>;
  onWarning: (message: string) => void;
}

/** Starts the timers; they do not keep the process alive. Failures are warnings and are retried. Returns a function that stops them. */
export function startUpkeep(pool: pg.Pool, options: UpkeepOptions): () => void {
  const { vacuumIntervalMs } = options;
  const every = (name: string, ms: number, work: (pool: pg.Pool) => Promise<void>, firstMs = ms) =>
    repeat(name, { everyMs: ms, firstMs }, () => options.patiently(() => work(pool)), options.onWarning);
  const stops = [
    every('checkpoint', checkpointIntervalMs, checkpoint),
    every('VACUUM of what changed', Math.min(changedIntervalMs, vacuumIntervalMs), vacuumChanged),
    every('VACUUM', vacuumIntervalMs, vacuum, Math.min(firstVacuumMs, vacuumIntervalMs)),
  ];
  return () => stops.forEach((stop) => stop());
}

/** All tables, including the catalog. */
export async function vacuum(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm') ORDER BY c.oid`,
  );
  await vacuumEach(pool, rows);
}

/** Tables with many old row versions, or with many changes since their last ANALYZE: thresholds of PostgreSQL. */
export async function vacuumChanged(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT quote_ident(t.schemaname) || '.' || quote_ident(t.relname) AS name
     FROM pg_stat_user_tables t JOIN pg_class c ON c.oid = t.relid
     WHERE t.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0) OR t.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
     ORDER BY c.oid`,
  );
  await vacuumEach(pool, rows);
}

/** One by one, so that other statements get their turn in between. */
async function vacuumEach(pool: pg.Pool, tables: readonly { name: string }[]): Promise<void> {
  for (const { name } of tables) {
    if (pool.ending) return;
    await pool.query(`VACUUM (ANALYZE) ${name}`).catch((error: { code?: string }) => {
      if (error.code !== '42P01') throw error; // dropped meanwhile
    });
  }
}

/** When enough was written since the last one. */
export async function checkpoint(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ due: boolean }>(
    'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > $1 AS due FROM pg_control_checkpoint()',
    [checkpointBytes],
  );
  if (rows[0]?.due && !pool.ending) await pool.query('CHECKPOINT');
}

/** One round at a time: the pause begins after each round. */
function repeat(
  name: string,
  { everyMs, firstMs }: { everyMs: number; firstMs: number },
  work: () => Promise<void>,
  onWarning: (message: string) => void,
) {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const arm = (ms: number) => {
    if (stopped) return;
    timer = setTimeout(() => void round(), ms);
    timer.unref();
  };
  const round = async () => {
    try {
      await work();
    } catch (error) {
      if (!stopped) onWarning(`${name} of the embedded database failed: ${String(error)}`);
    }
    arm(everyMs);
  };
  arm(firstMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
