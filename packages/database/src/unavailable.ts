/** Is it our mistake or is the database away? The answer decides between 500 and 503. */

/**
 * Prisma: cannot be reached, timed out, connection closed, no connection free, too many connections. P2028: a transaction did not
 * start or did not end in its time, as happens on a connection that is dead without anybody having noticed; it is undone.
 */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037']);
/** What Prisma's driver adapter makes of driver errors; raw queries carry only this. */
const adapterKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);
/** Node sockets and name resolution. */
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
]);
/**
 * PostgreSQL: shutting down, crashed, starting up; too many connections; a transaction ended in which nothing came any more.
 * Class 08 is "connection exception".
 */
const postgresCodes = new Set(['57P01', '57P02', '57P03', '53300', '25P03']);
/** The pg driver and its pool give these without a code. */
const driverTexts = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
];

/**
 * True when `error`, or what caused it, says that the database cannot be reached, has no connection free, dropped the
 * connection, or did not end a transaction in its time; false for everything else, a slow statement included. After a dropped
 * connection it is unknown whether a commit happened.
 */
export function isUnavailable(error: unknown): boolean {
  const seen = new Set<unknown>();
  const look = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value) || seen.size > 20) return false;
    seen.add(value);
    if (saysSo(value)) return true;
    const { cause, meta, errors } = value as {
      cause?: unknown;
      meta?: { driverAdapterError?: unknown };
      errors?: unknown;
    };
    // AggregateError: every address of a host name was tried
    const inner = Array.isArray(errors) ? (errors as unknown[]) : [];
    return look(cause) || look(meta?.driverAdapterError) || inner.some(look);
  };
  return look(error);
}

function saysSo(value: object): boolean {
  const { kind, message = '' } = value as { kind?: string; message?: unknown };
  if (kind !== undefined && adapterKinds.has(kind)) return true;
  const { code, errorCode, originalCode, meta } = value as Record<string, unknown>;
  const inMeta = (meta as { code?: unknown } | null | undefined)?.code;
  for (const name of [code, errorCode, originalCode, inMeta]) {
    if (typeof name !== 'string') continue;
    if (prismaCodes.has(name) || socketCodes.has(name) || postgresCodes.has(name) || /^08[0-9A-Z]{3}$/.test(name))
      return true;
    if (name === 'DATABASE_UNREACHABLE') return true;
  }
  if (typeof message !== 'string') return false;
  // Of some statements Prisma's text is all that says which code PostgreSQL gave.
  if (message.includes('`25P03`')) return true;
  return code === undefined && driverTexts.some((text) => message.includes(text));
}
