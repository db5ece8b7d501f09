/** The choices of a deployment, or a test, about the backplane on Redis. */
import type { BackplaneOptions } from '../backplane.ts';

export interface RedisBackplaneOptions extends Partial<BackplaneOptions> {
  /** As `parseRedisUrl` reads it. */
  url: string;
  /** The name of this process: letters, digits, `_`, `.` and `-`; others are replaced. The instance is `${name}-${random}`. */
  name: string;
  /** Begins every key and channel: relays that share a Redis differ in it. Default `relay`. */
  prefix?: string;
  /** Time limit for any Redis operation. Default 1500. */
  commandTimeoutMs?: number;
  /** Time limit for the first connection. Default 10,000. */
  startTimeoutMs?: number;
  /** The longest pause between two attempts to connect again. Default 2000. */
  reconnectMs?: number;
  /** How long a connection can be silent before a test, up to twice that. Default 15,000. */
  probeSilenceMs?: number;
  /** Time limit of that test; after it the connection is rebuilt. Default 5000. */
  probeTimeoutMs?: number;
  /** How often the map of a cluster is read without a reason. Default 5000. */
  mapRefreshMs?: number;
  /**
   * Called with errors that listeners throw and with the reason why Redis is unreachable; never contains a secret.
   * Default: a process warning.
   */
  onError?: (error: unknown) => void;
}
