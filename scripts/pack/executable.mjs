// Packs one program as one executable: Node itself with the program inside ("single executable application" of Node),
// for the current platform. The machine that runs it needs no Node.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { absent, bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** Node finds its program after this mark, which postject flips; its documentation names the mark. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/**
 * The content of an executable. `entry` is its first module; `instead` replaces modules that look for neighbouring
 * files, because an executable lacks a folder around it. The first argument selects a program inside, as a script would:
 * the daemon starts itself again as its service and as the demonstration agent.
 */
const programs = {
  'relay-daemon': {
    entry: `
      import { runCli } from '${root}apps/daemon/dist/cli.js';
      import { runProgram } from '${root}packages/machine/dist/index.js';
      if (process.argv[2] === '--demo-agent') import('${root}apps/daemon/scripts/demo-agent.mjs');
      else {
        if (process.argv[2] === '--program') process.argv.splice(2, 1);
        runProgram(runCli);
      }`,
    instead: {
      'apps/daemon/dist/files.js': `
        import { parseScript } from '@relay/daemon-kit';
        import script from '${root}apps/daemon/scripts/demo.json';
        export const demoScriptFile = '';
        export const demoScript = () => parseScript(script);
        export const demoAgentFile = '--demo-agent';
        export const programFile = '--program';
        export const daemonVersion = '${version}';`,
    },
  },
  relay: {
    entry: `
      import { onLostOutput, runCli } from '${root}apps/cli/dist/cli.js';
      import { runProgram } from '${root}packages/machine/dist/index.js';
      runProgram(runCli, onLostOutput);`,
    instead: { 'apps/cli/dist/version.js': `export const cliVersion = '${version}';` },
  },
};

export const executables = Object.keys(programs);

/** Packs the program `name` into the executable `file`. Needs its build. */
export async function packExecutable(name, file) {
  const { entry, instead } = programs[name];
  const missing = Object.keys(instead).filter((module) => !existsSync(join(root, module)));
  if (missing.length > 0) throw new Error(`${name} replaces ${missing.join(', ')}, which the build lacks`);
  const staged = `${file}.staged`;
  await rm(staged, { recursive: true, force: true });
  await mkdir(staged, { recursive: true });
  const inStaged = (part) => join(staged, part);
  await writeFile(inStaged('entry.mjs'), entry);
  const replace = {
    name: 'instead',
    // An executable cannot load packages from a folder, so optional ones are absent.
    resolveId: (id) => (absent.includes(id) ? `\0${id}` : undefined),
    load: (id) =>
      absent.includes(id.slice(1))
        ? `throw new Error('absent');`
        : Object.entries(instead).find(([module]) => id === join(root, module))?.[1],
  };
  await bundle(inStaged('entry.mjs'), inStaged('program.cjs'), [], { plugins: [replace] });
  const config = { main: inStaged('program.cjs'), output: inStaged('blob'), disableExperimentalSEAWarning: true };
  await writeFile(inStaged('config.json'), JSON.stringify(config));
  await run(process.execPath, ['--experimental-sea-config', inStaged('config.json')]);
  await copyFile(process.execPath, inStaged('executable'));
  await chmod(inStaged('executable'), 0o755);
  // Only the code that runs is necessary: strips the symbols for debuggers if the tool is installed.
  if (process.platform === 'linux') await run('strip', [inStaged('executable')]).catch(() => undefined);
  const injector = createRequire(import.meta.url).resolve('postject/dist/cli.js');
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
  const blob = ['NODE_SEA_BLOB', inStaged('blob'), '--sentinel-fuse', fuse, ...segment];
  await run(process.execPath, [injector, inStaged('executable'), ...blob]);
  await copyFile(inStaged('executable'), file);
  await rm(staged, { recursive: true });
}
