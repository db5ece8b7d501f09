// Builds of other revisions, for `--compare`: each once, in a folder for temporary files, where it stays for the next run.
import { execFileSync } from 'node:child_process';
import { constants, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const git = (...words) => execFileSync('git', words, { cwd: here, encoding: 'utf8' }).trim();
/** Progress is for standard error, where the rest of it is. */
const run = (cwd, program, ...words) => execFileSync(program, words, { cwd, stdio: ['ignore', 2, 2] });

/**
 * The folder of a revision that is built, and its commit; of a folder that is built, this folder. Dependencies are copied when they are the
 * same as here, and else installed.
 */
export function buildOf(revision) {
  if (existsSync(join(revision, 'apps/api/dist/main.js')))
    return { folder: resolve(revision), commit: resolve(revision) };
  const commit = git('rev-parse', '--short=12', '--verify', `${revision}^{commit}`);
  const folder = join(tmpdir(), `relay-bench-build-${process.getuid?.() ?? 0}-${commit}`);
  if (existsSync(folder)) return { folder, commit };
  process.stderr.write(`building ${commit}\n`);
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { mode: 0o700 });
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: here, maxBuffer: 1024 ** 3 });
    execFileSync('tar', ['-x'], { cwd: making, input: archive });
    const lock = (root) => readFileSync(join(root, 'package-lock.json'), 'utf8');
    if (lock(here) === lock(making)) copyModules(making);
    else run(making, 'npm', 'ci', '--ignore-scripts');
    run(
      making,
      process.execPath,
      'scripts/turbo.mjs',
      'run',
      'build',
      '--filter=@relay/api',
      '--filter=@relay/web',
      '--filter=@relay/gateway',
    );
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return { folder, commit };
}

/** Links between packages are relative, so that the links of the copy lead into the copy. */
function copyModules(to) {
  const rooms = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(here, parent)).map((name) => join(parent, name)),
  );
  for (const room of ['.', ...rooms].filter(
    (one) => existsSync(join(here, one, 'node_modules')) && existsSync(join(to, one)),
  ))
    cpSync(join(here, room, 'node_modules'), join(to, room, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (file) => !file.endsWith('/.cache'),
    });
}
