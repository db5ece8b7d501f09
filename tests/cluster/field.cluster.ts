import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Instance, startCluster } from '@relay/testing';
import { createChance } from './chance.ts';
import type { Doors } from './doors.ts';
import { fieldKinds } from './field-kinds.ts';
import { type FieldLife, startFieldLife } from './field-life.ts';
import { judgeField, stuckTasks } from './field-verdict.ts';
import { Journal } from './journal.ts';
import { loadTimes, whatTheySaid } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { lasting, until } from './until.ts';
import { judgeJournal, judgeRecords, lastOf } from './verdict.ts';

const seconds = Number(process.env.FIELD_SECONDS ?? '100');
const daemons = Number(process.env.FIELD_DAEMONS ?? '30');
const seed = Number(process.env.FIELD_SEED ?? Math.floor(Math.random() * 1_000_000));
/** The file for the journal. Without this variable, the test writes one only after a violation, into `node_modules/.cache`. */
const journalFile = process.env.FIELD_JOURNAL;

const times: Record<'TEST_STATUS_WAIT_MS' | 'TEST_OUTCOME_ASK_MS' | 'TEST_DAEMON_REPLY_TIMEOUT_MS', string> &
  Record<string, string> = {
  ...loadTimes,
  TEST_DAEMON_REPLY_TIMEOUT_MS: '10000',
  DRAIN_SECONDS: '5',
  // On a busy machine, a daemon can be silent for longer than its reply timeout: the gateway asks it for one minute
  // here, and for two in production.
  TEST_OUTCOME_ASK_MS: '2000',
  TEST_STATUS_WAIT_MS: '1000',
  TEST_STATUS_LOST_MS: '1000',
  TEST_TASK_SILENCE_MS: '15000',
};
/**
 * The maximum time to an outcome while all peers are connected: the wait for a status, a silent daemon, each requested
 * page of its history, and a sweep; twice, for the running task and a queued one.
 */
const outcomeMs =
  2 *
  (Number(times.TEST_STATUS_WAIT_MS) +
    12 * Number(times.TEST_OUTCOME_ASK_MS) +
    5 * Number(times.TEST_DAEMON_REPLY_TIMEOUT_MS) +
    1000);

/**
 * Promise: the relay loses no task of a daemon that never repeats itself, leaves none stuck, and shows nothing twice,
 * even if any gateway dies.
 */
describe(`${daemons} field daemons while gateways die, seed ${seed}`, () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain', env: times });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  it(
    'lose nothing in their history, and every task gets an outcome',
    async () => {
      const journal = new Journal();
      const [chance, faults] = [createChance(seed), createChance(seed + 1)];
      const { url } = cluster.haproxy!;
      const doors: Doors = { api: () => url, gateway: () => url, ca: undefined };
      const kinds = Object.entries(fieldKinds);
      const people: FieldLife[] = [];
      const fault = async (what: string, act: () => Promise<unknown>) => {
        journal.note({ what: 'fault', fault: what });
        await act();
      };
      const unorderly: string[] = [];
      const leave = async (instance: Instance) => {
        const code = await instance.leave();
        if (code !== 0) {
          const words = instance.child.output().trimEnd().split('\n');
          const last = words.findLast((line) => !line.startsWith('{'));
          unorderly.push(`${instance.name} left with ${code}: ${last}`);
        }
        await instance.start();
        await until(`${instance.name} gets requests`, () => cluster.haproxy!.sends(instance.port));
      };
      let wrong: string[] = [];
      try {
        for (let n = 0; n < daemons; n += 1) {
          const [kind, habits] = kinds[n % kinds.length]!;
          const user = `user-${seed * 100 + n}`;
          const life = { cluster, doors, user, kind, habits, journal, chance };
          people.push(await startFieldLife({ ...life, everyMs: 2000, turnMs: 1500 }));
        }
        const untilMs = performance.now() + seconds * 1000;
        for (let n = 0; performance.now() < untilMs; n += 1) {
          await lasting(faults.between(1000, 4000));
          const gateway = faults.pick(cluster.gateways);
          if (n % 5 === 4)
            for (const instance of [...cluster.gateways, ...cluster.apis])
              await fault(`replace ${instance.name}`, () => leave(instance));
          else if (n % 2 === 0) await fault(`SIGTERM ${gateway.name}`, () => leave(gateway));
          else
            await fault(`kill ${gateway.name}`, async () => {
              await gateway.kill();
              await lasting(faults.between(0, 2000));
              await gateway.start();
            });
        }
        await fault('no more faults', () => Promise.resolve());
        await Promise.all(people.map((life) => life.quieten()));
        await until('every daemon is there', () => people.every(({ daemon }) => daemon.connection !== undefined));
        const ids = people.map(({ daemon }) => daemon.deviceId);
        const isSettled = async () => {
          const stuck = stuckTasks(await truth.tasks());
          const waiting = new Set(stuck.filter(({ state }) => state === 'queued').map((row) => row.device_id));
          await Promise.all(people.filter(({ daemon }) => waiting.has(daemon.deviceId)).map((life) => life.reply()));
          return stuck.length === 0;
        };
        // On a timeout, the verdict names the tasks.
        await until('every task has an outcome', isSettled, outcomeMs).catch(() => undefined);
        const records = async () =>
          judgeRecords(journal, {
            tasks: await truth.tasks(),
            devices: await truth.devices(),
            fences: await truth.fences(ids),
          });
        await until('records agree', async () => (await records()).length === 0).catch(() => undefined);
        const tasks = await truth.tasks();
        wrong = [
          ...unorderly,
          ...(await records()),
          ...judgeJournal(journal, { mayCut: true }),
          ...judgeField(journal, tasks),
        ];
        const states: Record<string, number> = {};
        for (const { state, error_code: code } of tasks) states[code ?? state] = (states[code ?? state] ?? 0) + 1;
        const counts = {
          faults: journal.count('fault'),
          shown: journal.count('shown'),
          tasks: tasks.length,
          ...states,
        };
        process.stderr.write(`seed ${seed}: ${JSON.stringify(counts)}\n`);
        if (wrong.length > 0 || journalFile !== undefined) {
          const file = journalFile ?? `node_modules/.cache/field/${seed}.txt`;
          const whose = people.map(({ user, kind, daemon }) => `${user} ${daemon.deviceId} ${kind}`);
          mkdirSync(dirname(file), { recursive: true });
          const stuck = await truth.sessions(stuckTasks(tasks).map((row) => row.session_key));
          const all = [
            ...wrong,
            '',
            ...whose,
            '',
            ...stuck,
            '',
            lastOf(journal, journal.entries.length),
            '',
            whatTheySaid(cluster),
          ];
          writeFileSync(file, all.join('\n'));
          process.stderr.write(`seed ${seed}: the journal is in ${file}\n`);
        }
      } finally {
        await Promise.all(people.map((life) => life.stop()));
      }
      expect(wrong).toEqual([]);
      expect(journal.count('kept')).toBeGreaterThan((daemons * seconds) / 8);
    },
    seconds * 1000 + outcomeMs + 240_000,
  );
});
