// Start and rest: the time until it listens, and its memory while idle. Run exactly as shipped, unobserved.
import { setTimeout as wait } from 'node:timers/promises';
import { Table } from '../measure.mjs';
import { startRelay } from '../process.mjs';

const settleMs = 10_000;

export async function start({ rounds, progress, folder }) {
  const table = new Table('Start and rest of the single process');
  for (let round = 1; round <= rounds; round += 1) {
    const dataDir = folder();
    for (const which of ['first start, empty folder', 'second start, same folder']) {
      progress(`round ${round} of ${rounds}: ${which}`);
      const relay = await startRelay(dataDir);
      await wait(settleMs);
      const memory = relay.memoryMB();
      await relay.stop();
      table.add(which, 'to listening, ms', relay.startMs);
      table.add(which, `resident after ${settleMs / 1000} s, MB`, memory.resident);
      table.add(which, 'of it anonymous, MB', memory.anonymous);
      table.add(which, 'highest, MB', memory.peak);
    }
  }
  return [table];
}
