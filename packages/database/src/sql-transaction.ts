/** Transactions of hand-written statements: a time for the whole, and one for each statement. */
import type pg from 'pg';
import type { Transactions } from './db.ts';
import type { StatementKind } from './observed-adapter.ts';
import type { RaisedInboxes } from './raised-inboxes.ts';
import type { Sql } from './sql.ts';
import { type Observers, type Send, SqlError, type StatementOf, sendOver, statements } from './statements.ts';

/**
 * A transaction that took too long, or continued after its commit or after a failed statement. It is rolled back: a
 * retry can succeed.
 */
class TransactionError extends Error {
  readonly code = 'TRANSACTION_FAILED';
}

const refuse: Send = () => Promise.reject(new TransactionError('The statement was the whole transaction.'));

export function transactions(
  pool: pg.Pool,
  statementOf: StatementOf,
  { onStatement, onError, timeoutMs, raised }: Observers & { timeoutMs: number; raised: RaisedInboxes },
): Transactions['sql']['transaction'] {
  const timed = async <T>(kind: StatementKind, act: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    let ok = false;
    try {
      const result = await act();
      ok = true;
      return result;
    } finally {
      onStatement?.(kind, (performance.now() - startedAt) / 1000, ok);
    }
  };

  const sendAlone = async (statement: Sql): Promise<unknown[]> => {
    const line = await pool.connect();
    const people = raised.on(line);
    let isLost = true;
    try {
      const { rows } = await sendOver(line, { onStatement, onError })('query', statementOf(statement, []));
      isLost = false;
      people.publish();
      return rows as unknown[];
    } catch (error) {
      isLost = !(error instanceof SqlError);
      throw error;
    } finally {
      people.stop();
      line.release(isLost);
    }
  };

  return async (work, opening = [], alone) => {
    if (alone) return work({ sql: statements(refuse, statementOf) }, await Promise.all(opening.map(sendAlone)));
    const beganAt = performance.now();
    const reportBegin = (ok: boolean) => onStatement?.('begin', (performance.now() - beganAt) / 1000, ok);
    const line = await pool.connect().catch((error: unknown) => {
      reportBegin(false);
      throw error;
    });
    const people = raised.on(line);
    let state: 'open' | 'late' | 'over' = 'open';
    const isLate = () => state === 'late';
    const leave = (broken: boolean) => {
      state = state === 'late' ? 'late' : 'over';
      clearTimeout(clock);
      people.stop();
      if (broken) drop(line);
      else line.release();
    };
    const late = (cause?: unknown) =>
      new TransactionError(`The transaction took longer than ${timeoutMs} ms and was rolled back.`, { cause });
    const clock = setTimeout(() => {
      state = 'late';
      // The statement under way fails, and the database rolls back.
      leave(true);
    }, timeoutMs);
    const overTheLine = sendOver(line, { onStatement, onError });
    const send: Send = (kind, statement) => {
      if (isLate()) throw late();
      if (state === 'over') throw new TransactionError('The transaction has ended.');
      return overTheLine(kind, statement);
    };

    /** Sends BEGIN and `opening` in one write. */
    const begin = async (): Promise<unknown[][]> => {
      const { stream } = line.connection;
      stream.cork();
      const begun = line.query('BEGIN').then(
        () => reportBegin(true),
        (error: unknown) => {
          reportBegin(false);
          throw error;
        },
      );
      const rows = opening.map(async (one) => (await overTheLine('query', statementOf(one, []))).rows as unknown[]);
      stream.uncork();
      return (await Promise.all([begun, Promise.all(rows)]))[1];
    };

    try {
      const opened = await begin();
      const result = await work({ sql: statements(send, statementOf) }, opened);
      if (isLate()) throw late();
      // COMMIT has the time of a statement, so that its outcome is known.
      clearTimeout(clock);
      const { command } = await timed('commit', () => line.query('COMMIT'));
      // A statement had failed, and `work` continued.
      if (command !== 'COMMIT') throw new TransactionError('A statement failed, so nothing was committed.');
      leave(false);
      people.publish();
      return result;
    } catch (error) {
      if (isLate()) throw error instanceof TransactionError ? error : late(error);
      clearTimeout(clock);
      const undone = await timed('rollback', () => line.query('ROLLBACK')).then(
        () => true,
        () => false,
      );
      leave(!undone);
      throw error;
    }
  };
}

/** Closes the connection immediately: the driver would wait for the running statements. */
function drop(line: pg.PoolClient): void {
  line.connection.stream.destroy();
  line.release(true);
}
