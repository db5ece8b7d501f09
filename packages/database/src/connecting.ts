/** A connection to PostgreSQL that cannot be made always means "not now", for any reason: no statement was run. */
import pg from 'pg';

class ConnectError extends Error {
  readonly code = 'DATABASE_UNREACHABLE';
}

/** Node's codes for a host name without an address, and for a name server that does not answer. */
const unresolved = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** The reason of a failed connection, for people: for a host that cannot be resolved it names the variable. */
export function reasonOf(error: unknown): string {
  const { code = '', hostname = '', message = '' } = error as { code?: string; hostname?: string; message?: string };
  if (unresolved.has(code)) return `the host of DATABASE_URL (${hostname}) cannot be resolved (${code})`;
  return message || code || String(error);
}

/** The error of a connection that could not be made. */
export const unreachable = (error: unknown) =>
  new ConnectError(`No connection to PostgreSQL: ${reasonOf(error)}`, { cause: error });

type Done = (error: Error | null, client: pg.Client) => void;

/** A client that fails to connect with the code DATABASE_UNREACHABLE; the reason is its cause. For a pool. */
export class ConnectingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: unknown): Promise<pg.Client> | void {
    if (callback === undefined) return super.connect().catch((error: unknown) => Promise.reject(unreachable(error)));
    super.connect((error: Error | null) => (callback as Done)(error && unreachable(error), this));
  }
}
