/** Whether the database may be written: it can be there and be read-only (a standby after a failover), or have a full disk. */
import type pg from 'pg';

const roomBytes = 256 * 1024;

export interface Writability {
  /** Must be called with every error of a statement. */
  readonly note: (error: unknown) => void;
  /** Rejects when the database does not answer or may not be written. */
  probe(): Promise<void>;
}

export function writability(pool: pg.Pool): Writability {
  /** A statement found the disk full. Reading says nothing about that, and trying to fill it is for this case alone. */
  let full = false;
  return {
    note: (error) => {
      if ((error as { code?: unknown } | undefined)?.code === '53100') full = true;
    },
    probe: async () => {
      const { rows } = await pool.query<{ frozen: boolean }>(
        `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS frozen`,
      );
      if (rows[0]?.frozen) throw new Error('The database is read-only.');
      if (!full) return;
      // One message is one transaction: the table is gone when it ends, committed or not.
      await pool.query(`
        CREATE TEMP TABLE relay_room ON COMMIT DROP AS
        SELECT repeat('x', 1000) AS text FROM generate_series(1, ${roomBytes / 1000})`);
      full = false;
    },
  };
}
