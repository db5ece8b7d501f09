// Keeps a history of the bench for a nightly job, with one line of JSON per run. Measures the revision next to the one
// in the previous line. `node scripts/bench-history.mjs <file> [options of the bench]`; the first run needs `--compare
// <commit>`. Prints all results that became more expensive.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('../bench/run.mjs', import.meta.url));
/** On a busy machine, neighbouring rounds of the same build can differ by this factor. */
const notable = 1.1;

const [file, ...words] = process.argv.slice(2);
if (file === undefined) throw new Error('Name the file of the history: node scripts/bench-history.mjs <file>');
const last = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) : undefined;
const isTold = words.includes('--compare');
if (!isTold && !last) throw new Error(`${file} is empty: say what to compare with by --compare <commit>`);
const options = isTold ? words : ['--compare', JSON.parse(last).commit, ...words];

const said = execFileSync(process.execPath, [bench, '--json', ...options], {
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 2 ** 28,
});
const { tables, ...facts } = JSON.parse(said);
const ratios = Object.fromEntries(
  tables
    .filter(({ title }) => title.endsWith('relay / before'))
    .flatMap(({ title, rows }) =>
      Object.entries(rows).flatMap(([row, cells]) =>
        Object.entries(cells).map(([column, numbers]) => [`${title}: ${row}: ${column}`, numbers]),
      ),
    ),
);
appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), ...facts, ratios })}\n`);
for (const [name, { median, min, max }] of Object.entries(ratios))
  console.log(
    `${min > notable && name.includes('CPU') ? 'COSTS MORE ' : ''}${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)}) ${name}`,
  );
