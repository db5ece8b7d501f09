/** How the members of an instance reach the others: over Redis, or within the only process. */
import { type Backplane, RedisConnectionError, createMemoryBus, createRedisBackplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import { type Database, newestFence } from '@relay/database';
import type { Logger } from '@relay/telemetry';

/** Connects one member under its name. */
export type Connect = (name: string) => Promise<Backplane>;

const lifetimes = ({ leaseTtlMs, resumeHistoryBytes, resumeHistoryMs }: RelayConfig) => ({
  leaseTtlMs,
  historyBytes: resumeHistoryBytes,
  historyTtlMs: resumeHistoryMs,
});

/** For one of several instances. Rejects, when connecting, with the error of `createRedisBackplane`. */
export const overRedis =
  (config: RelayConfig, logger: Logger): Connect =>
  (name) =>
    createRedisBackplane({
      ...lifetimes(config),
      // The roles of several instances are refused without it.
      url: config.redisUrl ?? '',
      name,
      // Log each reason as its own line: the logger must not count a second reason as a repetition of the first.
      onError: (error) =>
        logger.warn(
          { err: error },
          error instanceof RedisConnectionError ? error.message : 'the backplane has trouble',
        ),
    });

/**
 * Milliseconds since 1970, by the clock at the start: setting the clock while the process runs must neither expire
 * leases nor prolong a person's rate-limit window by hours.
 */
const steadyNow = () => Math.floor(performance.timeOrigin + performance.now());

/** For a relay with a single process. */
export async function inMemory(config: RelayConfig, database: Database): Promise<Connect> {
  // Fences are times; a clock that was set back during a restart must not make an older connection the newer one.
  const aheadMs = Math.max(0, (await newestFence(database)) + 1 - steadyNow());
  const bus = createMemoryBus({ ...lifetimes(config), now: () => steadyNow() + aheadMs });
  return async (name) => Promise.resolve(bus.connect(name));
}
