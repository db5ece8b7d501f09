/** The door of the backplane. The suite that every implementation passes is behind `@relay/backplane/contract`. */
export type {
  Backplane,
  BackplaneOptions,
  Command,
  Counted,
  HistoryItem,
  HistoryPage,
  Lease,
  RouteOutcome,
  UserFrame,
} from './backplane.ts';
export { BackplaneError } from './errors.ts';
export type { BackplaneErrorCode } from './errors.ts';
export { follow } from './follow.ts';
export type { FollowHandlers, Following } from './follow.ts';
export { createMemoryBus } from './memory.ts';
export type { MemoryBus, MemoryBusOptions } from './memory.ts';
export { createRedisBackplane } from './redis.ts';
export { RedisTrouble } from './redis/trouble.ts';
export type { RedisBackplane, RedisBackplaneOptions } from './redis.ts';
export { RedisAddressError, parseRedisUrl } from './redis/url.ts';
export type { RedisAddress, RedisNodeAddress } from './redis/url.ts';
