// A daemon's event on its way to an app: many pairs, several events of each under way, which is saturation; and each one alone.
import { setTimeout as wait } from 'node:timers/promises';
import { Table } from '../measure.mjs';
import { measured, names, startAll } from '../systems/all.mjs';

const pairs = 32;
const window = 8;
/** Lets the apps of the previous case leave: at a steady pace their close would affect one event of a hundred. */
const settleMs = 500;

export const cases = [
  { name: 'event 200 B', bytes: 200, count: 12_000 },
  { name: 'event 4 KB', bytes: 4096, count: 8_000 },
  { name: 'event 200 B to 3 apps', bytes: 200, count: 12_000, others: 2 },
  { name: 'event 200 B, 2,000 a second', bytes: 200, count: 6_000, perSecond: 2_000 },
  { name: 'event 200 B, 5,000 a second', bytes: 200, count: 10_000, perSecond: 5_000 },
  // Kept: written once, to the history of the user. The other systems forward it like any event.
  { name: 'message 200 B, kept for who comes back', bytes: 200, count: 4_000, kept: true },
];

export async function events({ rounds, progress, folder, share, profile, before }) {
  const cost = new Table('Events: CPU of instances and Redis, µs per event');
  const ratios = new Table('Events: ratios of CPU');
  const parts = new Table('Events: where the CPU goes, µs per event');
  const speed = new Table('Events: wall clock');
  const { systems, stop } = await startAll(['relay', 'single', 'raw', 'floor', 'socketio'], {
    people: pairs,
    floorNeeds: 'frames',
    folder,
    progress,
    profile,
    before,
  });
  try {
    for (const { load } of systems) await load.ask('pairs', { count: pairs });
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name: what, bytes, count: full, kept, perSecond, others = 0 } of cases) {
        progress(round === 0 ? `warming up: ${what}` : `round ${round} of ${rounds}: ${what}`);
        const count = Math.ceil(full * share);
        const took = {};
        for (const { name, system, load } of systems) {
          await load.ask('listeners', { count: others });
          await wait(settleMs);
          const one = await measured(system, () => load.ask('events', { bytes, count, window, kept, perSecond }));
          took[name] = one.all / count;
          if (round === 0) continue;
          cost.add(what, names[name], one.all / count);
          parts.add(`${what}: ${names[name]}`, 'instances', one.pods / count);
          parts.add(`${what}: ${names[name]}`, 'Redis', one.redis / count);
          parts.add(`${what}: ${names[name]}`, 'PostgreSQL', one.database / count);
          speed.add(`${what}: ${names[name]}`, 'per second', (count / one.result.tookMs) * 1000);
          speed.add(`${what}: ${names[name]}`, 'p50 ms', one.result.p50);
          speed.add(`${what}: ${names[name]}`, 'p99 ms', one.result.p99);
        }
        if (round === 0) continue;
        ratios.add(what, 'relay / raw', took.relay / took.raw);
        ratios.add(what, 'relay / Socket.IO', took.relay / took.socketio);
        ratios.add(what, 'floor / raw', took.floor / took.raw);
        ratios.add(what, 'single process / raw', took.single / took.raw);
      }
    }
  } finally {
    await stop();
  }
  return [ratios, cost, parts, speed];
}
