import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, newUlid, openDatabase } from '@relay/database';
import { type Cluster, type Instance, startCluster } from '@relay/testing';
import { type Chance, createChance } from './chance.ts';
import { type PushDoubles, kinds, sequenceOf, startPushDoubles } from './push-doubles.ts';
import { lasting, until } from './until.ts';

const minutes = Number(process.env.CHAOS_MINUTES ?? '1');
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1_000_000));
const people = 60;
/** At a higher rate, the notifications of one minute can become a digest. */
const notificationsPerSecond = 10;
/** Two claims of a minute each, and their attempts. */
const settleMs = 300_000;

interface LedgerRow {
  id: string;
  subscription_id: string;
  cause: string;
  state: string;
  maybe_duplicate: boolean;
}

/** Promise: rules, 14.8. The same seed causes the same faults. */
describe(`deliveries for ${minutes} min, seed ${seed}`, () => {
  const chance: Chance = createChance(seed);
  let doubles: PushDoubles;
  let cluster: Cluster;
  let database: Database;

  beforeAll(async () => {
    doubles = await startPushDoubles(createChance(seed + 1));
    cluster = await startCluster({
      ...{ apis: 3, gateways: 0 },
      env: { ...doubles.env, TEST_OUTBOX_POLL_MS: '500' },
    });
    database = await openDatabase({ url: cluster.databaseUrl });
  }, 180_000);
  afterAll(async () => {
    await database.close();
    await cluster.stop();
    await doubles.stop();
  });

  const userOf = (n: number) => `person-${n}`;
  /** Adds a paused or removed address again, like its owner. Fails while the api is down. */
  const add = async (n: number) => {
    const body = doubles.bodyOf(kinds[n % kinds.length]!, n);
    const at = { user: userOf(n % people), api: chance.below(2) };
    const { status, body: answer } = await cluster.call('addSubscription', { body, ...at });
    if (status < 300 && answer.subscription.state === 'unverified')
      await cluster.call('testSubscription', { params: { id: answer.subscription.id }, ...at });
    return status < 300;
  };
  const kindOf = new Map<string, string>();
  const noteKinds = async () => {
    const rows = await database.sql.query<{ id: string; kind: string }>`SELECT id, kind FROM subscriptions`;
    for (const { id, kind } of rows) kindOf.set(id, kind);
  };
  const notify = async () => {
    const user = cluster.issuer.userId(userOf(chance.below(people)));
    await database.sql.execute`
      INSERT INTO notifications (id, user_id, session_key, session_id, name, cause)
      VALUES (${newUlid()}, ${user}, '', '', 'chaos', 'device_allowed')`;
  };
  const count = async (states: string) => {
    const [row] = await database.sql.query<{ n: number }>`
      SELECT count(*)::int AS n FROM deliveries WHERE state = ANY(string_to_array(${states}, ','))`;
    return row!.n;
  };

  it(
    'get an outcome each, arrive at most twice, and are marked if they might have arrived twice',
    async () => {
      const counts = { notifications: 0, kills: 0, stops: 0, longStops: 0 };
      for (let n = 0; n < people * 2; n += 1) await until(`address ${n}`, () => add(n));
      await noteKinds();
      const end = performance.now() + minutes * 60_000;
      const isOver = () => performance.now() >= end;

      const flow = async () => {
        while (!isOver()) {
          await notify();
          counts.notifications += 1;
          if (chance.below(10) === 0) {
            await add(chance.below(people * 2)).catch(() => false);
            await noteKinds();
          }
          await lasting(1000 / notificationsPerSecond);
        }
      };
      /** Kills and restarts an instance, or stops it for a moment. */
      const hurt = async (instance: Instance) => {
        while (!isOver()) {
          await lasting(chance.between(500, 6000));
          if (chance.below(2) === 0) {
            counts.kills += 1;
            await instance.kill();
            await lasting(chance.between(0, 2000));
            await instance.start();
          } else {
            counts.stops += 1;
            instance.pause();
            await lasting(chance.between(500, 10_000));
            instance.resume();
          }
        }
      };
      /** Stops an instance for longer than a claim lasts, and resumes it. */
      const stopLong = async (instance: Instance) => {
        while (!isOver()) {
          await lasting(chance.between(2000, 8000));
          counts.longStops += 1;
          instance.pause();
          await lasting(chance.between(65_000, 80_000));
          instance.resume();
        }
      };
      const [first, second, third] = cluster.apis;
      await Promise.all([flow(), hurt(first!), hurt(second!), stopLong(third!)]);

      doubles.calm();
      for (let n = 0; n < people * 2; n += 1) await until(`address ${n} again`, () => add(n));
      await until(
        'nothing is left',
        async () => {
          // Moves the ledger forward, so that no row has to wait for its retry.
          await database.sql.execute`UPDATE deliveries SET next_at = now() WHERE state = 'pending'`;
          const [left] = await database.sql.query<{ n: number }>`
            SELECT count(*)::int AS n FROM notifications WHERE state IN ('pending', 'sending')`;
          return left!.n === 0 && (await count('pending,sending')) === 0;
        },
        settleMs,
      );
      await noteKinds();

      const ledger = await database.sql.query<LedgerRow>`
        SELECT id, subscription_id, cause, state, maybe_duplicate FROM deliveries`;
      const timesOf = ({ id, cause, subscription_id: address }: LedgerRow) =>
        doubles.taken.get(kindOf.get(address) === 'ntfy' ? sequenceOf(cause, id) : id) ?? 0;
      const twice = ledger.filter((row) => timesOf(row) === 2);
      const states = new Map<string, number>();
      for (const { state } of ledger) states.set(state, (states.get(state) ?? 0) + 1);
      const printed = {
        ...counts,
        deliveries: ledger.length,
        outcomes: Object.fromEntries(states),
        taken: [...doubles.taken.values()].reduce((sum, times) => sum + times, 0),
        takenTwice: twice.length,
        flagged: ledger.filter((row) => row.maybe_duplicate).length,
        answers: Object.fromEntries([...doubles.answers].sort(([a], [b]) => a.localeCompare(b))),
      };
      process.stderr.write(`seed ${seed}: ${JSON.stringify(printed)}\n`);
      expect(ledger.filter((row) => timesOf(row) > 2)).toEqual([]);
      expect(twice.filter((row) => !row.maybe_duplicate)).toEqual([]);
      // Accepted means that a service accepted the delivery.
      expect(ledger.filter((row) => row.state === 'accepted' && timesOf(row) === 0)).toEqual([]);
      expect(printed.taken).toBeGreaterThan(0);
      expect(printed.flagged).toBeGreaterThan(0);
    },
    minutes * 60_000 + settleMs + 180_000,
  );
});
