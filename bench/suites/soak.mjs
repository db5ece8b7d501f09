// An hour of an installation as shipped: two apis and two gateways behind two HAProxies, ten thousand mostly silent daemons, two thousand apps,
// and turns of conversation at a steady rate. A third of the way in, every instance is replaced as a Deployment does; after that, Redis restarts
// empty. Measures memory, processor time, statements and commands in the quiet parts; requests, deliveries and events in all of them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startHaProxy } from '@relay/testing';
import { cpuUs } from '../cpu.mjs';
import { Table, slope } from '../measure.mjs';
import { startLoad } from '../systems/all.mjs';
import { startInstances } from '../systems/relay.mjs';
import { countersOf, freePort } from './counts.mjs';

const daemons = 10_000;
const apps = 2_000;
/** People who work; their daemons and apps are further sockets. */
const pairs = 64;
const window = 32;
/** The first sockets fill caches. */
const first = 500;
const restMinutes = 3;
const minutes = 60;
const turnsPerSecond = 5;
const tenths = 10;
const replacedIn = 4;
const redisRestartsIn = 5;
/** From here on nothing happens but turns. */
const quietFrom = 6;
const leaveMs = 180_000;
/** A new instance gets requests within this time. */
const serveMs = 60_000;
const roles = ['api', 'gateway'];

export async function soak({ progress, share }) {
  const [daemonCount, appCount, firstCount] = [daemons, apps, first].map((count) => Math.ceil(count * share));
  const tables = {
    sockets: new Table(`Memory of a socket, ${daemonCount} daemons and ${appCount} apps: KB`),
    turns: new Table('A turn: memory that it leaves behind, KB'),
    cost: new Table('Processor time'),
    counts: new Table('Statements and commands to Redis'),
    course: new Table(`${minutes * share} minutes of ${turnsPerSecond} turns a second: memory in MB`),
    skew: new Table('Sockets of each instance'),
    service: new Table('Turns, by client'),
    faults: new Table('Connections: closes, refusals, and the time until each socket was back'),
  };
  progress('starting');
  const site = await startSite(pairs + daemonCount + firstCount);
  const load = await startLoad(site.system, site.trust);
  try {
    await load.ask('pairs', { count: pairs });
    await load.ask('sockets', { role: 'daemon', first: pairs, count: firstCount, window });
    let before = await site.weigh();
    for (const [role, count] of [
      ['daemon', daemonCount],
      ['app', appCount],
    ]) {
      progress(`connecting ${count} ${role}s`);
      const work = await site.spending();
      await load.ask('sockets', { role, first: pairs + firstCount, count, window });
      for (const [part, us] of Object.entries(await work()))
        tables.cost.add(part, `a ${role} connects, µs`, us / count);
      const now = await site.weigh();
      for (const [part, size] of Object.entries(now))
        tables.sockets.add(part, `a ${role}`, ((size - before[part]) * 1000) / count);
      before = now;
    }

    // The first pings release the garbage of connecting.
    await wait(60_000 * share);
    progress('at rest');
    const restMs = restMinutes * 60_000 * share;
    const [rest, restCounts] = [await site.spending(), await site.counting()];
    await wait(restMs);
    const perMs = (all) => Object.fromEntries(Object.entries(all).map(([part, n]) => [part, n / restMs]));
    const idle = perMs(await rest());
    const idleCounts = perMs(await restCounts());
    for (const [part, usPerMs] of Object.entries(idle)) tables.cost.add(part, 'at rest, % of a core', usPerMs / 10);
    for (const [part, n] of Object.entries(idleCounts)) tables.counts.add(part, 'at rest, a second', n * 1000);
    await load.ask('reconnects');

    const points = [];
    const quiet = { turns: 0, ms: 0, spent: {}, counted: {} };
    for (let tenth = 1; tenth <= tenths; tenth += 1) {
      const name = `${tenth * tenths} %`;
      const isQuiet = tenth < replacedIn || tenth >= quietFrom;
      const [work, counts] = isQuiet ? [await site.spending(), await site.counting()] : [];
      const worked = load.ask('turns', { perSecond: turnsPerSecond, ms: (minutes * share * 60_000) / tenths });
      if (tenth === replacedIn) await site.replaceAll(progress, tables.faults);
      if (tenth === redisRestartsIn) {
        await wait(20_000 * share);
        await site.system.redis.restart();
        progress('Redis restarted');
      }
      const seen = await worked;
      if (isQuiet) {
        quiet.turns += seen.turns;
        quiet.ms += seen.tookMs;
        for (const [into, from] of [
          [quiet.spent, await work()],
          [quiet.counted, await counts()],
        ])
          for (const [part, n] of Object.entries(from)) into[part] = (into[part] ?? 0) + n;
      }
      addService(tables.service, name, seen);
      addReconnects(tables.faults, name, await load.ask('reconnects'));
      for (const [instance, sockets] of Object.entries(await site.sockets())) tables.skew.add(instance, name, sockets);
      const weighed = await site.weigh();
      for (const [part, size] of Object.entries(weighed)) tables.course.add(part, name, size);
      if (tenth >= quietFrom) points.push({ turns: seen.turns, weighed });
      progress(`${name}: ${JSON.stringify(seen)}`);
    }
    for (const [part, us] of Object.entries(quiet.spent))
      tables.cost.add(part, 'a turn, µs, without the rest', (us - idle[part] * quiet.ms) / quiet.turns);
    for (const [part, n] of Object.entries(quiet.counted))
      tables.counts.add(part, 'a turn, without the rest', (n - idleCounts[part] * quiet.ms) / quiet.turns);
    for (const part of Object.keys(before)) {
      const grown = slope(points.map(({ weighed }) => weighed[part])) * 1000;
      tables.turns.add(part, 'a turn', grown / points[0].turns);
    }
  } finally {
    await load.stop();
    await site.stop();
  }
  return Object.values(tables);
}

/** Two instances of each role behind two edges, and a free place for one more of each. */
async function startSite(people) {
  const stops = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const relay = await startInstances({
      apis: 0,
      gateways: 0,
      people,
      weighed: true,
      shippedLimits: true,
      env: { DRAIN_SECONDS: '30', TRUST_PROXY: 'loopback' },
    });
    stops.push(relay.stop);
    const launch = async (role, port) => {
      const metricsPort = await freePort();
      return Object.assign(await relay.launch(role, metricsPort, port), { metricsPort });
    };
    const ports = { api: [], gateway: [] };
    const running = { api: [], gateway: [] };
    for (const role of roles) {
      for (let n = 0; n < 3; n += 1) ports[role].push(await freePort());
      for (const port of ports[role].slice(1)) running[role].push(await launch(role, port));
    }
    const edges = [];
    for (let n = 0; n < 2; n += 1) {
      edges.push(await startHaProxy({ apis: ports.api, gateways: ports.gateway }));
      stops.push(edges[n].stop);
    }
    const trusted = join(tmpdir(), `relay-bench-${process.pid}.pem`);
    writeFileSync(trusted, edges.map(({ certificate }) => readFileSync(certificate, 'utf8')).join('\n'));
    stops.push(() => rmSync(trusted));
    const sockets = edges.map(({ url }) => url.replace('https', 'wss'));

    const each = (act) => Promise.all(roles.flatMap((role) => running[role].map((child, n) => act(child, role, n))));
    const groups = async () => {
      const { redis, database } = await relay.groups();
      const pids = (role) => running[role].map(({ pid }) => pid);
      const edge = edges.flatMap((one) => one.pids());
      return { gateways: pids('gateway'), apis: pids('api'), HAProxy: edge, Redis: redis, PostgreSQL: database };
    };
    const counters = async () => {
      const statements = await each(async ({ metricsPort }) => (await countersOf(metricsPort)).statements);
      const commands = /total_commands_processed:(\d+)/.exec(await relay.redis.command('INFO', 'stats'));
      return { statements: statements.reduce((sum, n) => sum + n, 0), commands: Number(commands[1]) };
    };
    return {
      system: {
        ...relay,
        dialect: 'staying',
        apps: () => sockets,
        daemons: () => sockets,
        http: () => edges.map(({ url }) => url),
      },
      trust: { NODE_EXTRA_CA_CERTS: trusted },
      stop,
      /** Processor time by part from now on, µs; a connection opened later counts completely. */
      spending: async () => {
        const known = new Map(
          Object.values(await groups())
            .flat()
            .map((pid) => [pid, cpuUs(pid)]),
        );
        const since = (pids) => pids.reduce((sum, pid) => sum + cpuUs(pid) - (known.get(pid) ?? 0), 0);
        return async () =>
          Object.fromEntries(Object.entries(await groups()).map(([part, pids]) => [part, since(pids)]));
      },
      counting: async () => {
        const from = await counters();
        return async () =>
          Object.fromEntries(Object.entries(await counters()).map(([part, n]) => [part, n - from[part]]));
      },
      weigh: async () => {
        const seen = {};
        for (const role of roles)
          for (const child of running[role]) {
            // The observer keeps the duration of each request until then.
            await child.take();
            await child.settledMemoryMB();
            const { heap, resident } = await child.settledMemoryMB();
            const add = (part, size) => (seen[part] = (seen[part] ?? 0) + size);
            add(`both ${role}s, JavaScript`, heap);
            add(`both ${role}s, resident`, resident);
          }
        seen.Redis = Number(/used_memory:(\d+)/.exec(await relay.redis.command('INFO', 'memory'))[1]) / 1e6;
        const [{ bytes }] = await relay.database.sql
          .query`SELECT pg_database_size(current_database())::float8 AS bytes`;
        seen['PostgreSQL on disk'] = bytes / 1e6;
        return seen;
      },
      sockets: async () => {
        const found = {};
        await each(async ({ metricsPort }, role, n) => {
          const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
          const kind = role === 'api' ? 'app' : 'daemon';
          const counts = [...text.matchAll(new RegExp(`^relay_${kind}_connections(?:\\{[^}]*\\})? (\\d+)`, 'gm'))];
          found[`${role} ${n + 1}`] = counts.reduce((sum, [, count]) => sum + Number(count), 0);
        });
        return found;
      },
      /** As a Deployment does with a surge of one: the new instance gets requests before the old one leaves. */
      replaceAll: async (progress, table) => {
        for (const role of roles)
          for (let n = 0; n < 2; n += 1) {
            const free = ports[role].find((port) => running[role].every((child) => child.port !== port));
            const child = await launch(role, free);
            const until = performance.now() + serveMs;
            for (const edge of edges)
              while (!(await edge.sends(free))) {
                if (performance.now() > until) throw new Error(`HAProxy sends nothing to the new ${role}`);
                await wait(200);
              }
            const [old] = running[role].splice(n, 1, child);
            const startedAt = performance.now();
            const code = await old.stop(leaveMs);
            table.add(`${role} ${n + 1} replaced`, 'left within, s', (performance.now() - startedAt) / 1000);
            table.add(`${role} ${n + 1} replaced`, 'exit code', code ?? NaN);
            progress(`${role} ${n + 1} replaced`);
          }
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addService(table, name, { turns, completed, twice, asked, outcomes, requests, delivered, shown, failed }) {
  const other = Object.entries({ ...outcomes, ...failed });
  table.add(name, 'turns', turns);
  table.add(name, 'completed', completed);
  table.add(name, 'arrived twice', twice);
  table.add(name, 'found by asking', asked);
  for (const [title, of] of Object.entries({ request: requests, delivery: delivered, event: shown })) {
    table.add(name, `${title} p50 ms`, of.p50);
    table.add(name, `${title} p99 ms`, of.p99);
  }
  table.add(name, 'requests failed, %', requests.failedPercent);
  table.add(name, 'deliveries over 2 s, %', delivered.latePercent);
  table.add(name, 'events over 1 s, %', shown.latePercent);
  for (const [what, count] of other) table.add(name, what, count);
}

function addReconnects(table, name, { closes, refused, back }) {
  for (const [what, count] of Object.entries(closes)) table.add(name, `closed: ${what}`, count);
  for (const [what, count] of Object.entries(refused)) table.add(name, `refused: ${what}`, count);
  for (const [role, { count, p50, p99, most }] of Object.entries(back)) {
    if (count === 0) continue;
    table.add(name, `${role} back, p50 s`, p50 / 1000);
    table.add(name, `${role} back, p99 s`, p99 / 1000);
    table.add(name, `${role} back, last s`, most / 1000);
  }
}
