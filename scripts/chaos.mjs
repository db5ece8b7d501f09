// Runs random faults on a whole relay and checks the observations of its peers (tests/cluster/chaos.cluster.ts), then
// its deliveries to notification addresses (push.cluster.ts): `npm run chaos -- --minutes 30 --seed 7 --journal
// /tmp/journal.txt`. Without `--seed`, picks a seed and prints it. `--only relay` or `--only push` runs one of the two.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    journal: { type: 'string' },
    only: { type: 'string' },
  },
});
const minutes = values.minutes ?? '30';
const seed = values.seed ?? String(Math.floor(Math.random() * 1_000_000));
const files = { relay: 'chaos', push: 'push' };
const chosen = values.only === undefined ? Object.keys(files) : [values.only];
if (!(Number(minutes) > 0) || !/^\d{1,9}$/.test(seed) || !chosen.every((name) => Object.hasOwn(files, name))) {
  console.error('npm run chaos -- [--minutes 30] [--seed 7] [--journal file] [--only relay|push]');
  process.exit(2);
}
console.error(`${minutes} min, seed ${seed}`);
const jest = fileURLToPath(new URL('jest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [jest, '--testMatch', ...chosen.map((name) => `**/tests/cluster/${files[name]}.cluster.ts`), '--runInBand'],
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
