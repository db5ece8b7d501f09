// Runs Jest. `node scripts/jest.mjs [tier …] [Jest's arguments]`: tiers.mjs lists the tiers; without a tier, any
// `*.test.ts` can be named. TEST_PROGRAMS=required: a missing program fails the run. The CPU seconds of a tier go to
// node_modules/.cache/tests/<tier>.json.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tiers } from './tiers.mjs';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const root = fileURLToPath(new URL('..', import.meta.url));
const records = path.join(root, 'node_modules/.cache/tests');
// Workers inherit these. Most objects of a test die young. V8 begins with 1 MB and copies them into its old generation:
// garbage collection took a tenth of the CPU time.
const heap = ['--min-semi-space-size=16', '--max-semi-space-size=64'];

const given = process.argv.slice(2);
const named = given.findIndex((word) => !(word in tiers));
const chosen = named === -1 ? given : given.slice(0, named);
const rest = given.slice(chosen.length);

/** Runs Jest and returns its exit code. */
function run(options, tier, env = {}) {
  const { status } = spawnSync(process.execPath, ['--no-warnings', ...heap, jest, ...options], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env, TEST_RECORD: path.join(records, `${tier}.json`) },
  });
  return status ?? 1;
}

function runTier(name) {
  const { match, ignore = [], options = [], env } = tiers[name];
  const ignored = ignore.length === 0 ? [] : ['--testPathIgnorePatterns', ...ignore];
  // A run of some files does not measure the tier.
  const record = rest.length === 0 ? name : 'part';
  const status = run([...rest, '--testMatch', ...match, ...ignored, ...options], record, env);
  return status !== 0 && rest.length === 0 && process.env.CI ? runAgain(name) : status;
}

/** CI repeats failed files that are listed with a reason, at most five. Every other failure fails the run. */
function runAgain(name) {
  const listed = JSON.parse(readFileSync(path.join(root, 'tests/runs-again.json'), 'utf8'));
  if (listed.length > 5)
    throw new Error('tests/runs-again.json lists more than five files. Find the races of the others.');
  const { files } = JSON.parse(readFileSync(path.join(records, `${name}.json`), 'utf8'));
  const failed = files.filter(({ ok }) => !ok).map(({ file }) => file);
  const unlisted = failed.filter((file) => !listed.some((entry) => entry.file === file));
  if (failed.length === 0 || unlisted.length > 0) return 1;
  console.log(`\nThese files failed, are in tests/runs-again.json, and run again: ${failed.join(', ')}\n`);
  return run(
    [...(tiers[name].options ?? []), '--runInBand', '--runTestsByPath', ...failed],
    `${name}-again`,
    tiers[name].env,
  );
}

mkdirSync(records, { recursive: true });
if (chosen.length === 0) process.exit(run(rest, 'part'));
for (const name of chosen) {
  const status = runTier(name);
  if (status !== 0) process.exit(status);
}
