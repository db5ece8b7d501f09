// Packs one library as one package: its built modules and types, under its public name.
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packFolder } from './program.mjs';
import { libraries, scope } from './programs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const renamed = (text) => text.replaceAll('@relay/', `${scope}/`);

/** Files of a library in addition to its build: from the root of the repository → in the package. */
const besides = {
  [`${scope}/protocol`]: { 'docs/openapi.json': 'openapi.json', 'docs/asyncapi.json': 'asyncapi.json' },
  [`${scope}/conformance`]: {
    'conformance/run.mjs': 'run.mjs',
    'conformance/specification-rows.json': 'specification-rows.json',
  },
};
const programs = { [`${scope}/conformance`]: { 'relay-conformance': 'run.mjs' } };

/** The manifest of the package: without the repository's own fields, and with our packages under their public names. */
function published(name, manifest) {
  const { version, description, license, author, repository, bugs, sideEffects, exports, dependencies = {} } = manifest;
  return {
    ...{ name, version, description, license, author, repository, bugs },
    ...{ type: 'module', sideEffects, engines: { node: '>=20.19' }, exports, bin: programs[name] },
    dependencies: Object.fromEntries(Object.entries(dependencies).map(([key, value]) => [renamed(key), value])),
  };
}

/** Packs a library of `programs.mjs` into the archive `file`. Needs its build. */
export async function packLibrary(name, file) {
  const from = join(root, libraries[name]);
  const staged = `${file}.staged`;
  await rm(staged, { recursive: true, force: true });
  const built = await readdir(join(from, 'dist'), { recursive: true });
  for (const path of [
    'README.md',
    ...built.filter((path) => /\.(?:js|d\.ts)$/.test(path)).map((path) => join('dist', path)),
  ]) {
    await mkdir(dirname(join(staged, path)), { recursive: true });
    const text = renamed(await readFile(join(from, path), 'utf8'));
    await writeFile(join(staged, path), text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
  }
  for (const [source, place] of Object.entries({ LICENSE: 'LICENSE', ...besides[name] }))
    await cp(join(root, source), join(staged, place));
  const manifest = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
  await writeFile(join(staged, 'package.json'), `${JSON.stringify(published(name, manifest), null, 2)}\n`);
  await packFolder(staged, file);
  await rm(staged, { recursive: true });
}
