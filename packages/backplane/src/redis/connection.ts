/** A connection to Redis: never resends, never queues while Redis is away, always with a timeout, and no secret in an error. */
import { type RedisOptions, Redis } from 'ioredis';
import { BackplaneError, UncertainError } from '../errors.ts';
import type { RedisAddress, RedisNodeAddress } from './url.ts';

interface ConnectionTimes {
  /** Time limit for one command; twice that in the handshake. */
  commandTimeoutMs: number;
  connectTimeoutMs: number;
  /** The longest pause between two attempts to connect. */
  reconnectMs: number;
}

/**
 * Opens a connection that reconnects by itself, forever. With `node` it goes to that node of a cluster, otherwise to the
 * server or, through the sentinels, to the master. `onFailure` is called with the reason why it is not connected, which holds no
 * secret.
 */
export function openConnection(
  address: RedisAddress,
  times: ConnectionTimes,
  onFailure: (reason: string) => void,
  node: RedisNodeAddress | undefined = address.nodes[0],
): Redis {
  const retryStrategy = (attempt: number) =>
    Math.min(times.reconnectMs, 25 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
  const options: RedisOptions = {
    db: address.db,
    // Redis might have executed a command whose connection closed: never send it again.
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // For the handshake and subscriptions. After a pause of the process, the library checks timeouts before it reads
    // the socket; RedisServer reads first.
    commandTimeout: 2 * times.commandTimeoutMs,
    connectTimeout: times.connectTimeoutMs,
    retryStrategy,
    // A server that became a replica refuses writes from then on: the sentinels know the new master.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.tls ? { tls: {} } : {}),
  };
  if (address.kind === 'sentinel') {
    Object.assign(options, {
      sentinels: address.nodes.map(({ host, port }) => ({ host, port })),
      name: address.master,
      role: 'master',
      failoverDetector: true,
      sentinelRetryStrategy: retryStrategy,
      sentinelReconnectStrategy: retryStrategy,
      sentinelCommandTimeout: times.commandTimeoutMs,
      connectTimeout: times.connectTimeoutMs,
      enableTLSForSentinelMode: address.tls,
      ...(address.tls ? { sentinelTLS: {} } : {}),
      ...(address.sentinelUsername === undefined ? {} : { sentinelUsername: address.sentinelUsername }),
      ...(address.sentinelPassword === undefined ? {} : { sentinelPassword: address.sentinelPassword }),
    } satisfies RedisOptions);
  } else {
    Object.assign(options, { host: node?.host, port: node?.port });
  }
  const connection = new Redis(options);
  // Errors of the library carry the command with its arguments, AUTH among them: only the message is passed on.
  connection.on('error', (error: Error) => {
    // The library handles one error per socket. TLS can emit a second one, which would crash the process.
    const stream = connection.stream as Redis['stream'] | undefined;
    if (stream?.listenerCount('error') === 0) stream.on('error', () => undefined);
    onFailure(reasonOf(error));
  });
  return connection;
}

/** Node's error codes for a name without an address, and for a name server that does not answer. */
const unresolved = new Set(['ENOTFOUND', 'EAI_AGAIN']);

function reasonOf(error: Error & { code?: string; hostname?: string }): string {
  const { code = '', hostname = '', message } = error;
  return unresolved.has(code) ? `the host of REDIS_URL (${hostname}) cannot be resolved (${code})` : message;
}

/**
 * Reconnects after the library gives up: it closes the connection permanently if a failover shows while it asks the
 * sentinels for the master. Does nothing if `isOver`: then we closed the connection ourselves.
 */
export function keepAlive(connection: Redis, isOver: () => boolean): void {
  connection.on('end', () => {
    const timer = setTimeout(() => {
      if (!isOver() && connection.status === 'end') connection.connect().catch(() => undefined);
    }, reviveMs);
    timer.unref();
  });
}

const reviveMs = 50;

/** The error for callers when Redis is unreachable or refuses. */
export function unavailable(error: unknown): BackplaneError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BackplaneError('UNAVAILABLE', `Redis did not answer: ${reason.slice(0, 200)}`);
}

/** The same when the outcome is unknown. */
export function uncertain(reason: string): UncertainError {
  return new UncertainError(`Redis was asked and did not answer: ${reason.slice(0, 200)}`);
}
