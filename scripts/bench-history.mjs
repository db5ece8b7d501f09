// Measures this revision beside the last release and fails when the relay became more expensive, for a nightly job.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const usage = `Usage: npm run bench:nightly -- <file> [options of the bench]

Measures this revision beside the last release (the newest tag v*, or --compare <commit>), appends one line of JSON with
the ratios to the file, and prints them. Exits with 1 if the processor time or a number of statements is more than
1.1 × that of the release in each of at least three rounds. \`npm run bench -- --help\` lists the options of the bench.
`;
const bench = fileURLToPath(new URL('../bench/run.mjs', import.meta.url));
/** On a busy machine, neighbouring rounds of the same build can differ by this factor. */
const notable = 1.1;

/**
 * The names of the ratios (`{ [name]: { median, min, max, rounds } }`, this revision to the release) whose lowest round
 * shows a higher cost. Two rounds do not show a spread, and times of a clock depend on the rest of the machine.
 */
export function regressions(ratios) {
  return Object.entries(ratios)
    .filter(
      ([name, { min, rounds }]) => /CPU|statements|percent of a core|µs per/.test(name) && rounds >= 3 && min > notable,
    )
    .map(([name]) => name);
}

/** The option for the newest tag of a release; empty without one. */
function releaseOption() {
  try {
    const words = ['describe', '--tags', '--abbrev=0', '--match', 'v*'];
    const tag = execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return [`--compare=${tag}`];
  } catch {
    return [];
  }
}

const compares = (words) => words.some((word) => word === '--compare' || word.startsWith('--compare='));

function main([file, ...words]) {
  if (file === undefined || file.startsWith('-')) {
    process.stdout.write(usage);
    process.exitCode = file === '--help' ? 0 : 2;
    return;
  }
  const options = compares(words) ? words : [...releaseOption(), ...words];
  if (!compares(options)) {
    process.stderr.write('No release is tagged here. Name a commit: --compare <commit>\n');
    process.exitCode = 2;
    return;
  }
  const output = execFileSync(process.execPath, [bench, '--json', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  const { tables, ...facts } = JSON.parse(output);
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
  const worse = new Set(regressions(ratios));
  for (const [name, { median, min, max }] of Object.entries(ratios)) {
    const numbers = `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
    console.log(`${worse.has(name) ? 'COSTS MORE ' : ''}${numbers} ${name}`);
  }
  if (worse.size > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
