// Runs turbo without telemetry and without looking for a remote cache. `--quiet` says nothing unless it fails.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const turbo = createRequire(import.meta.url).resolve('turbo/bin/turbo');
const quiet = process.argv.includes('--quiet');
const words = process.argv.slice(2).filter((word) => word !== '--quiet');
const { status, stdout, stderr } = spawnSync(process.execPath, [turbo, ...words], {
  stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  maxBuffer: 64 * 1024 * 1024,
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
});
if (quiet && status !== 0) process.stderr.write(Buffer.concat([stdout, stderr]));
process.exit(status ?? 1);
