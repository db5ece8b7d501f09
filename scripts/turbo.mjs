// Runs turbo without telemetry and without looking for a remote cache. `--quiet`: prints nothing unless the build fails or takes a
// while. Without turbo, in an installation without development dependencies, what was built before is used.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const quiet = process.argv.includes('--quiet');
const words = process.argv.slice(2).filter((word) => word !== '--quiet');
const noticeAfterMs = 1_500;

function findTurbo() {
  try {
    return createRequire(import.meta.url).resolve('turbo/bin/turbo');
  } catch {
    return undefined;
  }
}

function build(turbo) {
  const child = spawn(process.execPath, [turbo, ...words], {
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  });
  const output = [];
  if (quiet) for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const notice = setTimeout(() => {
    if (quiet) process.stderr.write('Building; the first time takes up to a minute …\n');
  }, noticeAfterMs);
  child.on('error', (error) => output.push(Buffer.from(`${error.message}\n`)));
  child.on('close', (code) => {
    clearTimeout(notice);
    if (quiet && code !== 0) process.stderr.write(Buffer.concat(output));
    process.exitCode = code ?? 1;
  });
}

const turbo = findTurbo();
if (turbo) build(turbo);
else if (!existsSync(new URL('../apps/standalone/dist/main.js', import.meta.url))) {
  process.stderr.write(
    'This checkout is not built, and building needs the development dependencies. Run `npm ci` without --omit=dev and without\n' +
      'NODE_ENV=production. Afterwards `npm prune --omit=dev` leaves only what the relay needs to run.\n',
  );
  process.exitCode = 1;
}
