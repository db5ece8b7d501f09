// `npm run bench`: measures the single process as it is shipped. Prints, asserts nothing; progress goes to standard error.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { events } from './suites/events.mjs';
import { reports } from './suites/reports.mjs';
import { routes } from './suites/routes.mjs';
import { sockets } from './suites/sockets.mjs';
import { start } from './suites/start.mjs';

const suites = { start, routes, events, reports, sockets };

const HELP = `Usage: npm run bench -- [options]

Starts the built relay (apps/standalone/dist/main.js) as a process of its own on an embedded database in a temporary folder
and measures it next to bare servers, in alternating rounds. Numbers are the median of the rounds (lowest–highest).

  --only <names>  comma list of ${Object.keys(suites).join(', ')} (default: all)
  --rounds <n>    rounds of everything, at least 1 (default: 5)
  --json          print JSON instead of tables
  --help          print this

bench/decode.mjs measures the decoding of frames alone. Linux only: memory is read from /proc.
`;

function options() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: Object.keys(suites).join(',') },
      rounds: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = values.only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(suites, name));
  if (unknown !== undefined) throw new Error(`--only has "${unknown}"; known are ${Object.keys(suites).join(', ')}`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds is "${values.rounds}"; it must be 1 or more`);
  return { ...values, names, rounds };
}

function machine() {
  const [{ model }, { length }] = [cpus()[0], cpus()];
  let commit = 'unknown';
  try {
    commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    // Not a checkout.
  }
  const load = loadavg()
    .map((one) => one.toFixed(1))
    .join(' ');
  return { node: process.version, v8: process.versions.v8, cpus: `${length} × ${model.trim()}`, commit, load };
}

async function main() {
  const { names, rounds, json, help } = options();
  if (help) return void process.stdout.write(HELP);
  if (!existsSync('/proc/self/status')) throw new Error('needs /proc, that is Linux');
  const folders = [];
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'relay-bench-'));
    folders.push(made);
    return join(made, 'data');
  };
  const startedOn = machine();
  const tables = [];
  try {
    for (const name of names) {
      const progress = (what) => process.stderr.write(`${name}: ${what}\n`);
      const found = await suites[name]({ rounds, progress, folder });
      if (!json) process.stdout.write(`${found.join('\n\n')}\n\n`);
      tables.push(...found);
    }
  } finally {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  }
  const facts = { ...startedOn, loadAtEnd: machine().load, rounds };
  if (json) process.stdout.write(`${JSON.stringify({ ...facts, tables }, undefined, 2)}\n`);
  else
    process.stdout.write(
      `${Object.entries(facts)
        .map(([key, value]) => `${key} ${value}`)
        .join(', ')}\n`,
    );
}

main().catch((error) => {
  process.stderr.write(`bench: ${error.stack ?? error}\n`);
  process.exit(1);
});
