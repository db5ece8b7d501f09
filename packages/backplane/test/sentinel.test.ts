import { afterAll, beforeAll } from '@jest/globals';
import { type TestSentinel, startSentinel } from '@relay/testing/redis';
import { describeBackplaneContract } from '../src/contract.ts';
import { deafen, makeRedisBus } from './redis-bus.ts';

let group: TestSentinel;

beforeAll(async () => {
  group = await startSentinel();
});
afterAll(() => group.stop());

describeBackplaneContract('redis by sentinel', (options) =>
  makeRedisBus(
    { url: group.url, flush: () => group.flush(), deafen: () => deafen([group.master, group.replica]) },
    options,
  ),
);
