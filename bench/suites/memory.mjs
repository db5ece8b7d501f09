// The memory of a silent connection, in the process that holds it: daemons, then apps, each of another user, in batches. After
// each batch and a garbage collection the process is asked.
import { setTimeout as wait } from 'node:timers/promises';
import { Table, slope } from '../measure.mjs';
import { names, startAll } from '../systems/all.mjs';

const connections = 5_000;
const window = 64;
const settleMs = 1_000;
/** Resident memory grows in steps that V8 takes ahead of time; the memory in use does not. */
const titles = { resident: 'resident', inUse: 'in use', heap: 'of it JavaScript' };

export async function memory({ rounds, progress, folder, share, profile, before }) {
  const batch = Math.ceil((connections * share) / rounds);
  const ratios = new Table(`Memory per silent connection, up to ${batch * rounds}: ratios`);
  const each = new Table(`Memory per silent connection, ${rounds} batches of ${batch}: kB`);
  const held = new Table('Memory with all of them: MB');
  const { systems, stop } = await startAll(['relay', 'single', 'raw', 'socketio'], {
    people: batch * (rounds + 1),
    folder,
    progress,
    profile,
    before,
    weighed: true,
  });
  try {
    for (const role of ['daemon', 'app']) {
      const slopes = {};
      for (const { name, system, load } of systems) {
        const [server] = role === 'daemon' ? system.daemonSide : system.appSide;
        const weigh = async () => {
          await wait(settleMs);
          await server.settledMemoryMB();
          return server.settledMemoryMB();
        };
        // The first batch fills caches.
        await load.ask('sockets', { role, first: 0, count: batch, window, hello: 2 });
        let before = await weigh();
        const seen = [before];
        for (let round = 1; round <= rounds; round += 1) {
          progress(`${names[name]}: ${role}s, batch ${round} of ${rounds}`);
          await load.ask('sockets', { role, first: round * batch, count: batch, window, hello: 2 });
          const now = await weigh();
          for (const what of ['resident', 'inUse', 'heap'])
            each.add(`${role}: ${names[name]}`, titles[what], ((now[what] - before[what]) * 1000) / batch);
          seen.push(now);
          before = now;
        }
        slopes[name] = slope(seen.map(({ resident }) => resident));
        each.add(`${role}: ${names[name]}`, 'resident, over all', (slopes[name] * 1000) / batch);
        held.add(`${role}: ${names[name]}`, 'resident', before.resident);
      }
      ratios.add(role, 'relay / raw', slopes.relay / slopes.raw);
      ratios.add(role, 'relay / Socket.IO', slopes.relay / slopes.socketio);
      ratios.add(role, 'single process / raw', slopes.single / slopes.raw);
    }
  } finally {
    await stop();
  }
  return [ratios, each, held];
}
