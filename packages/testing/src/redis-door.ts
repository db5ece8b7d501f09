/** The door for tests that need Redis and nothing else. */
export { type TestAuthority, makeAuthority } from './authority.ts';
export { freePort } from './programs.ts';
export { startRedis } from './redis.ts';
export type { TestRedis } from './redis.ts';
export { moveSlots, startRedisCluster, startSentinel } from './redis-groups.ts';
export type { TestRedisCluster, TestSentinel } from './redis-groups.ts';
