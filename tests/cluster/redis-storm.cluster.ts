import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@relay/testing';
import { loadTimes, startLoad, whatTheySaid } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { lasting, until } from './until.ts';

const people = 50;

/**
 * Promise: after a mass reconnect during a restart of Redis, all peers are connected, once each, and nothing of theirs
 * is lost.
 */
describe('R11: a reconnect storm of daemons and apps during a restart of Redis', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: loadTimes });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  it('R11: all reconnect, with one connection each, and the relay keeps every promise', async () => {
    const load = await startLoad({ cluster, truth, seed: 22, people, appsEach: 2, everyMs: 4000, lineEveryMs: 2000 });
    const { journal } = load;
    await load.flows();
    const storm = () => {
      for (const { daemon, apps } of load.people) {
        daemon.drop();
        for (const app of apps) app.drop();
      }
    };
    for (const awayMs of [0, 2000]) {
      const back = journal.count('connected');
      await load.fault('drop everybody', storm);
      // Some have reconnected by now.
      await until('some are back', () => journal.count('connected') >= back + people / 5);
      await load.fault('kill Redis', () => cluster.redis.kill());
      await lasting(awayMs);
      await load.fault('drop everybody again', storm);
      await load.fault('restart Redis', () => cluster.redis.restart());
      await load.flows();
    }
    const wrong = await load.settle({ mayCut: false });
    if (wrong.length > 0) process.stderr.write(whatTheySaid(cluster));
    expect(wrong).toEqual([]);
    // They reconnected by themselves, and did not keep replacing their own connections.
    const taken = journal.count('disconnected', ({ code }) => code === 4409);
    expect(taken).toBeLessThan(people);
    for (const { child } of [...cluster.apis, ...cluster.gateways]) expect(child.process.exitCode).toBeNull();
  }, 240_000);
});
