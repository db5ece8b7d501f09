import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestRelay, connectDaemon, startRelay, testConfig } from '@relay/testing';
import { type FleetSweepDeps, fleetSweeps } from '../src/fleet-sweeps.ts';
import { until } from './conversation.ts';

const devices = 5;
let relay: TestRelay;
/** Of all gateways: how often one asked whether the sweep is its own, how often it was, and how many leases were read. */
const seen = { asked: 0, won: 0, read: 0 };

beforeAll(async () => {
  relay = await startRelay({ gateways: 5, config: { offlineGraceMs: 1 } });
  for (const { backplane } of relay.gateways) {
    const once = backplane.once.bind(backplane);
    const owners = backplane.owners.bind(backplane);
    backplane.once = async (scope, keys, ttlMs) => {
      const first = await once(scope, keys, ttlMs);
      if (keys.includes('orphans')) {
        seen.asked += 1;
        seen.won += first ? 1 : 0;
      }
      return first;
    };
    backplane.owners = (ids) => {
      seen.read += ids.length;
      return owners(ids);
    };
  }
  for (let n = 0; n < devices; n += 1) await connectDaemon(relay, { gateway: n });
});
afterAll(() => relay.stop());

it('K12: each lease of the fleet is read once per sweep, however many gateways there are', async () => {
  const before = { ...seen };
  await until(() =>
    Promise.resolve(seen.won >= before.won + 4 && seen.asked - seen.won >= before.asked - before.won + 2),
  );
  // Of a sweep that is under way at either end a part may be missing.
  expect(seen.read - before.read).toBeGreaterThanOrEqual((seen.won - before.won - 1) * devices);
  expect(seen.read - before.read).toBeLessThanOrEqual((seen.won - before.won + 1) * devices);
});

it('without the backplane every gateway keeps the deadlines of people, and asks the database for nothing else', async () => {
  const asked = new Error('the database was asked');
  const database = new Proxy(
    {},
    {
      get: () => {
        throw asked;
      },
    },
  );
  const backplane = { once: () => Promise.reject(new Error('Redis is away')) };
  const config = testConfig({ redisUrl: 'redis://nowhere' });
  const jobs = fleetSweeps({ config, database, backplane } as unknown as FleetSweepDeps);
  const done: string[] = [];
  for (const { name, work } of jobs)
    await work().catch((error: unknown) => {
      expect(error).toBe(asked);
      done.push(name);
    });
  expect(done).toEqual(['expire', 'prompts']);
  expect(jobs.length).toBeGreaterThan(7);
});
