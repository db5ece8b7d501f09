// Messages that are kept, at a steady pace, while the instance that holds the apps is killed: how many do the apps not get, that come back
// to the other instance at once?
import { setTimeout as wait } from 'node:timers/promises';
import { Table } from '../measure.mjs';
import { names, startAll } from '../systems/all.mjs';

const pairs = 20;
const messages = 7_000;
const everyMs = 10;
/** As many rounds as it takes to see that it is the same each time: every one needs new instances. */
const mostRounds = 3;

export async function loss({ rounds, progress, folder, share, profile }) {
  const table = new Table('An instance with all the apps is killed: messages');
  const perPair = Math.ceil((messages * share) / pairs);
  for (let round = 1; round <= Math.min(rounds, mostRounds); round += 1) {
    progress(`round ${round} of ${Math.min(rounds, mostRounds)}`);
    const which = ['relay', 'raw', 'socketio'];
    const { systems, stop } = await startAll(which, { people: pairs, apis: 2, folder, progress, profile });
    try {
      for (const { name, system, load } of systems) {
        await load.ask('pairs', { count: pairs });
        const counted = load.ask('steady', { perPair, everyMs });
        await wait((perPair * everyMs) / 2);
        process.kill(system.appSide[0].pid, 'SIGKILL');
        const { sent, lost, repeated, told } = await counted;
        table.add(names[name], 'sent', sent);
        table.add(names[name], 'lost', lost);
        table.add(names[name], 'twice', repeated);
        table.add(names[name], 'told to reload', told);
        if (name !== 'relay') continue;
        const startedAt = performance.now();
        await system.launch('api');
        table.add(names[name], 'an api is back, ms', performance.now() - startedAt);
      }
    } finally {
      await stop();
    }
  }
  return [table];
}
