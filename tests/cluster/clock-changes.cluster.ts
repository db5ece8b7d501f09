import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Agent, type Daemon, createDaemon } from '@relay/daemon-kit';
import { type Database, openDatabase, sql } from '@relay/database';
import { type Cluster, registerDevice, startCluster } from '@relay/testing';
import { loadTimes } from './load.ts';
import { until } from './until.ts';

const minuteMs = 60_000;
/** The instants of both clock changes of a year in three zones, in the order of time. */
const changes = [
  { zone: 'America/New_York', at: '2027-03-14T07:00:00Z' },
  { zone: 'Europe/Paris', at: '2027-03-28T01:00:00Z' },
  { zone: 'Australia/Lord_Howe', at: '2027-04-03T15:00:00Z' },
  { zone: 'Australia/Lord_Howe', at: '2027-10-02T15:30:00Z' },
  { zone: 'Europe/Paris', at: '2027-10-31T01:00:00Z' },
  { zone: 'America/New_York', at: '2027-11-07T06:00:00Z' },
] as const;
/** Local times around a change: some do not exist that night, some exist twice. */
const rules = ['30 1 * * *', '45 1 * * *', '15 2 * * *', '30 2 * * *', '0 3 * * *', '*/30 * * * *'];
const [beforeMs, afterMs, stepMs] = [75 * minuteMs, 105 * minuteMs, 15 * minuteMs];

/** The wall clock of a zone as its hour and minute. */
const wall = (at: number, zone: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);

/**
 * The times of a rule from `from` to `to`, by looking at every minute. No reading of the clock counts twice: a time that exists twice counts at
 * its first coming. A time that does not exist counts at the change.
 */
function expected(rule: string, zone: string, change: number, from: number, to: number): number[] {
  const [minute, hour] = rule.split(' ') as [string, string];
  const minutes = Array.from({ length: (to - from) / minuteMs }, (_, index) => from + (index + 1) * minuteMs);
  if (hour === '*') {
    const readings = new Map<string, number>();
    for (const at of minutes) if (!readings.has(wall(at, zone))) readings.set(wall(at, zone), at);
    return [...readings].filter(([reading]) => Number(reading.slice(3)) % 30 === 0).map(([, at]) => at);
  }
  const named = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  const [first] = minutes.filter((at) => wall(at, zone) === named);
  if (first !== undefined) return [first];
  // The clock went over it.
  const isSkipped = wall(change - minuteMs, zone) < named && named < wall(change, zone);
  return isSkipped && from < change && change <= to ? [change] : [];
}

/** Promise: each run of a schedule happens once or is reported as missed (rules, 26.18, 26.20), also in the nights of clock changes. */
describe('schedules over the clock changes of a year, during kills of instances', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-clock-'));
  const got = new Map<string, number>();
  let cluster: Cluster;
  let database: Database;
  let daemon: Daemon;
  let deviceId: string;
  let kills = 0;

  /** The clock of PostgreSQL is the clock of the fleet (ADR 92): a function before the catalogue's in the search path moves it. */
  const setClock = (at: number) =>
    database.sql.execute`UPDATE moved.clock SET by = ${new Date(at)}::timestamptz - pg_catalog.now()`;
  const restart = async (instance: Cluster['apis'][number]) => {
    await instance.kill();
    await instance.start();
  };

  beforeAll(async () => {
    const env = { ...loadTimes, RATE_LIMIT_PER_MINUTE: '100000', SESSION_CREATE_PER_MINUTE: '100000' };
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain', env });
    database = await openDatabase({ url: cluster.databaseUrl });
    const name = new URL(cluster.databaseUrl).pathname.slice(1);
    for (const statement of [
      'CREATE SCHEMA moved',
      "CREATE TABLE moved.clock AS SELECT interval '0' AS by",
      'CREATE FUNCTION moved.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() + by FROM moved.clock $$',
      `ALTER DATABASE "${name}" SET search_path = moved, public, pg_catalog`,
    ])
      await database.sql.execute(sql.raw(statement));
    for (const instance of [...cluster.apis, ...cluster.gateways]) await restart(instance);
    const registration = await registerDevice(cluster);
    const { refreshToken, agentType } = registration;
    ({ deviceId } = registration);
    const agent: Agent = {
      start({ message }, report) {
        got.set(message, (got.get(message) ?? 0) + 1);
        report.complete('done');
        return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
      },
    };
    daemon = createDaemon({
      server: cluster.haproxy!.url,
      ...{ deviceId, refreshToken, agentType, agent, storeDir: folder, daemonVersion: '1.0.0' },
      timings: { initialDelayMs: 50, maxDelayMs: 500 },
    });
    daemon.start();
    await daemon.connected();
  }, 180_000);
  afterAll(async () => {
    await daemon.stop();
    await database.close();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** One instance after another. */
  const kill = async () => {
    const all = [cluster.gateways[0]!, cluster.apis[0]!, cluster.gateways[1]!, cluster.apis[1]!];
    await restart(all[kills % all.length]!);
    kills += 1;
  };

  it.each(changes)(
    '43: runs each time of $zone at $at once',
    async ({ zone, at }) => {
      const change = Date.parse(at);
      const [from, to] = [change - beforeMs, change + afterMs];
      await setClock(from);
      const schedules = new Map<string, string>();
      for (const cron of rules) {
        const message = `${zone} ${at} ${cron}`;
        const rule = { cron, zone, waitSeconds: 600 };
        const { status, body } = await cluster.call('createSchedule', { body: { deviceId, message, ...rule } });
        expect([status, body]).toEqual([201, expect.anything()]);
        schedules.set((body as { id: string }).id, message);
      }
      const rowsOf = () =>
        database.sql.query<{ schedule_id: string; due_at: Date; state: string }>`
        SELECT schedule_id, due_at, state FROM schedule_runs WHERE schedule_id = ANY(${[...schedules.keys()]}) ORDER BY due_at`;
      for (let now = from + stepMs; now <= to; now += stepMs) {
        const killing = kill();
        await setClock(now + 1000);
        const wanted = [...schedules].flatMap(([id, message]) =>
          expected(message.split(' ').slice(2).join(' '), zone, change, from, now).map((due) => `${id} ${due}`),
        );
        await until('the runs of this step have settled', async () => {
          const rows = await rowsOf();
          const there = new Set(rows.map((row) => `${row.schedule_id} ${row.due_at.getTime()}`));
          return wanted.every((one) => there.has(one)) && rows.every(({ state }) => state !== 'started');
        });
        await killing;
      }
      const rows = await rowsOf();
      for (const [id, message] of schedules) {
        const mine = rows.filter((row) => row.schedule_id === id);
        const cron = message.split(' ').slice(2).join(' ');
        expect([message, mine.map(({ due_at: due }) => due.getTime())]).toEqual([
          message,
          expected(cron, zone, change, from, to),
        ]);
        // Each run is done, or reported as something else; its message came once or not at all.
        expect(got.get(message) ?? 0).toBe(mine.filter(({ state }) => state === 'done').length);
        expect((await cluster.call('deleteSchedule', { params: { id } })).status).toBe(204);
      }
      const done = rows.filter(({ state }) => state === 'done').length;
      const others = rows.flatMap(({ state }) => (state === 'done' ? [] : [`, 1 ${state}`]));
      process.stdout.write(
        `${zone} ${at}: ${rows.length} runs, ${done} done${others.join('')}; ${kills} kills so far\n`,
      );
    },
    300_000,
  );
});
