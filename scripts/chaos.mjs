// Hurts a whole relay by chance and judges what its peers saw (tests/cluster/chaos.cluster.ts):
// `npm run chaos -- --minutes 30 --seed 7 --journal /tmp/journal.txt`. Without a seed it takes one and says which.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, journal: { type: 'string' } },
});
const minutes = values.minutes ?? '30';
const seed = values.seed ?? String(Math.floor(Math.random() * 1_000_000));
if (!(Number(minutes) > 0) || !/^\d{1,9}$/.test(seed)) {
  console.error('npm run chaos -- [--minutes 30] [--seed 7] [--journal file]');
  process.exit(2);
}
console.error(`${minutes} min, seed ${seed}`);
const jest = fileURLToPath(new URL('jest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [jest, '--testMatch', '**/tests/cluster/chaos.cluster.ts', '--runInBand'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      CHAOS_MINUTES: minutes,
      CHAOS_SEED: seed,
      ...(values.journal ? { CHAOS_JOURNAL: values.journal } : {}),
    },
  },
);
process.exit(status ?? 1);
