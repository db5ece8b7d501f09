// Connecting daemons: accepted, authenticated, device claimed and online; with `status` and an empty report; and all of
// them at once after a cut. The instance either knew the device within the last minute, or does not know it.
import { Table } from '../measure.mjs';
import { measured, names, startAll } from '../systems/all.mjs';

const perRound = 300;
const window = 64;

export async function connect({ rounds, progress, folder, share, profile, before }) {
  const ratios = new Table('Daemons that connect: ratios of CPU');
  const cost = new Table('Daemons that connect: CPU, µs per connection');
  const speed = new Table('Daemons that connect: wall clock');
  const count = Math.ceil(perRound * share);
  // A device that connects more than ten times a minute is slowed down: each round has its own.
  const { systems, stop } = await startAll(['relay', 'single', 'raw', 'floor', 'socketio'], {
    people: count * (rounds + 1),
    floorNeeds: 'ping',
    folder,
    progress,
    profile,
    before,
  });
  const cases = [
    { name: 'accept, authenticate, claim', hello: 0, how: 'sockets' },
    { name: 'the same, status and report', hello: 2, how: 'sockets' },
    { name: 'cut, and all back at once, status and report', hello: 2, how: 'storm' },
    { name: 'the same, ten changed sessions in the report', hello: 3, how: 'storm' },
  ];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name: what, hello, how } of cases) {
        progress(round === 0 ? `warming up: ${what}` : `round ${round} of ${rounds}: ${what}`);
        const took = {};
        for (const { name, system, load } of systems) {
          const first = round * count;
          const together = how === 'storm' ? count : window;
          const one = await measured(system, () =>
            load.ask(how, { role: 'daemon', first, count, window: together, hello }),
          );
          if (what === cases[0].name) await measured(system, () => load.ask('leave'));
          took[name] = one.all / count;
          if (round === 0) continue;
          const row = `${what}: ${names[name]}`;
          cost.add(row, 'instances and Redis', one.all / count);
          cost.add(row, 'of it Redis', one.redis / count);
          cost.add(row, 'and PostgreSQL', one.database / count);
          speed.add(row, 'all in, ms', one.result.tookMs);
          speed.add(row, 'all work done, ms', one.busyMs);
          speed.add(row, 'per second', (count / one.result.tookMs) * 1000);
        }
        if (round === 0) continue;
        ratios.add(what, 'relay / raw', took.relay / took.raw);
        ratios.add(what, 'relay / Socket.IO', took.relay / took.socketio);
        ratios.add(what, 'floor / raw', took.floor / took.raw);
        ratios.add(what, 'single process / raw', took.single / took.raw);
      }
      for (const { system, load } of systems) await measured(system, () => load.ask('leave'));
    }
  } finally {
    await stop();
  }
  return [ratios, cost, speed];
}
