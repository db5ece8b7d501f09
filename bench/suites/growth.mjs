// More instances: the extra cost of an event per uninvolved instance; an event at an ordinary rate with one api and one
// gateway, and with four of each; requests to daemons, from two instances to daemons on three.
import { startCpu } from '../cpu.mjs';
import { Table } from '../measure.mjs';
import { measured, names, startAll } from '../systems/all.mjs';
import { askMany, askerOf } from './requests.mjs';

const pairs = 30;
const window = 8;
const inFlight = 64;
const count200 = 12_000;
const questions = { relay: 6_000, before: 6_000, raw: 6_000, socketio: 1_500 };
const ordinary = { bytes: 200, count: 6_000, perSecond: 2_000 };
/** One api and two gateways more. */
const added = ['api', 'gateway', 'gateway'];

export async function growth({ rounds, progress, folder, share, profile, before }) {
  const table = new Table('Events of 200 B: CPU of instances and Redis, µs per event');
  const busy = new Table('Five instances, questions to daemons');
  const ratios = new Table('Five instances: ratios');
  const which = ['relay', 'raw', 'socketio'];
  const few = await startAll(which, { people: pairs, folder, progress, profile, before });
  const many = await startAll(which, { people: pairs, folder, progress, profile, before });
  try {
    for (const { load } of few.systems) await load.ask('pairs', { count: pairs });
    for (const { load } of many.systems) await load.ask('pairs', { count: pairs });
    // The old instances have all the connections, and the new ones are empty.
    for (const one of many.systems) {
      one.idle = [];
      for (const role of added) one.idle.push((await one.system.more(role)).pid);
    }
    const count = Math.ceil(count200 * share);
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up: events' : `round ${round} of ${rounds}: events`);
      for (const [n, { name, system, load }] of few.systems.entries()) {
        const two = await measured(system, () => load.ask('events', { bytes: 200, count, window }));
        const other = many.systems[n];
        const own = startCpu({ idle: other.idle });
        const five = await measured(other.system, () => other.load.ask('events', { bytes: 200, count, window }));
        const { idle } = own();
        if (round === 0) continue;
        table.add(names[name], 'two instances', two.all / count);
        table.add(names[name], 'five instances', five.all / count);
        // The use of busy instances differs between two runs by more than an idle one adds: measure it directly, and Redis.
        table.add(names[name], 'per idle instance: its own', idle / count / added.length);
        table.add(names[name], 'and of Redis', (five.redis - two.redis) / count / added.length);
      }
    }
  } finally {
    await few.stop();
    await many.stop();
  }
  const spread = new Table('Events of 200 B, 2,000 a second: CPU of instances and Redis, µs per event');
  await grow({ rounds, progress, folder, share, profile, before }, spread);
  await ask(which, { rounds, progress, folder, share, profile, before }, busy, ratios);
  return [table, spread, ratios, busy];
}

/** Apps and daemons on one instance of each, and spread over four of each. */
async function grow({ rounds, progress, folder, share, profile, before }, table) {
  const sizes = { '1 + 1': 1, '4 + 4': 4 };
  const running = [];
  try {
    for (const [size, each] of Object.entries(sizes)) {
      const counts = { apis: each, gateways: each, people: pairs };
      const one = await startAll(['relay', 'raw', 'floor'], {
        ...counts,
        floorNeeds: 'frames',
        folder,
        progress,
        profile,
        before,
      });
      running.push({ size, ...one });
      for (const { load } of one.systems) await load.ask('pairs', { count: pairs });
    }
    const count = Math.ceil(ordinary.count * share);
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up: ordinary rate' : `round ${round} of ${rounds}: ordinary rate`);
      const took = {};
      for (const { size, systems } of running)
        for (const { name, system, load } of systems) {
          const { all } = await measured(system, () => load.ask('events', { ...ordinary, count }));
          took[`${name} ${size}`] = all / count;
          if (round > 0) table.add(names[name], size, all / count);
        }
      if (round === 0) continue;
      for (const name of ['relay', 'before', 'raw', 'floor'])
        table.add(names[name], '4 + 4 / 1 + 1', (took[`${name} 4 + 4`] ?? NaN) / took[`${name} 1 + 1`]);
    }
  } finally {
    for (const { stop } of running) await stop();
  }
}

/** Apps on two instances, daemons on three; both of the first ask. */
async function ask(which, { rounds, progress, folder, share, profile, before }, busy, ratios) {
  const five = await startAll(which, { people: pairs, apis: 2, gateways: 3, folder, progress, profile, before });
  try {
    for (const one of five.systems) {
      const sessions = await one.load.ask('pairs', { count: pairs });
      one.askers = [await askerOf(one.system, sessions, 0), await askerOf(one.system, sessions, 1)];
    }
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up: questions' : `round ${round} of ${rounds}: questions`);
      const seen = {};
      for (const { name, system, askers } of five.systems) {
        const total = Math.ceil(questions[name] * share);
        const extra = startCpu({ askers: askers.filter(({ isExtra }) => isExtra).map(({ pid }) => pid) });
        const how = { count: Math.ceil(total / 2), inFlight: inFlight / 2, first: 0, users: pairs };
        const one = await measured(system, () => Promise.all(askers.map(({ url }) => askMany(url, how))));
        const tookMs = Math.max(...one.result.map((asked) => asked.tookMs));
        seen[name] = {
          rate: (total / tookMs) * 1000,
          p99: Math.max(...one.result.map((asked) => asked.p99)),
          cpu: (one.all + extra().askers) / total,
        };
        if (round === 0) continue;
        busy.add(names[name], 'CPU, µs', seen[name].cpu);
        busy.add(names[name], 'per second', seen[name].rate);
        busy.add(names[name], 'p99 ms', seen[name].p99);
      }
      if (round === 0) continue;
      if (before !== undefined) continue;
      ratios.add('questions, CPU', 'relay / raw', seen.relay.cpu / seen.raw.cpu);
      ratios.add('questions, CPU', 'relay / Socket.IO', seen.relay.cpu / seen.socketio.cpu);
      ratios.add('questions, rate', 'relay / raw', seen.relay.rate / seen.raw.rate);
      ratios.add('questions, rate', 'relay / Socket.IO', seen.relay.rate / seen.socketio.rate);
      ratios.add('questions, p99', 'relay / raw', seen.relay.p99 / seen.raw.p99);
      ratios.add('questions, p99', 'relay / Socket.IO', seen.relay.p99 / seen.socketio.p99);
    }
  } finally {
    await five.stop();
  }
}
