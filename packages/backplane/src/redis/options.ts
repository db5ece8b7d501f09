/** The choices of a deployment, or a test, about the backplane on Redis. */
import type { BackplaneOptions } from '../backplane.ts';

export interface RedisBackplaneOptions extends Partial<BackplaneOptions> {
  /** As `parseRedisUrl` reads it. */
  url: string;
  /** The name of this process: letters, digits, `_`, `.` and `-`; others are replaced. The instance is `${name}-${random}`. */
  name: string;
  /** Begins every key and channel: relays that share a Redis differ in it. Default `relay`. */
  prefix?: string;
  /** How long anything asked of Redis may take. Default 1500. */
  commandTimeoutMs?: number;
  /** How long the first connection may take. Default 10,000. */
  startTimeoutMs?: number;
  /** The longest pause between two attempts to connect again. Default 2000. */
  reconnectMs?: number;
  /** How long a connection may be silent before it is tested, up to twice that. Default 15,000. */
  probeSilenceMs?: number;
  /** How long that test may take before the connection is rebuilt. Default 5000. */
  probeTimeoutMs?: number;
  /** How often the map of a cluster is read without a reason. Default 5000. */
  mapRefreshMs?: number;
  /** Hears what a listener threw and why Redis cannot be reached; never holds a secret. Default: a process warning. */
  onError?: (error: unknown) => void;
}
