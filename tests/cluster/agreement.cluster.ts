import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@relay/testing';
import { type Load, loadTimes, startLoad, whatTheySaid } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { lasting } from './until.ts';

/** Promise: after a fault, database, leases and daemons agree again, and the relay kept every promise during it. */
describe('the state of the relay is consistent', () => {
  let cluster: Cluster;
  let truth: Truth;
  let load: Load | undefined;
  let seed = 10;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: loadTimes });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });
  afterEach(() => load?.stop());

  /** Runs the faults while people use the relay. Returns the violations. */
  const under = async (faults: (load: Load) => Promise<unknown>, mayCut = false) => {
    load = await startLoad({ cluster, truth, seed: (seed += 1), people: 4 });
    await load.flows();
    await faults(load);
    await load.flows();
    const wrong = await load.settle({ mayCut });
    if (wrong.length > 0) process.stderr.write(whatTheySaid(cluster));
    return wrong;
  };

  it('after PostgreSQL restarted several times', async () => {
    const wrong = await under(async ({ fault, flows }) => {
      for (const awayMs of [0, 1000, 2500]) {
        await fault('halt PostgreSQL', () => cluster.postgres.halt());
        await lasting(awayMs);
        await fault('resume PostgreSQL', () => cluster.postgres.resume());
        await flows();
      }
    });
    expect(wrong).toEqual([]);
  }, 200_000);

  it('after PostgreSQL was unreachable for a while', async () => {
    const wrong = await under(async ({ fault, journal }) => {
      await fault('refuse', () => cluster.wires.database.set('refuse'));
      const refused = () => journal.count('answered', ({ status }) => status === 503);
      const before = refused();
      while (refused() < before + 20) await lasting(50);
      await fault('pass', () => cluster.wires.database.set('pass'));
    });
    expect(wrong).toEqual([]);
  }, 200_000);

  it('after the connections to Redis were half-open', async () => {
    const wrong = await under(async ({ fault, journal }) => {
      await fault('swallow', () => cluster.wires.redis.set('swallow'));
      const refused = () => journal.count('answered', ({ status }) => status === 503);
      const before = refused();
      while (refused() < before + 10) await lasting(50);
      // Half-open connections stay broken: the relay must detect each.
      await fault('pass', () => cluster.wires.redis.set('pass'));
    });
    expect(wrong).toEqual([]);
  }, 200_000);

  it('after Redis was frozen for five seconds', async () => {
    const wrong = await under(async ({ fault }) => {
      await fault('freeze Redis', () => cluster.redis.pause());
      await lasting(5000);
      await fault('thaw Redis', () => cluster.redis.resume());
    });
    expect(wrong).toEqual([]);
  }, 200_000);

  it('after Redis was out of memory', async () => {
    const wrong = await under(async ({ fault, journal }) => {
      await fault('no memory', () => cluster.redis.command('CONFIG', 'SET', 'maxmemory', '100kb'));
      const said = journal.count('said');
      while (journal.count('said') < said + 20) await lasting(50);
      await fault('memory', () => cluster.redis.command('CONFIG', 'SET', 'maxmemory', '0'));
    });
    expect(wrong).toEqual([]);
  }, 200_000);

  it('after each gateway in turn was stuck for longer than a lease', async () => {
    const wrong = await under(async ({ fault, flows }) => {
      for (const gateway of cluster.gateways) {
        await fault(`stop ${gateway.name}`, () => gateway.pause());
        await flows();
        await lasting(7000);
        await fault(`go on ${gateway.name}`, () => gateway.resume());
      }
    }, true);
    expect(wrong).toEqual([]);
  }, 200_000);
});
