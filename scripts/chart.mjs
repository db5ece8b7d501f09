// Writes the templates of the Helm chart from the manifests: `npm run chart`. `--check` lists outdated templates
// instead.
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RenderError } from '../k8s/check/index.mjs';
import { chartFiles, k8s } from './chart/files.mjs';

const usage = `Usage: node scripts/chart.mjs [--check]

Writes k8s/chart/templates/*.yaml from k8s/base and k8s/components (needs kubectl, no cluster).
  --check   writes nothing, and fails when a template is not what it would write
`;

const options = process.argv.slice(2);
const isCheck = options.includes('--check');
const unknown = options.filter((option) => option !== '--check' && option !== '--help');
const chart = join(k8s, 'chart');

async function main() {
  const files = await chartFiles();
  const there = (await readdir(join(chart, 'templates')))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `templates/${name}`);
  const read = (path) => readFile(join(chart, path), 'utf8').catch(() => undefined);
  const changed = [];
  for (const [path, text] of Object.entries(files)) if ((await read(path)) !== text) changed.push(path);
  const old = there.filter((path) => !(path in files));
  if (isCheck) {
    for (const path of [...changed, ...old])
      console.log(`k8s/chart/${path} is not made from the manifests: npm run chart`);
    if (changed.length + old.length > 0) process.exitCode = 1;
    return;
  }
  for (const path of changed) await writeFile(join(chart, path), files[path]);
  for (const path of old) await rm(join(chart, path));
  console.log(`k8s/chart: ${changed.length} written, ${old.length} removed, ${Object.keys(files).length} templates`);
}

if (options.includes('--help')) {
  process.stdout.write(usage);
} else if (unknown.length > 0) {
  process.stderr.write(`chart: unknown option ${unknown.join(' ')}\n\n${usage}`);
  process.exitCode = 2;
} else {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    process.stderr.write(`chart: ${error.message}\n`);
    process.exitCode = 1;
  }
}
