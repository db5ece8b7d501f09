import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createRedisBackplane } from '@relay/backplane';
import { type Cluster, type Instance, connectDaemon, startCluster } from '@relay/testing';
import { conform, suiteLimits } from './conform.ts';
import { throughHaproxy } from './doors.ts';
import { harmOf, unharmed } from './harm.ts';
import { type Load, loadTimes, startLoad } from './load.ts';
import { type Release, buildRelease, migrationsOf, previousCommit, runsWith } from './previous-release.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

const thisRelease = fileURLToPath(new URL('../..', import.meta.url));
const patienceMs = 900_000;

const ready = ({ name, url }: Instance) =>
  until(`${name} is ready`, async () => (await fetch(`${url}/ready`)).status === 200);

/**
 * Promise: a rollout and a rollback need no downtime (docs/operations.md, "Upgrade"): two releases work side by side.
 */
describe('the previous release and this one, in one cluster behind HAProxy', () => {
  let before: Release;
  let cluster: Cluster;
  let truth: Truth;
  let load: Load;
  /** Migrations that the previous release does not know. */
  let added: string[];
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    before = await buildRelease(await previousCommit());
    ends.push(() => before.remove());
    const known = new Set(before.migrations);
    added = (await migrationsOf(thisRelease)).filter((name) => !known.has(name));
    cluster = await startCluster({
      // As in production: while one is replaced and another is slow, a third still answers.
      apis: 3,
      gateways: 3,
      haproxy: true,
      release: before.folder,
      env: { ...loadTimes, ...suiteLimits, DRAIN_SECONDS: '5', TRUST_PROXY: '1' },
    });
    ends.push(() => cluster.stop());
    truth = await openTruth(cluster, cluster.redis.url, join(before.folder, 'prisma/migrations'));
    ends.push(() => truth.close());
    // Two apps for each api: an older release exits as soon as its sockets are closed, so open sockets keep it up until
    // HAProxy has noticed.
    load = await startLoad({ cluster, truth, seed: 60, people: 6, doors: throughHaproxy });
    ends.push(() => load.stop());
  }, patienceMs);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  }, patienceMs);

  const replace = async (instance: Instance, release: string) => {
    await load.fault(`replace ${instance.name}`, async () => expect(await instance.leave()).toBe(0));
    await instance.start(release);
    await ready(instance);
    await load.flows();
  };

  /**
   * The previous release is older than a migration allows: it exits with that reason, and this release takes its place
   * again.
   */
  const refuse = async (instance: Instance) => {
    await load.fault(`replace ${instance.name}`, async () => expect(await instance.leave()).toBe(0));
    await expect(instance.start(before.folder)).rejects.toThrow(/used by a newer release/);
    await instance.start(thisRelease);
    await ready(instance);
    await load.flows();
  };

  /** Repeats the suite until `work` completes; resolves with the failed checks of all runs. */
  const meanwhile = async (work: () => Promise<void>): Promise<string[]> => {
    const failed: string[] = [];
    let done = false;
    const working = work().finally(() => (done = true));
    working.catch(() => undefined);
    while (!done) {
      const verdict = await conform(cluster, before.folder, { again: 5 });
      expect(verdict.passed).toBeGreaterThan(100);
      failed.push(...verdict.failed);
    }
    await working;
    return failed;
  };

  it(
    'the previous release keeps serving during and after the migration',
    async () => {
      await load.flows();
      const migrate = fileURLToPath(new URL('../../packages/database/dist/migrate-cli.js', import.meta.url));
      // Asynchronous, because the fault proxies of the cluster run in this process.
      const env = { ...process.env, DATABASE_URL: cluster.databaseUrl };
      const { stdout } = await promisify(execFile)(process.execPath, [migrate], { env });
      expect(stdout.trim().split('\n')).toEqual(
        added.length === 0 ? ['nothing to apply'] : added.map((name) => `applied ${name}`),
      );
      await load.flows();
      for (const instance of [...cluster.gateways, ...cluster.apis]) await ready(instance);
    },
    patienceMs,
  );

  it(
    'the conformance suite passes while the first api and gateway are replaced',
    async () => {
      const failed = await meanwhile(async () => {
        await replace(cluster.gateways[0]!, thisRelease);
        await replace(cluster.apis[0]!, thisRelease);
      });
      expect(failed).toEqual([]);
    },
    patienceMs,
  );

  it(
    'the conformance suite passes while both releases serve',
    async () => {
      // On a busy machine, a check can look too early; none fails three times.
      const { passed, failed } = await conform(cluster, before.folder, { again: 2 });
      expect(failed).toEqual([]);
      expect(passed).toBeGreaterThan(130);
    },
    patienceMs,
  );

  it(
    'an unknown message of a later release is refused at once, and harms nothing',
    async () => {
      const { deviceId, ...daemon } = await connectDaemon(cluster, { gateway: 0, user: 'carol' });
      const later = await createRedisBackplane({ url: cluster.redis.url, name: 'later' });
      try {
        const say = (body: object) => later.route(deviceId, JSON.stringify(body), patienceMs);
        await until('the device is there', async () => (await say({ v: 1, kind: 'wake' })) === 'sent');
        expect(await say({ v: 2, kind: 'wake' })).toBe('refused');
        expect(await say({ v: 1, kind: 'unheard-of' })).toBe('refused');
        await later.publishControl(JSON.stringify({ v: 2, kind: 'outbox' }));
        await later.publishControl('not even JSON');
        expect(await say({ v: 1, kind: 'wake' })).toBe('sent');
        for (const instance of [...cluster.gateways, ...cluster.apis]) await ready(instance);
        await load.flows();
      } finally {
        await later.close();
        await daemon.close();
      }
    },
    patienceMs,
  );

  it(
    'the conformance suite passes while the others are replaced, and while all roll back, or refuse to with a newer schema',
    async () => {
      const failed = await meanwhile(async () => {
        for (const instance of [...cluster.gateways.slice(1), ...cluster.apis.slice(1)])
          await replace(instance, thisRelease);
        const mayGoBack = await runsWith(before, added);
        for (const instance of [...cluster.apis, ...cluster.gateways])
          if (mayGoBack) await replace(instance, before.folder);
          else await refuse(instance);
      });
      expect(failed).toEqual([]);
    },
    patienceMs,
  );

  it(
    'every promise to concurrent users was kept, and no request failed',
    async () => {
      expect(await harmOf(load, cluster)).toEqual(unharmed);
      expect(load.journal.count('answered')).toBeGreaterThan(50);
    },
    patienceMs,
  );
});
