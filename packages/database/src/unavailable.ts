/** Separates our errors from a database that is unavailable: 500 or 503. */

/**
 * Prisma: unreachable, login refused, unknown database, timeout, access denied, TLS, connection closed, pool exhausted,
 * write conflict, too many connections. P2028: a transaction did not start or complete in time, as happens on a dead
 * connection; it is rolled back.
 */
const prismaCodes = new Set([
  'P1000',
  'P1001',
  'P1002',
  'P1003',
  'P1008',
  'P1010',
  'P1011',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
  'P2037',
]);
/** The kinds that Prisma's driver adapter derives from driver errors; errors of raw queries carry only these. */
const adapterKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
  'AuthenticationFailed',
  'DatabaseAccessDenied',
  'DatabaseDoesNotExist',
  'TransactionWriteConflict',
]);
/** Node sockets, name resolution, and our own codes for a connection that could not be made and a transaction that was rolled back. */
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'EPROTO',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'DATABASE_UNREACHABLE',
  'TRANSACTION_FAILED',
]);
/**
 * PostgreSQL (Appendix A, Error Codes). Classes: 08 connection, 28 login, 53 resources (a full disk), 57 operator
 * (shutdown, a cancelled statement), 58 system (an I/O error), XX internal (a damaged page). Single codes: read-only,
 * as a standby is after a failover; an idle transaction was terminated; unknown database; a conflict or a deadlock,
 * which a retry avoids; a lock that was not free.
 */
const postgresCode = /^(?:(?:08|28|53|57|58|XX)[0-9A-Z]{3}|25006|25P03|3D000|40001|40P01|55P03)$/;
const tlsCode = /^ERR_(?:TLS|SSL)_/;
/** Errors of the pg driver and its pool, which lack a code. */
const driverTexts = [
  // A server that accepts the connection and does not answer: of the pool, and of a single connection.
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
];

/** True if `fits` accepts `error` or one of its causes. */
function anyCause(error: unknown, fits: (value: object) => boolean): boolean {
  const seen = new Set<unknown>();
  const look = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value) || seen.size > 20) return false;
    seen.add(value);
    if (fits(value)) return true;
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

/**
 * True if `error`, or its cause, shows a temporary failure of the database: it is unreachable, refuses the login, has
 * run out of connections, memory or disk, is read-only, dropped the connection, or exceeded the time limit of a
 * statement or transaction. False for errors that would repeat. After a dropped connection it is unknown whether a
 * commit happened.
 */
export function isUnavailable(error: unknown): boolean {
  return anyCause(error, saysSo);
}

/** True when the database refused a value: not storable (class 22), or a violated constraint (class 23). */
export function isRefusedContent(error: unknown): boolean {
  return anyCause(error, (value) => codesOf(value).some((code) => /^2[23][0-9A-Z]{3}$/.test(code)));
}

/** Every code that an error carries. For some statements only Prisma's text contains the code of PostgreSQL. */
function codesOf(value: object): string[] {
  const { code, errorCode, originalCode, meta, message } = value as Record<string, unknown>;
  const inMeta = (meta as { code?: unknown } | null | undefined)?.code;
  const inText = typeof message === 'string' ? /\bCode: `([0-9A-Z]{5})`/.exec(message)?.[1] : undefined;
  return [code, errorCode, originalCode, inMeta, inText].filter((name) => typeof name === 'string');
}

function saysSo(value: object): boolean {
  const { kind, message = '' } = value as { kind?: string; message?: unknown };
  if (kind !== undefined && adapterKinds.has(kind)) return true;
  const codes = codesOf(value);
  if (
    codes.some(
      (code) => prismaCodes.has(code) || socketCodes.has(code) || postgresCode.test(code) || tlsCode.test(code),
    )
  )
    return true;
  return codes.length === 0 && typeof message === 'string' && driverTexts.some((text) => message.includes(text));
}
