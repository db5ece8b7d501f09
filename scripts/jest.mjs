// Runs Jest with native ES modules. Arguments go to Jest: `npm test -- sessions --verbose`. `--all`: a missing program ends the run.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const words = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  ['--no-warnings', jest, ...words.filter((word) => word !== '--all')],
  { stdio: 'inherit', env: { ...process.env, ...(words.includes('--all') ? { TEST_PROGRAMS: 'required' } : {}) } },
);
process.exit(status ?? 1);
