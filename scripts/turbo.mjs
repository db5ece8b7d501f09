// Runs turbo without telemetry and without a remote cache. `--quiet` prints nothing unless the build fails or takes a
// while. Without turbo, in an installation without development dependencies, an existing build is used.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

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

/** Node opens a few hundred files at once, and reports files beyond the limit as missing packages. */
const filesNeeded = 1024;

/** Node has already raised the soft limit to the hard one. Returns undefined on systems without this file. */
function openFilesLimit() {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** The error code of the system if the folder is not writable. */
function refusal(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    return error.code;
  }
}

const root = fileURLToPath(new URL('..', import.meta.url));
const isBuilt = existsSync(new URL('../apps/standalone/dist/main.js', import.meta.url));
const turbo = findTurbo();
const limit = openFilesLimit();
const refused = refusal(root);
if (limit !== undefined && limit < filesNeeded) {
  process.stderr.write(
    `Only ${limit} files may be open at a time, and ${filesNeeded} are needed to start (10000 to serve many). Raise the limit:\n` +
      `\`ulimit -n ${filesNeeded}\` in this shell, or LimitNOFILE of the service; root raises a hard limit in /etc/security/limits.conf.\n`,
  );
  process.exitCode = 1;
} else if (refused && isBuilt) {
  process.stderr.write(`${root} may not be written (${refused}): what was built before is used.\n`);
} else if (refused) {
  process.stderr.write(
    `${root} may not be written (${refused}), so it cannot be built. Give the folder to this user, or copy it to\n` +
      'where it may be written, and run `npm ci` there.\n',
  );
  process.exitCode = 1;
} else if (turbo) build(turbo);
else if (!isBuilt) {
  process.stderr.write(
    'This checkout is not built, and building needs the development dependencies. Run `npm ci` without --omit=dev and without\n' +
      'NODE_ENV=production. Afterwards `npm prune --omit=dev` leaves only what the relay needs to run.\n',
  );
  process.exitCode = 1;
}
