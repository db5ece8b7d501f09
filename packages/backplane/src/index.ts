/** The entry of the backplane. Every implementation passes the suite of `test/contract.ts`. */
export type { Backplane, BackplaneInstance, BackplaneOptions } from './backplane.ts';
export type { Command, Commands, RouteOutcome } from './commands.ts';
export { BackplaneError } from './errors.ts';
export { follow } from './follow.ts';
export type { Following } from './follow.ts';
export type { Lease, Leases } from './leases.ts';
export { createMemoryBus } from './memory.ts';
export type { MemoryBus } from './memory.ts';
export { onPoke, poke, poker } from './pokes.ts';
export { createRedisBackplane } from './redis.ts';
export type { RedisBackplane } from './redis.ts';
export { describeRedis } from './redis/describe.ts';
export { RedisConnectionError } from './redis/connection-errors.ts';
export type { RedisBackplaneOptions } from './redis/options.ts';
export { RedisAddressError, parseRedisUrl } from './redis/url.ts';
export type { RedisAddress, RedisNodeAddress } from './redis/url.ts';
export type { Counted, Shared } from './shared.ts';
export type { HistoryPage, UserFrame, UserFrames, VersionedState } from './user-frames.ts';
