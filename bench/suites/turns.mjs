// A message over REST and the turn that follows: until its daemon has it, and until the app has the outcome. Measures
// the processor time of the instances, Redis and PostgreSQL, and the number of statements.
import { sql } from '@relay/database';
import { startCpu } from '../cpu.mjs';
import { Table, quantile } from '../measure.mjs';
import { measured, names, startLoad } from '../systems/all.mjs';
import { startInstances, startSingle } from '../systems/relay.mjs';
import { countersOf, freePort } from './counts.mjs';

const pairs = 32;
/** Turns that run at a time, each in a session of its own. */
const inFlight = 8;
const count = 600;
const cases = [
  { what: 'a message, until its daemon has it', until: 'sent', batches: 6 },
  { what: 'a whole turn, with two outputs and a text', until: 'ended', batches: 1 },
];

export async function turns({ rounds, share, progress, profile, folder, before }) {
  const cost = new Table(`Turns, ${inFlight} at a time: CPU, µs`);
  const statements = new Table('Turns: statements to PostgreSQL');
  const speed = new Table('Turns: wall clock');
  const running = [];
  try {
    progress('starting');
    running.push({
      name: 'relay',
      ...(await counted(await startInstances({ apis: 0, gateways: 0, people: pairs, profile }))),
    });
    if (before === undefined)
      running.push({ name: 'single', system: await startSingle({ people: pairs, dataDir: folder(), profile }) });
    else running.push({ name: 'before', system: await startInstances({ people: pairs, build: before }) });
    for (const one of running) {
      one.load = await startLoad(one.system);
      await one.load.ask('pairs', { count: pairs });
      await one.load.ask('rest');
    }
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      // A server in use has statistics, and PostgreSQL chooses cached plans by them. The first turns are over.
      if (round === 1) for (const { system } of running) await system.database?.sql.execute(sql`ANALYZE`);
      for (const { what, until, batches } of cases)
        for (const { name, system, load, counters } of running) {
          const each = until === 'sent' ? pairs : Math.ceil(count * share);
          const spent = {
            total: 0,
            apis: 0,
            gateways: 0,
            all: 0,
            redis: 0,
            database: 0,
            statements: 0,
            tookMs: 0,
            p50: [],
            p99: [],
          };
          for (let n = 0; n < batches; n += 1) {
            const own = startCpu({
              apis: system.appSide.map(({ pid }) => pid),
              gateways: system.daemonSide.map(({ pid }) => pid),
            });
            const asked = await counters?.();
            const one = await measured(system, () => load.ask('turns', { count: each, inFlight, until }));
            const { apis, gateways } = own();
            spent.statements += asked === undefined ? NaN : (await counters()) - asked;
            spent.total += each;
            spent.apis += apis;
            spent.gateways += gateways;
            for (const part of ['all', 'redis', 'database']) spent[part] += one[part];
            spent.tookMs += one.result.tookMs;
            for (const part of ['p50', 'p99']) spent[part].push(one.result[part]);
            // A daemon has one message at a time; this row excludes the completion of its turn.
            if (until === 'sent') await load.ask('rest');
          }
          if (round === 0) continue;
          const row = `${what}: ${names[name]}`;
          cost.add(row, 'all', (spent.all + spent.database) / spent.total);
          if (name !== 'single') {
            cost.add(row, 'api', spent.apis / spent.total);
            cost.add(row, 'gateway', spent.gateways / spent.total);
            cost.add(row, 'Redis', spent.redis / spent.total);
            cost.add(row, 'PostgreSQL', spent.database / spent.total);
          }
          if (!Number.isNaN(spent.statements)) statements.add(what, 'statements', spent.statements / spent.total);
          speed.add(row, 'per second', (spent.total / spent.tookMs) * 1000);
          speed.add(row, 'p50 ms', quantile(spent.p50, 0.5));
          speed.add(row, 'p99 ms', Math.max(...spent.p99));
        }
    }
  } finally {
    for (const { load, system } of running.reverse()) {
      await load?.stop();
      await system.stop();
    }
  }
  return [cost, statements, speed];
}

/** One api and one gateway that report their number of statements. */
async function counted(system) {
  const ports = [];
  for (const [role, side] of [
    ['api', system.appSide],
    ['gateway', system.daemonSide],
  ]) {
    const port = await freePort();
    side.push(await system.launch(role, port));
    ports.push(port);
  }
  const counters = async () => {
    const told = await Promise.all(ports.map(countersOf));
    return told.reduce((all, { statements }) => all + statements, 0);
  };
  return { system, counters };
}
