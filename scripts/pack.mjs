// Builds the packages for users: programs without dependencies, and libraries. Prints the size of each.
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { executables, packExecutable } from './pack/executable.mjs';
import { packLibrary } from './pack/library.mjs';
import { packProgram } from './pack/program.mjs';
import { libraries, programs } from './pack/programs.mjs';

const usage = `Usage: npm run pack [-- --executables] [--into <folder>] [--json]

Builds, then packs every package for people: the relay, the daemon, the command line, and the libraries. Each archive installs
without a clone: npm install <archive>.
  --executables     the daemon and the command line as one file each, for this platform, that need no Node; nothing else
  --into <folder>   where the archives go (default: release)
  --json            prints one object per package and line
`;

const options = process.argv.slice(2);
const at = options.indexOf('--into');
const into = resolve(at < 0 ? 'release' : (options[at + 1] ?? 'release'));
const isJson = options.includes('--json');

const fileOf = (name) => join(into, `${name.replace('@', '').replace('/', '-')}.tgz`);
const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
const executableOf = (name) => join(into, `${name}-${platform}${process.platform === 'win32' ? '.exe' : ''}`);

async function packAll() {
  const packages = [
    ...Object.keys(programs).map((name) => [name, fileOf(name), packProgram]),
    ...Object.keys(libraries).map((name) => [name, fileOf(name), packLibrary]),
  ];
  const files = executables.map((name) => [name, executableOf(name), packExecutable]);
  for (const [name, file, pack] of options.includes('--executables') ? files : packages) {
    await pack(name, file);
    const { size: bytes } = await stat(file);
    if (isJson) console.log(JSON.stringify({ name, file, bytes }));
    else console.log(`${name.padEnd(36)} ${String(Math.ceil(bytes / 1024)).padStart(6)} KiB  ${file}`);
  }
}

if (options.includes('--help')) process.stdout.write(usage);
else await packAll();
