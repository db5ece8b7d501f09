// `npm run bench`: measures the deployed relay beside the systems for comparison, and the single process by itself.
// Prints, asserts nothing; progress goes to standard error.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildOf } from './builds.mjs';
import { changes } from './suites/changes.mjs';
import { churn } from './suites/churn.mjs';
import { connect } from './suites/connect.mjs';
import { counts, lists } from './suites/counts.mjs';
import { edge } from './suites/edge.mjs';
import { events } from './suites/events.mjs';
import { growth } from './suites/growth.mjs';
import { longTurn } from './suites/long-turn.mjs';
import { loss } from './suites/loss.mjs';
import { memory } from './suites/memory.mjs';
import { million } from './suites/million.mjs';
import { neighbours } from './suites/neighbours.mjs';
import { purge } from './suites/purge.mjs';
import { push } from './suites/push.mjs';
import { reports } from './suites/reports.mjs';
import { requests } from './suites/requests.mjs';
import { silent } from './suites/silent.mjs';
import { soak } from './suites/soak.mjs';
import { storm } from './suites/storm.mjs';
import { turns } from './suites/turns.mjs';
import { transcript } from './suites/transcript.mjs';
import { transcriptPages, transcriptTurn } from './suites/transcript-daemon.mjs';
import { events as singleEvents } from './single/events.mjs';
import { reports as singleReports } from './single/reports.mjs';
import { routes as singleRoutes } from './single/routes.mjs';
import { sockets as singleSockets } from './single/sockets.mjs';
import { start as singleStart } from './single/start.mjs';

/** Several instances next to others, in one run. */
const compared = { events, requests, connect, memory, lists, counts, growth, loss, turns, reports, silent, storm };
/** The single process alone. */
const single = {
  'single-start': singleStart,
  'single-routes': singleRoutes,
  'single-events': singleEvents,
  'single-reports': singleReports,
  'single-sockets': singleSockets,
};
/** The relay beside itself: others while one person attacks. Sixteen minutes at five rounds, so that it runs when it is asked for. */
const asked = {
  changes,
  neighbours,
  edge,
  push,
  purge,
  churn,
  soak,
  million,
  'long-turn': longTurn,
  transcript: async (options) => [
    ...(await transcriptPages(options)),
    ...(await transcriptTurn(options)),
    ...(await transcript(options)),
  ],
};
const suites = { ...compared, ...single, ...asked };
/** The suites with few processes: they take at most three minutes even on a busy machine. */
const quickly = ['events', 'requests', 'counts'];

/** The suites that measure two revisions beside each other. */
const comparable = [
  'events',
  'requests',
  'connect',
  'memory',
  'lists',
  'growth',
  'turns',
  'reports',
  'silent',
  'storm',
];
const comparedByDefault = ['events', 'requests', 'connect', 'lists', 'turns'];

const HELP = `Usage: npm run bench -- [options]

Starts the relay as it is deployed (api and gateway processes, Redis, PostgreSQL) and as one process, and measures both next
to the physical limit (the same topology on ws and ioredis, nothing checked) and to Socket.IO with its Redis adapter, in
alternating rounds. Loads are processes of their own and not counted. Numbers are the median of the rounds (lowest–highest).

  --only <names>  comma list of ${Object.keys(compared).join(', ')} (default: these)
                  and, for the single process alone, ${Object.keys(single).join(', ')};
                  changes: the list of changed files of a repository of 10,000 and of 100,000 files at a daemon
                  neighbours: requests of others while one person attacks
                  edge: HAProxy as shipped, with TLS: what a socket, a connection and an event take there
                  push: notifications to a thousand browsers, and others meanwhile
                  purge: PostgreSQL's processor time for each task that the daily purge deletes
                  transcript: a page from a long file and the memory of a long turn at a daemon,
                  and a frame of a transcript next to output of the same size
                  long-turn: a turn of 20,000 updates in ten minutes of real time, and the memory of
                  daemon, gateway and api at every tenth; with --rounds 1, and --share 0.1 for one minute
                  churn: half an hour in which people come and go, and the memory of gateway, api and Redis at every
                  tenth; with --rounds 1, and --share 0.1 for three minutes
                  million: the blocks that PostgreSQL reads for each request and for a turn, among one million sessions
                  soak: an hour of 10,000 daemons, 2,000 apps and five turns a second behind HAProxy; every instance is
                  replaced and Redis restarts. The costs of a socket and of a turn, and how long requests, deliveries
                  and events take; one round
  --rounds <n>    rounds of everything, at least 1 (default: 5)
  --share <n>     how much of everything, above 0 and up to 1 (default: 1)
  --quick         1 round of a twentieth of ${quickly.join(', ')}: to see that it works
  --profile <dir> write a profile of the relay's processor time (.cpuprofile) for each of its processes
  --compare <commit>
                  instead of the others, the relay of this commit beside the one of the working folder, and the ratio of
                  each row; for ${comparable.join(', ')} (default: ${comparedByDefault.join(', ')}).
                  It is built once, in a folder for temporary files, and stays there. A folder that is built will do, too
  --json          print JSON instead of tables
  --help          print this

bench/decode.mjs measures the decoding of frames alone. Linux only: processor time and memory are read from /proc. Needs
redis-server and PostgreSQL.
`;

function options() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      rounds: { type: 'string' },
      share: { type: 'string' },
      quick: { type: 'boolean', default: false },
      profile: { type: 'string' },
      compare: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const isCompared = values.compare !== undefined;
  const usual = isCompared ? comparedByDefault : values.quick ? quickly : Object.keys(compared);
  const names = (values.only ?? usual.join(',')).split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(suites, name));
  if (unknown !== undefined) throw new Error(`--only has "${unknown}"; known are ${Object.keys(suites).join(', ')}`);
  const alone = names.find((name) => isCompared && !comparable.includes(name));
  if (alone !== undefined) throw new Error(`--compare cannot have "${alone}"; it can have ${comparable.join(', ')}`);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds is "${values.rounds}"; it must be 1 or more`);
  const share = Number(values.share ?? (values.quick ? 0.05 : 1));
  if (!(share > 0 && share <= 1)) throw new Error(`--share is "${values.share}"; it must be above 0 and at most 1`);
  return { ...values, names, rounds, share };
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
  const { names, rounds, share, profile, compare, json, help } = options();
  if (help) return void process.stdout.write(HELP);
  if (!existsSync('/proc/self/status')) throw new Error('needs /proc, that is Linux');
  const folders = [];
  const removeFolders = () => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  };
  process.once('exit', removeFolders);
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'relay-bench-'));
    folders.push(made);
    return join(made, 'data');
  };
  const startedOn = machine();
  const tables = [];
  const before = compare === undefined ? undefined : buildOf(compare);
  try {
    for (const name of names) {
      const progress = (what) => process.stderr.write(`${name}: ${what}\n`);
      const all = await suites[name]({ rounds, share, profile, progress, folder, before: before?.folder });
      // The ratios are empty without systems for comparison.
      const measured = all.filter((table) => !table.isEmpty);
      const ratios = before ? measured.map((table) => table.ratios('relay', 'before')) : [];
      const found = [...ratios.filter((table) => table !== undefined), ...measured];
      if (!json) process.stdout.write(`${found.join('\n\n')}\n\n`);
      tables.push(...found);
    }
  } finally {
    removeFolders();
  }
  const facts = {
    ...startedOn,
    ...(before ? { before: before.commit } : {}),
    loadAtEnd: machine().load,
    rounds,
    share,
  };
  if (json) process.stdout.write(`${JSON.stringify({ ...facts, tables }, undefined, 2)}\n`);
  else
    process.stdout.write(
      `${Object.entries(facts)
        .map(([key, value]) => `${key} ${value}`)
        .join(', ')}\n`,
    );
}

// A signal also stops everything that the bench has started: the `exit` handlers stop children and remove folders.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])
  process.once(signal, () => process.exit(code));
// One listener for each process, and there can be many.
process.setMaxListeners(0);

main().catch((error) => {
  process.stderr.write(`bench: ${error.stack ?? error}\n`);
  process.exit(1);
});
