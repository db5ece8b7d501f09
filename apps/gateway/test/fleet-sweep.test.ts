import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createMemoryBus } from '@relay/backplane';
import { type Database, claimTasks, createSession, startRunning, withDevice } from '@relay/database';
import { type TestRelay, connectDaemon, quickSweeps, startRelay, testConfig } from '@relay/testing';
import { openTestDatabase } from '@relay/testing/database';
import { type FleetSweepDeps, fleetSweeps } from '../src/fleet/fleet-sweeps.ts';
import { until } from './conversation.ts';

const devices = 5;
let relay: TestRelay;
/** Over all gateways: claims of the sweep, successful claims, and the leases they read. */
const seen = { asked: 0, won: 0, read: 0 };

beforeAll(async () => {
  relay = await startRelay({ gateways: 5, config: { offlineGraceMs: 1, ...quickSweeps } });
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
  // A daemon is connected a moment before its device is online, and a sweep in between would not read its lease.
  await until(async () => {
    const { body } = await relay.call('listDevices');
    return body.devices.length === devices && body.devices.every(({ status }) => status === 'online');
  });
});
afterAll(() => relay.stop());

it('K12: each lease of the fleet is read once per sweep, however many gateways there are', async () => {
  const before = { ...seen };
  await until(() =>
    Promise.resolve(seen.won >= before.won + 4 && seen.asked - seen.won >= before.asked - before.won + 2),
  );
  // A sweep in progress at the start or the finish of the window can count partly.
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

it('K12: fifty gateways with 20,000 devices ask for as much as one would, 500 devices at a time', async () => {
  const fleet = 20_000;
  const real = await openTestDatabase();
  const { count, database } = counted(real);
  await real.sql.execute`
    INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash, status, last_seen_at)
    SELECT 'd' || n, 'user-' || n, '', '', 'claude', '', 'online', now() - interval '5 minutes' FROM generate_series(1, ${fleet}::int) n`;
  const bus = createMemoryBus({ leaseTtlMs: 600_000 });
  const gateways = Array.from({ length: 50 }, (_, n) => bus.connect(`gateway-${n}`));
  for (let n = 1; n <= fleet; n += 1) await gateways[n % 50]!.claim(`d${n}`, 'c');
  const leases = { read: 0 };
  // Every device has its lease: all of them stay online.
  const unused = new Proxy(
    {},
    {
      get: (_, name) => {
        throw new Error(`${String(name)} is not for this test`);
      },
    },
  );
  const shared = { config: testConfig({ sweepIntervalMs: 600_000 }), database, presence: unused, publisher: unused };
  const metrics = {
    devices: { set: () => undefined },
    longestWait: { set: () => undefined },
    devicesCounted: () => undefined,
  };
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

it('a device that comes back during the sweep of lost devices keeps its running task', async () => {
  const database = await openTestDatabase();
  const found = { again: '', gone: '' };
  for (const name of ['again', 'gone'] as const) {
    await database.sql.execute`
      INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash, status, last_seen_at)
      VALUES (${name}, 'alice', '', '', 'claude', '', 'offline', now() - interval '2 days')`;
    found[name] = await withDevice(database, name, async (tx) => {
      const of = { ownerId: 'alice', deviceId: name, agentType: 'claude', ttlMs: 60_000 };
      const { taskId } = await createSession(tx, { ...of, message: 'x', title: 'x', projectPath: '' });
      await claimTasks(tx, name, 1);
      await startRunning(tx, taskId);
      return taskId;
    });
  }
  // The first transaction comes after the device was found.
  const transaction: Database['sql']['transaction'] = async (...given) => {
    await database.sql.execute`UPDATE devices SET status = 'online', last_seen_at = now() WHERE id = 'again'`;
    return database.sql.transaction(...given);
  };
  const sql = new Proxy(database.sql, {
    get: (of, name) => (name === 'transaction' ? transaction : (Reflect.get(of, name) as () => void).bind(of)),
  });
  const published: string[] = [];
  const jobs = fleetSweeps({
    config: testConfig({}),
    database: { ...database, sql },
    backplane: { once: () => Promise.resolve(true) },
    publisher: { sessions: (keys: string[]) => Promise.resolve(published.push(...keys)) },
    notify: () => undefined,
  } as unknown as FleetSweepDeps);
  await jobs.find(({ name }) => name === 'abandon')!.work();
  const states = await database.sql.query<{ id: string; state: string; key: string }>`
    SELECT id, state, session_key AS key FROM tasks`;
  const stateOf = new Map(states.map(({ id, state }) => [id, state]));
  expect([stateOf.get(found.again), stateOf.get(found.gone)]).toEqual(['running', 'failed']);
  expect(published).toEqual([states.find(({ id }) => id === found.gone)!.key]);
  await database.close();
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
  expect(done).toEqual(['release', 'schedules', 'expire', 'prompts']);
  expect(jobs.length).toBeGreaterThan(7);
});
