/**
 * Whether the database is writable: it can be reachable but read-only (a standby after a failover), or have a full
 * disk.
 */
import type pg from 'pg';
import { planSettings } from './plan-settings.ts';

const roomBytes = 256 * 1024;

interface Writability {
  /** Must be called with every error of a statement. */
  readonly note: (error: unknown) => void;
  /** Rejects if the database does not answer or is not writable. */
  probe(): Promise<void>;
}

/** The warning about a session without the settings that our sessions make: a pooler lends others. */
const unset =
  'Sessions of PostgreSQL lack settings of the relay. Behind a pooler in transaction mode set them for the role: ' +
  "ALTER ROLE relay SET statement_timeout = '30s'; ALTER ROLE relay SET idle_in_transaction_session_timeout = '20s'; " +
  `${planSettings.map((name) => `ALTER ROLE relay SET ${name} = off`).join('; ')}.`;

/** `onWarning` gets a warning once, at the first probe that finds a session without our settings. */
export function writability(pool: pg.Pool, onWarning?: (message: string) => void): Writability {
  let warned = false;
  /** A statement found the disk full. Reads do not show that, and only this case justifies the write test. */
  let full = false;
  return {
    note: (error) => {
      if ((error as { code?: unknown } | undefined)?.code === '53100') full = true;
    },
    probe: async () => {
      const { rows } = await pool.query<{ frozen: boolean; set: boolean }>(
        `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS frozen,
           current_setting('statement_timeout') <> '0' AND current_setting('idle_in_transaction_session_timeout') <> '0'
             AND ${planSettings.map((name) => `current_setting('${name}') = 'off'`).join(' AND ')} AS set`,
      );
      if (rows[0]?.frozen) throw new Error('The database is read-only.');
      if (rows[0]?.set === false && !warned) {
        warned = true;
        onWarning?.(unset);
      }
      if (!full) return;
      // One message is one transaction: the table disappears with it, committed or not.
      await pool.query(`
        CREATE TEMP TABLE relay_room ON COMMIT DROP AS
        SELECT repeat('x', 1000) AS text FROM generate_series(1, ${roomBytes / 1000})`);
      full = false;
    },
  };
}
