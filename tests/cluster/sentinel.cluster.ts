import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@relay/testing';
import { type TestSentinel, startSentinel } from '@relay/testing/redis';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** Promise: a failover of Redis can delay, but loses and duplicates nothing. */
describe('a relay that finds Redis through Sentinel', () => {
  let sentinel: TestSentinel;
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    sentinel = await startSentinel();
    cluster = await startCluster({ apis: 2, gateways: 2, env: { ...loadTimes, REDIS_URL: sentinel.url } });
    truth = await openTruth(cluster, sentinel.url);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
    await sentinel.stop();
  });

  it('keeps every promise after the master dies, and after it is frozen', async () => {
    const load = await startLoad({ cluster, truth, seed: 50, people: 4, appsEach: 2 });
    await load.flows();
    await load.fault('kill the master', () => sentinel.master.kill());
    await sentinel.follows(sentinel.replica);
    await load.flows();
    // The old master returns as a replica, and takes over again.
    await sentinel.master.restart();
    await until('it follows', async () => {
      const [role, , , link] = (await sentinel.master.command('ROLE')).split('\n');
      return role === 'slave' && link === 'connected';
    });
    await load.fault('freeze the new master', () => sentinel.replica.pause());
    await sentinel.follows(sentinel.master);
    await load.fault('thaw it, a master without replicas', () => sentinel.replica.resume());
    await load.flows();
    expect(await load.settle({ mayCut: false })).toEqual([]);
  }, 240_000);
});
