// Runs every check that a finished change must pass. Stops at the first failing step and prints advice.
import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const usage = `Usage: npm run check [-- --no-tests]

Runs, in this order, and stops at the first failure:
  build        every package compiles
  format       prettier finds nothing to change
  words        plain English: none of the words and sentences that docs/glossary.md replaces
  habits       plain English: no room has more of ten habits than its ceilings in scripts/habits.json
  subjects     new commits have a subject of the form \`room: verb object\`
  lint         eslint, with typed rules
  types        tsc over sources and tests
  boundaries   who may import whom (.dependency-cruiser.cjs)
  generated    docs and examples are what \`npm run generate\` writes, and are in git
  database     migrations and schema agree
  migrations   none takes something away from the release before
  kubernetes   the manifests of k8s/ render and are right (needs kubectl, no cluster)
  documents    links, paths, commands and rules that documents name exist; runbooks, the catalogue of the pages, specification rows
  chart        the templates of k8s/chart are what \`npm run chart\` makes from them
  tests        every test; left out with --no-tests
`;

/** Runs a program without a shell; resolves with its exit code and its whole output. */
const run = (program, ...args) =>
  new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    child.stdout.on('data', (chunk) => said.push(chunk));
    child.stderr.on('data', (chunk) => said.push(chunk));
    child.on('error', (error) => resolve({ ok: false, output: `${program}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(said).toString('utf8') }));
  });
/** Runs a program that prints its own progress. */
const show = (program, ...args) =>
  new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit' });
    child.on('error', (error) => resolve({ ok: false, output: `${program}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ ok: code === 0, output: '' }));
  });
const npm = (script) => () => run('npm', 'run', '--silent', script);
const node = (...args) => run(process.execPath, ...args);

async function generated() {
  const written = await node('scripts/generate.mjs');
  if (!written.ok) return written;
  const listed = await node('scripts/generate.mjs', '--list');
  if (!listed.ok) return listed;
  const files = listed.output.trim().split('\n');
  const changed = await run('git', 'diff', '--exit-code', '--stat', '-p', '--', ...files);
  if (!changed.ok) return changed;
  const untracked = await run('git', 'ls-files', '--others', '--exclude-standard', '--', ...files);
  if (!untracked.ok || untracked.output !== '') return { ok: false, output: `not in git:\n${untracked.output}` };
  const examples = (await readdir(`${root}examples`)).filter((name) => name.endsWith('.json'));
  const orphans = examples.map((name) => `examples/${name}`).filter((name) => !files.includes(name));
  return { ok: orphans.length === 0, output: `nothing generates these files:\n${orphans.join('\n')}\n` };
}

const steps = [
  { name: 'build', run: npm('build'), advice: 'Fix what does not compile.' },
  {
    name: 'format',
    run: () => node('node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
    advice: 'Run `npm run format`.',
  },
  {
    name: 'words',
    run: () => node('scripts/check-words.mjs'),
    advice: 'Rewrite the lines; docs/glossary.md says what to write instead.',
  },
  {
    name: 'habits',
    run: () => node('scripts/check-habits.mjs'),
    advice: 'Rewrite the lines; CONTRIBUTING.md, "Plain English", has examples.',
  },
  {
    name: 'subjects',
    run: () => node('scripts/check-subjects.mjs'),
    advice: 'Reword the commits with `git rebase --interactive`; CONTRIBUTING.md, "Commits", has the form.',
  },
  { name: 'lint', run: npm('lint'), advice: 'Fix what eslint names; `npx eslint --fix .` does some of it.' },
  { name: 'types', run: npm('typecheck'), advice: 'Fix the types; tests and tools count.' },
  {
    name: 'boundaries',
    run: npm('boundaries'),
    advice: 'Move the code to the room that may import it. The rules and their reasons are in .dependency-cruiser.cjs.',
  },
  {
    name: 'generated',
    run: generated,
    advice: 'Look at what changed, then commit it (`git rm` what nothing generates). Never edit a generated file.',
  },
  {
    name: 'database',
    run: npm('db:check'),
    advice: 'Write a migration for the change of prisma/schema.prisma: CONTRIBUTING.md says how.',
  },
  {
    name: 'migrations',
    run: () => node('scripts/check-migrations.mjs'),
    advice: 'Add first and remove in a later release: docs/operations.md, "Upgrade", says why.',
  },
  {
    name: 'kubernetes',
    run: () => node('scripts/check-k8s.mjs'),
    advice: 'Fix the manifests; `node scripts/check-k8s.mjs` says the same without the rest.',
  },
  {
    name: 'documents',
    run: () => node('scripts/check-documents.mjs'),
    advice: 'Fix the documents, or the code that they describe.',
  },
  {
    name: 'chart',
    run: () => node('scripts/chart.mjs', '--check'),
    advice: 'Run `npm run chart`, look at what changed, then commit it.',
  },
  {
    name: 'tests',
    run: () => show('npm', 'run', '--silent', 'test:all'),
    advice: 'Run one file alone with `node scripts/jest.mjs <path>`.',
  },
];

/** The duration of each step in the last run here, in seconds by name. */
const times = {
  file: `${root}node_modules/.cache/check.json`,
  read: async () => JSON.parse(await readFile(times.file, 'utf8').catch(() => '{}')),
  write: async (seconds) => {
    await mkdir(`${root}node_modules/.cache`, { recursive: true });
    await writeFile(times.file, JSON.stringify(seconds));
  },
};

async function check(chosen) {
  const last = await times.read();
  const all = chosen.reduce((sum, { name }) => sum + (last[name] ?? 0), 0);
  if (all > 0) console.log(`${chosen.length} steps, about ${Math.round(all)} s as in the last run`);
  for (const { name, run: step, advice } of chosen) {
    if (last[name] > 10) console.log(`     ${name.padEnd(10)} about ${Math.round(last[name])} s …`);
    const startedAt = performance.now();
    const { ok, output } = await step();
    const passed = (performance.now() - startedAt) / 1000;
    if (ok) await times.write({ ...(await times.read()), [name]: passed });
    const seconds = passed.toFixed(1);
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds.padStart(6)} s`);
    if (ok) continue;
    console.log(`\n${output.trimEnd()}\n\n${advice}`);
    return 1;
  }
  return 0;
}

const options = process.argv.slice(2);
const unknown = options.filter((option) => option !== '--no-tests' && option !== '--help');
if (options.includes('--help')) {
  process.stdout.write(usage);
} else if (unknown.length > 0) {
  process.stderr.write(`check: unknown option ${unknown.join(' ')}\n\n${usage}`);
  process.exitCode = 2;
} else {
  process.exitCode = await check(options.includes('--no-tests') ? steps.filter(({ name }) => name !== 'tests') : steps);
}
