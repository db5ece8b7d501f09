import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type FaultProxy, type TestStandby, startCluster, startFaultProxy } from '@relay/testing';
import { lossesOf } from './failover-verdict.ts';
import { type Load, loadTimes, startLoad, whatTheySaid } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { lasting, until } from './until.ts';
import { judgeJournal, judgeTruth, lastOf } from './verdict.ts';

const seed = Number(process.env.CHAOS_SEED ?? 23);

/**
 * Promise: owners learn about commits that PostgreSQL loses in a failover; the relay keeps every other promise (R11).
 */
describe(`R11: PostgreSQL fails over to a standby that is behind, seed ${seed}`, () => {
  let cluster: Cluster;
  let wire: FaultProxy;
  let standby: TestStandby;
  let load: Load;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: { ...loadTimes, TEST_SWEEP_INTERVAL_MS: '500' } });
    wire = await startFaultProxy({ port: cluster.postgres.address.port });
    standby = await cluster.postgres.startStandby(wire.port);
    truth = await openTruth(cluster);
    load = await startLoad({ cluster, truth, seed, people: 4 });
  }, 180_000);
  afterAll(async () => {
    await load.stop();
    await truth.close();
    await cluster.stop();
    await standby.stop();
    await wire.close();
  });

  it('R11: lost tasks answer 404, no other task runs twice or gets stuck, and no process exits', async () => {
    const { journal } = load;
    await load.flows();
    const accepted = () => journal.count('accepted');
    const enough = accepted() + 20;
    await until('tasks were accepted that survive', () => accepted() >= enough);
    // The standby receives every earlier task. Later commits can be lost, because replication is asynchronous.
    const from = journal.entries.length;
    await lasting(2000);

    await load.fault('the standby receives nothing', () => wire.set('stall'));
    const [more, looks] = [accepted() + 20, (await truth.looks()) + 2];
    await until('tasks were accepted that are lost', () => accepted() >= more);
    // The relay can miss a loss of less than two looks.
    await until('the fleet has looked', async () => (await truth.looks()) >= looks);
    // Connections that open now are lost together with the commits that record them.
    for (const { daemon } of load.people.slice(0, 2)) daemon.drop();
    await load.flows();
    await load.fault('kill the primary', () => cluster.postgres.kill());
    await truth.close();
    wire.set('refuse');
    await load.fault('promote the standby', () => standby.promote());
    const to = journal.entries.length;
    cluster.wires.database.aim(standby.address.port);
    cluster.wires.database.reset();
    await load.flows();
    const again = accepted() + 20;
    await until('tasks are accepted again', () => accepted() >= again);

    const name = new URL(cluster.databaseUrl).pathname.slice(1);
    truth = await openTruth({ ...cluster, databaseUrl: standby.url(name) });
    const { touched, isExcused } = lossesOf(journal, { from, to });
    const rows = new Set((await truth.tasks()).map(({ id }) => id));
    const lost = journal.of('accepted').filter(({ task }) => touched.has(task) && !rows.has(task));
    expect(lost.length).toBeGreaterThan(0);

    await Promise.all(load.people.map(({ requests }) => requests.stop()));
    const ids = load.people.map(({ daemon }) => daemon.registration.deviceId);
    let all: string[] = [];
    const wrongOf = (sentences: string[]) => sentences.filter((sentence) => !isExcused(sentence));
    const agreed = until('database and truth agree', async () => {
      if (!load.people.every(({ daemon }) => daemon.connection !== undefined && daemon.running.size === 0))
        return false;
      const [tasks, devices, fences] = await Promise.all([truth.tasks(), truth.devices(), truth.fences(ids)]);
      all = judgeTruth(journal, { tasks, devices, fences }, new Set<string>());
      return wrongOf(all).length === 0;
    });
    await agreed.catch((error: unknown) => all.push(String(error)));
    for (const { daemon } of load.people) daemon.quieten();
    await load.flows();
    all.push(...judgeJournal(journal, { mayCut: false }));
    const wrong = wrongOf(all);
    for (const { user, apps } of load.people)
      for (const { app } of apps)
        if (!journal.entries.slice(to).some((entry) => entry.what === 'resync' && entry.app === app))
          wrong.push(`app ${app} of ${user} was not told to reload`);
    const counts = {
      tasks: accepted(),
      lost: lost.length,
      outcomeNotKnown: all.filter((sentence) => / is (unknown|failed) /.test(sentence)).length,
      writtenTwice: all.filter((sentence) => sentence.includes('was written twice')).length,
      frames: journal.count('heard'),
    };
    process.stderr.write(`seed ${seed}: ${JSON.stringify(counts)}\n`);
    if (wrong.length > 0 || counts.writtenTwice > 0) {
      const file = `node_modules/.cache/failover/${seed}.txt`;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, [lastOf(journal, journal.entries.length), '', ...all, whatTheySaid(cluster)].join('\n'));
      process.stderr.write(`seed ${seed}: ${journal.entries.length} events in ${file}\n`);
    }
    expect(wrong).toEqual([]);

    // The owner can learn that a task is lost.
    for (const { task, user } of lost.slice(0, 20))
      expect((await cluster.call('GET', `/api/tasks/${task}`, { user })).status).toBe(404);
    for (const { child } of [...cluster.apis, ...cluster.gateways]) expect(child.process.exitCode).toBeNull();
  }, 240_000);
});
