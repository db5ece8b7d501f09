import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@relay/testing';
import { throughHaproxy } from './doors.ts';
import { harmOf, unharmed } from './harm.ts';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** Promise: every instance can be replaced under traffic without an error for any client. */
describe('two apis and two gateways behind HAProxy, replaced one after the other under load', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: true, env: { ...loadTimes, DRAIN_SECONDS: '5' } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  it('keep every promise, answer every request, and exit with 0', async () => {
    const load = await startLoad({ cluster, truth, seed: 30, people: 5, doors: throughHaproxy });
    await load.flows();
    for (const instance of [...cluster.gateways, ...cluster.apis, ...cluster.gateways]) {
      await load.fault(`leave ${instance.name}`, async () => expect(await instance.leave()).toBe(0));
      await load.flows();
      await instance.start();
      // Like an orchestrator, waits until this instance gets requests before it replaces the next: HAProxy sends none
      // before its health check.
      await until(`${instance.name} gets requests`, () => cluster.haproxy!.sends(instance.port));
      await load.flows();
    }
    expect(await harmOf(load, cluster)).toEqual(unharmed);
    expect(load.journal.count('answered')).toBeGreaterThan(50);
  }, 300_000);
});
