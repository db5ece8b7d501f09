import { afterAll, beforeAll } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';
import { describeBackplaneContract } from './contract.ts';
import { deafen, makeRedisBus } from './redis-bus.ts';

let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis({ password: 'p@ss:wörd/%' });
});
afterAll(() => redis.stop());

describeWith('redis-server', 'the contract, on a Redis server', () => {
  describeBackplaneContract('redis', (options) =>
    makeRedisBus({ url: redis.url, flush: () => redis.flush(), deafen: () => deafen([redis]) }, options),
  );
});
