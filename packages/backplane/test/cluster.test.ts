import { afterAll, beforeAll } from '@jest/globals';
import { type TestRedisCluster, startRedisCluster } from '@relay/testing/redis';
import { describeBackplaneContract } from '../src/contract.ts';
import { deafen, makeRedisBus } from './redis-bus.ts';

let cluster: TestRedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster.stop());

describeBackplaneContract('redis cluster', (options) =>
  makeRedisBus({ url: cluster.url, flush: () => cluster.flush(), deafen: () => deafen(cluster.nodes) }, options),
);
