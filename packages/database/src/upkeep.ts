/**
 * What a PostgreSQL server does by itself in background processes that an embedded one does not have: VACUUM, without which
 * every update makes a table larger for ever, and checkpoints, without which the write-ahead log grows for ever.
 */
import type pg from 'pg';

const checkpointIntervalMs = 60_000;
/** Half of `max_wal_size` in embedded-pglite.ts. Also what a start after `kill -9` has to replay at most, about. */
const checkpointBytes = 32 * 1024 * 1024;

export interface UpkeepOptions {
  /** Between the end of one round of VACUUM and the begin of the next. */
  vacuumIntervalMs: number;
  /** Runs work that may take longer than an ordinary statement. */
  patiently<T>(work: () => Promise<T>): Promise<T>;
  onWarning: (message: string) => void;
}

/** Starts both timers; they do not keep the process alive. Failures are warnings and tried again. Returns how to stop. */
export function startUpkeep(pool: pg.Pool, options: UpkeepOptions): () => void {
  const stops = [
    repeat('checkpoint', checkpointIntervalMs, () => options.patiently(() => checkpoint(pool)), options.onWarning),
    repeat('VACUUM', options.vacuumIntervalMs, () => options.patiently(() => vacuum(pool)), options.onWarning),
  ];
  return () => stops.forEach((stop) => stop());
}

/** Table by table, so that other statements get their turn in between. */
export async function vacuum(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm') ORDER BY c.oid`,
  );
  for (const { name } of rows) {
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

/** One round at a time: the next is timed from the end of the one before. */
function repeat(name: string, everyMs: number, work: () => Promise<void>, onWarning: (message: string) => void) {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const arm = () => {
    if (stopped) return;
    timer = setTimeout(() => void round(), everyMs);
    timer.unref();
  };
  const round = async () => {
    try {
      await work();
    } catch (error) {
      if (!stopped) onWarning(`${name} of the embedded database failed: ${String(error)}`);
    }
    arm();
  };
  arm();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
