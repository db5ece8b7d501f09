// Packs one program as one package: its bundled code and imports, so that the package has no dependencies (except
// PGlite). The build of apps/daemon packs that program, because the relay serves it; `npm run pack` packs all of them.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { absent, bundle } from './bundle.mjs';
import { programs } from './programs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'));

/** The package folder of a module in node_modules. */
const packageOf = (module) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0];

/** Name, version and licence of every bundled package, as their licences require. */
async function notices(modules) {
  const folders = [...new Set(modules.map(packageOf).filter((folder) => folder !== undefined))].sort();
  const texts = folders.map(async (folder) => {
    const { name, version, license } = await readJson(join(folder, 'package.json'));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? `${license}\n` : await readFile(join(folder, file), 'utf8');
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

/** The manifest of the package for its users, without the repository's own fields. */
async function published(name, { folder, manifest, bin, dependencies = {} }) {
  const { version, description, license, author, repository, bugs } = await readJson(join(root, folder, manifest));
  const wanted = Object.entries(dependencies).map(async ([dependency, file]) => {
    const { dependencies: versions } = await readJson(join(root, file));
    return [dependency, versions[dependency]];
  });
  return {
    ...{ name, version, description, license, author, repository, bugs },
    ...{ type: 'module', engines: { node: '>=20.19' }, bin },
    dependencies: Object.fromEntries(await Promise.all(wanted)),
  };
}

/** Packs a program of `programs.mjs` into the archive `file`. Needs its build. */
export async function packProgram(name, file) {
  const program = programs[name];
  const from = join(root, program.folder);
  const staged = `${file}.staged`;
  await rm(staged, { recursive: true, force: true });
  const modules = [];
  for (const [module, place] of Object.entries(program.entries))
    modules.push(
      ...(await bundle(join(from, module), join(staged, place), [
        ...absent,
        ...Object.keys(program.dependencies ?? {}),
      ])),
    );
  for (const [source, place] of Object.entries(program.files))
    await cp(join(from, source), join(staged, place), { recursive: true });
  await cp(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  await writeFile(join(staged, 'THIRD_PARTY_NOTICES'), await notices(modules));
  await writeFile(join(staged, 'package.json'), `${JSON.stringify(await published(name, program), null, 2)}\n`);
  await packFolder(staged, file);
  await rm(staged, { recursive: true });
}

/** `npm pack` of a folder: npm sets times and owners of the files, so equal contents make equal archives. */
export async function packFolder(folder, file) {
  await mkdir(dirname(file), { recursive: true });
  const options = ['pack', '--json', '--ignore-scripts', '--pack-destination', dirname(file)];
  const { stdout } = await promisify(execFile)('npm', options, { cwd: folder, maxBuffer: 1 << 26 });
  const [{ filename }] = JSON.parse(stdout);
  await rename(join(dirname(file), filename), file);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , name = '', file = ''] = process.argv;
  await packProgram(name, resolve(file));
}
