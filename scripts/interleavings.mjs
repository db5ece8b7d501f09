// Two people answer the same questions on two apis while gateways are killed (tests/cluster/interleavings.cluster.ts).
// Prints how often each outcome occurred: `npm run interleavings -- --count 1000 --seed 20261123`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } });
const wrong = Object.entries(values).find(([, value]) => !/^[1-9]\d{0,8}$/.test(value));
if (wrong) {
  process.stderr.write(`--${wrong[0]} must be a whole number from 1 on.\n`);
  process.exit(2);
}
const jest = fileURLToPath(new URL('./jest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [jest, '--testMatch', '**/tests/cluster/interleavings.cluster.ts', '--runInBand'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(values.count ? { INTERLEAVINGS: values.count } : {}),
      ...(values.seed ? { SEED: values.seed } : {}),
    },
  },
);
process.exit(status ?? 1);
