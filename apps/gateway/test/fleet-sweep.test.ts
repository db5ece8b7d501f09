import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createMemoryBus } from '@relay/backplane';
import type { Database } from '@relay/database';
import { type TestRelay, connectDaemon, startRelay, testConfig } from '@relay/testing';
import { openTestDatabase } from '@relay/testing/database';
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

/** The database, and how much it was asked: a transaction counts once. */
function counted(database: Database) {
  const count = { asked: 0 };
  const sql = new Proxy(database.sql, {
    get: (target, name, receiver) => {
      count.asked += 1;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return { count, database: { ...database, sql } };
}

it('K12: fifty gateways with 100,000 devices ask for as much as one would, 500 devices at a time', async () => {
  const fleet = 100_000;
  const real = await openTestDatabase();
  const { count, database } = counted(real);
  await real.sql.execute`
    INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash, status, last_seen_at)
    SELECT 'd' || n, 'user-' || n, '', '', 'claude', '', 'online', now() - interval '5 minutes' FROM generate_series(1, ${fleet}::int) n`;
  const bus = createMemoryBus({ leaseTtlMs: 600_000 });
  const gateways = Array.from({ length: 50 }, (_, n) => bus.connect(`gateway-${n}`));
  for (let n = 1; n <= fleet; n += 1) await gateways[n % 50]!.claim(`d${n}`, 'c');
  const leases = { read: 0 };
  // Every device has its lease: none of them goes offline.
  const unused = new Proxy(
    {},
    {
      get: (_, name) => {
        throw new Error(`${String(name)} is not for this test`);
      },
    },
  );
  const shared = { config: testConfig({ sweepIntervalMs: 600_000 }), database, presence: unused, publisher: unused };
  const metrics = { devices: { set: () => undefined }, devicesCounted: () => undefined };
  const sweepsOf = (backplane: (typeof gateways)[number]) => {
    const owners = backplane.owners.bind(backplane);
    backplane.owners = (ids) => {
      leases.read += ids.length;
      return owners(ids);
    };
    return fleetSweeps({ ...shared, backplane, metrics } as unknown as FleetSweepDeps);
  };
  const jobs = gateways.flatMap(sweepsOf);
  for (const { work } of jobs) await work();
  expect(leases.read).toBe(fleet);
  expect(count.asked).toBeGreaterThan(fleet / 500);
  expect(count.asked).toBeLessThan(fleet / 500 + 100);
  await real.close();
}, 300_000);

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
