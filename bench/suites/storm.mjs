// A fleet in a new database: 2,000 daemons register ten sessions each, then a cut brings all of them back at once with
// ten changed sessions, first by plans without statistics, then with them. Each round has a new database.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from '@relay/database';
import { Table } from '../measure.mjs';
import { measured, names, startLoad } from '../systems/all.mjs';
import { startInstances } from '../systems/relay.mjs';
import { startRival } from '../systems/rivals.mjs';
import { countersOf, freePort } from './counts.mjs';

const devices = 2_000;
const window = 64;
const hello = 3;
const patienceMs = 60_000;

export async function storm({ rounds, progress, share, profile, before }) {
  const count = Math.ceil(devices * share);
  const cost = new Table(`${count} daemons with ten changed sessions each: µs per daemon`);
  const speed = new Table(`${count} daemons with ten changed sessions each: seconds until all reports are written`);
  const ratios = new Table(`${count} daemons with ten changed sessions each: ratios to raw`);
  for (let round = 1; round <= rounds; round += 1) {
    const running = [];
    try {
      progress(`round ${round} of ${rounds}: starting`);
      running.push({ name: 'relay', ...(await counted({ people: count, profile })) });
      if (before) running.push({ name: 'before', ...(await counted({ people: count, build: before })) });
      else running.push({ name: 'raw', system: await startRival('raw', { people: count }) });
      for (const one of running) one.load = await startLoad(one.system);
      for (const [what, how] of [
        ['first reports, new database', 'sockets'],
        ['all back at once, no statistics', 'storm'],
        ['all back at once, with statistics', 'storm'],
      ]) {
        const took = {};
        for (const one of running) {
          progress(`round ${round} of ${rounds}: ${what}: ${names[one.name]}`);
          if (what.endsWith('with statistics')) await one.system.database?.sql.execute(sql`ANALYZE`);
          const together = how === 'storm' ? count : window;
          const spent = await measured(one.system, async () => {
            const startedAt = performance.now();
            const written = ((await one.reports?.()) ?? 0) + count;
            await one.load.ask(how, { role: 'daemon', first: 0, count, window: together, hello });
            while (one.reports && (await one.reports()) < written) {
              if (performance.now() - startedAt > patienceMs)
                throw new Error(`${written - (await one.reports())} of ${count} reports not written`);
              await wait(20);
            }
            return (performance.now() - startedAt) / 1000;
          });
          took[one.name] = spent;
          const row = `${what}: ${names[one.name]}`;
          cost.add(row, 'instances and Redis', spent.all / count);
          cost.add(row, 'and PostgreSQL', spent.database / count);
          speed.add(row, 'seconds', spent.result);
        }
        if (before) continue;
        ratios.add(what, 'CPU', took.relay.all / took.raw.all);
        ratios.add(what, 'time', took.relay.result / took.raw.result);
      }
    } finally {
      for (const { load, system } of running.reverse()) {
        await load?.stop();
        await system.stop();
      }
    }
  }
  return [ratios, cost, speed];
}

/** A relay whose gateway counts the reports that are written. */
async function counted(options) {
  // The clients do not wait and connect again, as daemons do after a refusal.
  const env = { CONNECTING_LIMIT: String(devices) };
  const system = await startInstances({ ...options, gateways: 0, env });
  const port = await freePort();
  system.daemonSide.push(await system.launch('gateway', port));
  return { system, reports: async () => (await countersOf(port)).reports };
}
