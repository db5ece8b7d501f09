import { afterAll, beforeAll } from '@jest/globals';
import { type TestSentinel, startSentinel } from '@relay/testing/redis';
import { describeBackplaneContract } from '../src/contract.ts';
import { makeRedisBus } from './redis-bus.ts';

let group: TestSentinel;

beforeAll(async () => {
  group = await startSentinel();
});
afterAll(() => group.stop());

describeBackplaneContract('redis by sentinel', (options) => makeRedisBus(group, options));
