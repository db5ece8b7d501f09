// Silent daemons: the processor time of pings, leases and sweeps, over time.
import { setTimeout as wait } from 'node:timers/promises';
import { startCpu } from '../cpu.mjs';
import { Table } from '../measure.mjs';
import { names, startAll } from '../systems/all.mjs';

const daemons = 6_000;
const window = 64;
/** Each round has two pings of each daemon and three renewals of its lease. */
const roundMs = 60_000;

export async function silent({ rounds, progress, folder, share, profile, before }) {
  const count = Math.ceil(daemons * share);
  const table = new Table(`${count} daemons that say nothing: percent of a core`);
  const { systems, stop } = await startAll(['relay', 'raw', 'floor'], {
    people: count,
    floorNeeds: 'ping',
    folder,
    progress,
    profile,
    before,
  });
  try {
    for (const { name, load } of systems) {
      progress(`connecting: ${names[name]}`);
      await load.ask('sockets', { role: 'daemon', first: 0, count, window, hello: 2 });
    }
    // The first pings release the garbage of connecting.
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'at rest for a minute' : `round ${round} of ${rounds}`);
      const started = [];
      for (const { name, system } of systems) {
        const gateways = system.daemonSide.map(({ pid }) => pid);
        started.push({ name, read: startCpu({ ...(await system.groups()), gateways }) });
      }
      const startedAt = performance.now();
      await wait(roundMs);
      for (const { name, read } of started) {
        const spent = read();
        const percent = (us) => us / 10 / (performance.now() - startedAt);
        if (round === 0) continue;
        table.add(names[name], 'instances and Redis', percent(spent.pods + spent.redis));
        table.add(names[name], 'of it gateway', percent(spent.gateways));
        table.add(names[name], 'of it Redis', percent(spent.redis));
        table.add(names[name], 'and PostgreSQL', percent(spent.database));
      }
    }
  } finally {
    await stop();
  }
  return [table];
}
