/** Drill: a zone is lost, with an api and a gateway in it (docs/situations.md). It prints its time and the loss. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@relay/testing';
import { throughHaproxy } from './doors.ts';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';

const people = 6;

describe('three zones with an api and a gateway each, behind HAProxy', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 3, gateways: 3, haproxy: true, env: loadTimes });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth?.close();
    await cluster?.stop();
  });

  it('keep every promise after one of them is lost, and take all its daemons back', async () => {
    const load = await startLoad({ cluster, truth, seed: 46, people, doors: throughHaproxy });
    await load.flows();
    const disconnected = () => load.journal.count('disconnected');
    const zone = [cluster.apis[0]!, cluster.gateways[0]!];
    const before = disconnected();
    const began = Date.now();
    await load.fault('lose a zone', () => Promise.all(zone.map((instance) => instance.kill())));
    await load.flows();
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    for (const instance of zone) await instance.start();
    const violations = await load.settle({ mayCut: true });
    const { journal } = load;
    // The edge answers requests that the lost api had accepted.
    const lost = violations.filter((violation) => violation.includes('answered 502 "SERVICE_UNAVAILABLE"'));
    process.stdout.write(
      `a zone lost: output of all daemons reaches their apps after ${seconds} s; ${disconnected() - before} sockets of daemons closed; ` +
        `lost: ${lost.length + journal.count('cut')} of ${journal.count('asked')} requests, no message, none twice\n`,
    );
    expect(violations.filter((violation) => !lost.includes(violation))).toEqual([]);
    // A person has one request in progress.
    expect(lost.length).toBeLessThanOrEqual(people);
  }, 600_000);
});
