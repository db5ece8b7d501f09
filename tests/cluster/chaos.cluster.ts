import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Instance, startCluster } from '@relay/testing';
import type { Chance } from './chance.ts';
import { loadTimes, startLoad, whatTheySaid } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { lasting } from './until.ts';
import { lastOf } from './verdict.ts';

const minutes = Number(process.env.CHAOS_MINUTES ?? '2');
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1_000_000));
/** The file for the journal. Without this variable, the test writes one only after a violation, into `node_modules/.cache`. */
const journalFile = process.env.CHAOS_JOURNAL;
const settleMs = 240_000;

type Fault = readonly [name: string, act: (cluster: Cluster, chance: Chance) => Promise<unknown>];

/** The output of exited processes. */
const lastWords: string[] = [];
const keepWords = ({ name, child }: Instance) => lastWords.push(`${name}:\n${child.output()}\n`);

const restart = async (instance: Instance, chance: Chance) => {
  await instance.kill();
  keepWords(instance);
  await lasting(chance.between(0, 3000));
  await instance.start();
};
const hold = async (begin: () => unknown, end: () => unknown, ms: number) => {
  await begin();
  await lasting(ms);
  await end();
};

const faults: readonly Fault[] = [
  ['kill a gateway', ({ gateways }, chance) => restart(chance.pick(gateways), chance)],
  ['kill an api', ({ apis }, chance) => restart(chance.pick(apis), chance)],
  [
    'replace an instance',
    async ({ apis, gateways }, chance) => {
      const instance = chance.pick([...apis, ...gateways]);
      expect(await instance.leave()).toBe(0);
      keepWords(instance);
      await instance.start();
    },
  ],
  [
    'stop an instance',
    ({ apis, gateways }, chance) => {
      const instance = chance.pick([...apis, ...gateways]);
      return hold(
        () => instance.pause(),
        () => instance.resume(),
        chance.between(100, 8000),
      );
    },
  ],
  [
    'kill Redis',
    ({ redis }, chance) =>
      hold(
        () => redis.kill(),
        () => redis.restart(),
        chance.between(0, 3000),
      ),
  ],
  [
    'freeze Redis',
    ({ redis }, chance) =>
      hold(
        () => redis.pause(),
        () => redis.resume(),
        chance.between(100, 5000),
      ),
  ],
  ['flush Redis', ({ redis }) => redis.flush()],
  ['cut subscriptions', ({ redis }) => redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')],
  [
    'restart PostgreSQL',
    ({ postgres }, chance) =>
      hold(
        () => postgres.halt(),
        () => postgres.resume(),
        chance.between(0, 3000),
      ),
  ],
  [
    'hurt a wire',
    ({ wires }, chance) => {
      // Other tests cover half-open connections to PostgreSQL (delivery, answers): the relay needs half a minute to
      // detect one.
      const [wire, mode] = chance.pick([
        [wires.redis, 'stall'],
        [wires.redis, 'swallow'],
        [wires.redis, 'refuse'],
        [wires.database, 'stall'],
        [wires.database, 'refuse'],
      ] as const);
      return hold(
        () => wire.set(mode),
        () => wire.set('pass'),
        chance.between(100, 4000),
      );
    },
  ],
  [
    'slow a wire',
    ({ wires }, chance) => {
      const wire = chance.pick([wires.redis, wires.database]);
      return hold(
        () => wire.set('pass', { latencyMs: chance.between(5, 150) }),
        () => wire.set('pass'),
        chance.between(500, 5000),
      );
    },
  ],
  ['reset a wire', ({ wires }, chance) => Promise.resolve(chance.pick([wires.redis, wires.database]).reset())],
];

/** Promise: every promise of the relay, under random faults in random order. The same seed causes the same faults. */
describe(`faults by chance for ${minutes} min, seed ${seed}`, () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 3, env: loadTimes });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  it(
    'leave every promise kept',
    async () => {
      const load = await startLoad({ cluster, truth, seed, people: 5, appsEach: 2 });
      const { journal, chance } = load;
      await load.flows();
      const until = performance.now() + minutes * 60_000;
      while (performance.now() < until) {
        const [name, act] = chance.pick(faults);
        await load.fault(name, () => act(cluster, chance));
        for (const { daemon, apps } of load.people) {
          if (chance.below(8) === 0) daemon.drop();
          if (chance.below(8) === 0) chance.pick(apps).drop();
        }
        // Sometimes everything must work again in between, so that the effects of two faults stay apart.
        if (chance.below(3) === 0) await load.flows();
        else await lasting(chance.between(0, 2000));
      }
      await load.fault('no more faults', () => undefined);
      await load.flows();
      const wrong = await load.settle({ mayCut: true });
      const { length } = journal.entries;
      if (wrong.length > 0 || journalFile !== undefined) {
        const file = journalFile ?? `node_modules/.cache/chaos/${seed}.txt`;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, [lastOf(journal, length), '', ...lastWords, whatTheySaid(cluster)].join('\n'));
        process.stderr.write(`seed ${seed}: ${length} events in ${file}\n`);
      }
      const counts = {
        faults: journal.count('fault'),
        tasks: journal.count('accepted'),
        requests: journal.count('asked'),
        frames: journal.count('heard'),
        resyncs: journal.count('resync'),
        connections: journal.count('connected'),
      };
      process.stderr.write(`seed ${seed}: ${JSON.stringify(counts)}\n`);
      expect(wrong).toEqual([]);
    },
    minutes * 60_000 + settleMs,
  );
});
