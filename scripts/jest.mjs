// Runs Jest with native ES modules. Arguments go to Jest: `npm test -- sessions --verbose`.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const { status } = spawnSync(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', jest, ...process.argv.slice(2)],
  { stdio: 'inherit', env: process.env },
);
process.exit(status ?? 1);
