// An hour of an installation: fifteen thousand mostly silent daemons, listening apps, and turns of conversation at a
// steady rate. The load is one process, and many machines allow a process 20,000 descriptors; a gateway reserves a
// fifth of them for other work. Measures the memory of each part while sockets connect and while turns run, always
// after a garbage collection; and the processor time at rest and per turn.
import { setTimeout as wait } from 'node:timers/promises';
import { cpuUs } from '../cpu.mjs';
import { Table, slope } from '../measure.mjs';
import { startLoad } from '../systems/all.mjs';
import { startInstances } from '../systems/relay.mjs';

const daemons = 15_000;
const apps = 3_000;
/** Daemons with an app, whose turns these are; each also counts as a socket of both sides. */
const pairs = 64;
const window = 64;
/** The first sockets fill caches. */
const first = 500;
const restMinutes = 3;
const minutes = 60;
const turnsPerSecond = 5;
const sliceMs = 1_000;
const tenths = 10;

export async function soak({ progress, share }) {
  const [daemonCount, appCount] = [daemons, apps].map((count) => Math.ceil(count * share));
  const firstCount = Math.ceil(first * share);
  const sockets = new Table(`Memory of a socket, ${daemonCount} daemons and ${appCount} apps: KB`);
  const course = new Table(`${minutes * share} minutes of ${turnsPerSecond} turns a second: memory in MB`);
  const turns = new Table('A turn: what it leaves behind, KB');
  const cost = new Table('Processor time');
  progress('starting');
  const system = await startInstances({ people: pairs + daemonCount + firstCount, weighed: true });
  const load = await startLoad(system);
  try {
    const [gateway, api] = [system.daemonSide[0], system.appSide[0]];
    const weigh = async () => {
      const seen = {};
      for (const [name, child] of Object.entries({ gateway, api })) {
        // The observer keeps how long each request took until it is asked.
        await child.take();
        await child.settledMemoryMB();
        const { heap, resident } = await child.settledMemoryMB();
        Object.assign(seen, { [`${name} JavaScript`]: heap, [`${name} resident`]: resident });
      }
      seen.Redis = Number(/used_memory:(\d+)/.exec(await system.redis.command('INFO', 'memory'))[1]) / 1e6;
      const [{ bytes }] = await system.database.sql.query`SELECT pg_database_size(current_database())::float8 AS bytes`;
      seen['PostgreSQL on disk'] = bytes / 1e6;
      return seen;
    };
    /** Processor time by part from now on, µs; a process started later counts completely. */
    const spending = async () => {
      const parts = async () => {
        const { redis, database } = await system.groups();
        return { gateway: [gateway.pid], api: [api.pid], Redis: redis, PostgreSQL: database };
      };
      const pids = Object.values(await parts()).flat();
      const known = new Map(pids.map((pid) => [pid, cpuUs(pid)]));
      const since = (part) => part.reduce((sum, pid) => sum + cpuUs(pid) - (known.get(pid) ?? 0), 0);
      return async () => Object.fromEntries(Object.entries(await parts()).map(([name, part]) => [name, since(part)]));
    };

    await load.ask('pairs', { count: pairs });
    await load.ask('rest');
    await load.ask('sockets', { role: 'daemon', first: pairs, count: firstCount, window, hello: 2 });
    let before = await weigh();
    for (const [role, count] of [
      ['daemon', daemonCount],
      ['app', appCount],
    ]) {
      progress(`connecting ${count} ${role}s`);
      await inParts(count, 1_000, (from, part) =>
        load.ask('sockets', { role, first: pairs + firstCount + from, count: part, window, hello: 2 }),
      );
      const now = await weigh();
      for (const [part, size] of Object.entries(now))
        sockets.add(part, `a ${role}`, ((size - before[part]) * 1000) / count);
      before = now;
    }

    // The first pings release the garbage of connecting.
    await wait(60_000 * share);
    progress('at rest');
    const restMs = restMinutes * 60_000 * share;
    const rest = await spending();
    await wait(restMs);
    const idle = Object.fromEntries(Object.entries(await rest()).map(([part, us]) => [part, us / restMs]));
    for (const [part, usPerMs] of Object.entries(idle)) cost.add(part, 'at rest, % of a core', usPerMs / 10);

    const startedAt = performance.now();
    const points = [{ done: 0, seen: await weigh() }];
    const spent = {};
    let [done, workedMs] = [0, 0];
    for (let tenth = 1; tenth <= tenths; tenth += 1) {
      const until = startedAt + (minutes * share * 60_000 * tenth) / tenths;
      // Weighing collects garbage, which is not the work of a turn.
      const work = await spending();
      const beganAt = performance.now();
      while (performance.now() < until) {
        const next = performance.now() + sliceMs;
        const count = (turnsPerSecond * sliceMs) / 1000;
        await load.ask('turns', { count, inFlight: 2, until: 'ended' });
        done += count;
        await wait(Math.max(0, next - performance.now()));
      }
      for (const [part, us] of Object.entries(await work())) spent[part] = (spent[part] ?? 0) + us;
      workedMs += performance.now() - beganAt;
      const seen = await weigh();
      points.push({ done, seen });
      for (const [part, size] of Object.entries(seen)) course.add(`${tenth * tenths} %`, part, size);
      progress(`${tenth * tenths} %, ${done} turns`);
    }
    for (const [part, us] of Object.entries(spent))
      cost.add(part, 'a turn, µs, without what rest takes', (us - idle[part] * workedMs) / done);
    // From the second tenth on, because the first fills caches.
    const later = points.slice(2);
    const perPoint = (later.at(-1).done - later[0].done) / (later.length - 1);
    for (const part of Object.keys(before))
      turns.add(part, 'a turn', (slope(later.map(({ seen }) => seen[part])) * 1000) / perPoint);
  } finally {
    await load.stop();
    await system.stop();
  }
  return [sockets, turns, cost, course];
}

async function inParts(count, size, act) {
  for (let from = 0; from < count; from += size) await act(from, Math.min(size, count - from));
}
