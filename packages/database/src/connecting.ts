/** A connection to PostgreSQL that does not come about is always "not now", for whatever reason: nothing of ours was looked at. */
import pg from 'pg';

class ConnectError extends Error {
  readonly code = 'DATABASE_UNREACHABLE';
}

const told = (error: Error) => new ConnectError(`No connection to PostgreSQL: ${error.message}`, { cause: error });

type Told = (error: Error | null, client: pg.Client) => void;

/** A client that fails to connect with the code DATABASE_UNREACHABLE; the reason is its cause. For a pool. */
export class ConnectingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: unknown): Promise<pg.Client> | void {
    if (callback === undefined) return super.connect().catch((error: unknown) => Promise.reject(told(error as Error)));
    super.connect((error: Error | null) => (callback as Told)(error && told(error), this));
  }
}
