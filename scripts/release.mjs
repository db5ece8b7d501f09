// Writes the number of a release into every file that contains it, and the heading of its changes. docs/releases.md has
// the steps around it.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { execFileSync } from 'node:child_process';

const usage = `Usage: npm run release -- <version> [--dry-run]

Writes the version into the manifests and their dependencies on each other, package-lock.json, Dockerfile, compose.yaml and the chart, and gives what is
unreleased in the CHANGELOG its heading. Commits nothing. --dry-run prints what it would change, and changes nothing.
`;

const numbers = (version) => version.split('.').map(Number);
const isNewer = (version, than) => {
  const [a, b] = [numbers(version), numbers(than)];
  const at = a.findIndex((number, place) => number !== b[place]);
  return at >= 0 && a[at] > b[at];
};

/** Renumbers our packages in a manifest, or in an entry of the lock file. */
function renumbered(entry, to) {
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies'])
    for (const name of Object.keys(entry[kind] ?? {})) if (name.startsWith('@relay/')) entry[kind][name] = to;
  return Object.assign(entry, { version: to });
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
const replaced =
  (pattern) =>
  (text, { to }) => {
    if (!pattern.test(text)) throw new Error(`its number was not found (${pattern})`);
    return text.replace(pattern, `$1${to}`);
  };

function lock(text, { to }) {
  const content = JSON.parse(text);
  content.version = to;
  for (const [place, entry] of Object.entries(content.packages))
    if (!place.includes('node_modules/') && entry.version !== undefined) renumbered(entry, to);
  return json(content);
}

const unreleased = /^## Unreleased\n/m;

function changelog(text, { to, date }) {
  if (!unreleased.test(text)) throw new Error('it has no heading "Unreleased"');
  return text.replace(unreleased, `## Unreleased\n\n## ${to} (${date})\n`);
}

const edits = {
  'package-lock.json': lock,
  Dockerfile: replaced(/^(ARG VERSION=)\S+/m),
  'compose.yaml': replaced(/(\$\{RELAY_VERSION:-)[^}]+/),
  'k8s/chart/Chart.yaml': replaced(/^((?:app)?[vV]ersion: )\S+/gm),
  'CHANGELOG.md': changelog,
};

/**
 * Resolves with the new text of each file by its path. `release` has the number and the date.
 * @throws Error with the name of the file
 */
export async function releaseFiles(folder, release) {
  const read = (path) => readFile(join(folder, path), 'utf8');
  const root = JSON.parse(await read('package.json'));
  if (!/^\d+\.\d+\.\d+$/.test(release.to) || !isNewer(release.to, root.version))
    throw new Error(`"${release.to}" is no version after ${root.version}.`);
  const { packages } = JSON.parse(await read('package-lock.json'));
  const workspaces = Object.keys(packages).filter(
    (place) => !place.includes('node_modules/') && packages[place].version,
  );
  const manifest = (text, { to }) => json(renumbered(JSON.parse(text), to));
  const all = { ...Object.fromEntries(workspaces.map((place) => [join(place, 'package.json'), manifest])), ...edits };
  const texts = Object.entries(all).map(async ([path, edit]) => {
    try {
      return [path, edit(await read(path), release)];
    } catch (error) {
      throw new Error(`${path}: ${error.message}`, { cause: error });
    }
  });
  return new Map(await Promise.all(texts));
}

async function main() {
  const words = process.argv.slice(2);
  const isDry = words.includes('--dry-run');
  const [to, ...more] = words.filter((word) => word !== '--dry-run');
  if (to === undefined || more.length > 0 || to.startsWith('-')) {
    process.stdout.write(usage);
    process.exitCode = to === '--help' ? 0 : 2;
    return;
  }
  const folder = dirname(dirname(fileURLToPath(import.meta.url)));
  const files = await releaseFiles(folder, { to, date: new Date().toISOString().slice(0, 10) });
  for (const [path, text] of files) {
    console.log(`${isDry ? 'would write' : 'wrote'} ${path}`);
    if (!isDry) await writeFile(join(folder, path), text);
  }
  const [, changes = ''] = files.get('CHANGELOG.md').split(new RegExp(`^## ${to} .*$`, 'm'));
  if (/^\s*(?:## |$)/.test(changes)) console.log('Nothing is under its heading in the CHANGELOG.');
  const tags = execFileSync('git', ['tag', '--list', `v${to}`], { cwd: folder, encoding: 'utf8' });
  if (tags !== '') console.log(`The tag v${to} exists already.`);
  console.log(`\nThen: npm run generate && npm run check; docs/releases.md has the rest.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await main().catch((error) => {
    console.error(`release: ${error.message}`);
    process.exitCode = 1;
  });
