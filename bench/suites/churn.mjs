// People who come, work and leave, for half an hour: each connects a machine and an app, starts a session, receives
// output, requests its history, completes the turn and leaves. The memory of gateway, api and Redis at every tenth,
// after a garbage collection. "Flat" compares from the second tenth on.
import { Table } from '../measure.mjs';
import { startInstances } from '../systems/relay.mjs';
import { startLoad } from '../systems/all.mjs';

const minutes = 30;
/** Twenty thousand: someone comes back after minutes, and not every time. */
const people = 20_000;
const each = { count: 100, window: 16, events: 20 };
const tenths = 10;

export async function churn({ rounds, progress, share }) {
  const table = new Table(`${minutes * share} minutes in which people come and go: memory in MB`);
  const done = new Table('People who came and went');
  for (let round = 1; round <= rounds; round += 1) {
    progress('starting');
    const system = await startInstances({ people, weighed: true });
    const load = await startLoad(system);
    try {
      const [gateway, api] = [system.daemonSide[0], system.appSide[0]];
      const startedAt = performance.now();
      let came = 0;
      for (let tenth = 1; tenth <= tenths; tenth += 1) {
        const until = startedAt + (minutes * share * 60_000 * tenth) / tenths;
        while (performance.now() < until) {
          await load.ask('comeAndGo', { ...each, first: came % people });
          came += each.count;
        }
        const row = `${tenth * tenths} %`;
        for (const [name, child] of Object.entries({ gateway, api })) {
          // The observer keeps how long each request took until it is asked.
          await child.take();
          const { heap, resident } = await child.settledMemoryMB();
          table.add(row, `${name} JavaScript`, heap);
          table.add(row, `${name} resident`, resident);
        }
        table.add(
          row,
          'Redis',
          Number(/used_memory:(\d+)/.exec(await system.redis.command('INFO', 'memory'))[1]) / 1e6,
        );
        done.add(row, 'people', came);
        progress(`round ${round} of ${rounds}: ${row}, ${came} people`);
      }
    } finally {
      await load.stop();
      await system.stop();
    }
  }
  return [table, done];
}
