// `node bench/model.mjs`: the size of an installation, computed from measurements (docs/performance.md,
// docs/operations.md) and from the activity of its people. docs/operations.md takes its tables from it;
// `tests/k8s-sizing.house.test.ts` keeps them equal.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** The work of people and daemons; each rate is an option of the command line. */
export const rates = {
  connects: { usual: 1, means: 'connections of a daemon, a day' },
  reports: { usual: 8, means: 'changed reports of a daemon, a day' },
  turns: { usual: 4, means: 'turns of conversation of a daemon, a day' },
  events: { usual: 12, means: 'frames for apps that a turn brings' },
  kept: { usual: 3, means: 'of them messages that are kept for who comes back' },
  apps: { usual: 0.2, means: 'apps in the busiest hour, for each daemon' },
  requests: { usual: 10, means: 'requests of an app in the busiest hour' },
  busiest: { usual: 0.2, means: 'of the work of a day, in its busiest hour' },
  active: { usual: 1 / 12, means: 'of the people of the busiest hour, active within five minutes' },
  days: { usual: 30, means: 'days that tasks are kept' },
};

/** Assumed, in US dollars a month: typical prices of large clouds for machines rented by the hour. */
const prices = {
  core: { usual: 25, means: 'dollars for a core, a month' },
  gib: { usual: 3.5, means: 'dollars for a GiB of memory, a month' },
};

/**
 * Processor time, µs, by where it is spent. Frames travel alone, which is dearer than in batches: at these rates they nearly always do.
 * A turn's PostgreSQL time is from the hour of the soak, less the rest of its daemons and apps. A busier PostgreSQL takes less.
 * Statements without their own figure take 140 µs.
 */
export const costs = {
  /** A silent daemon for a ping interval, and its lease. */
  silent: { gateway: 100, redis: 14, postgres: 4 },
  event: { gateway: 112, api: 64, redis: 22 },
  kept: { gateway: 140, api: 64, redis: 41 },
  /** A message until its task is over, without its frames. */
  turn: { gateway: 1_600, api: 2_600, redis: 800, postgres: 6_000 },
  report: { gateway: 470, redis: 40, postgres: 420 },
  connect: { gateway: 1_000, redis: 80, postgres: 105 },
  /** Between a list and a message. */
  request: { api: 3_000, redis: 48, postgres: 280 },
};

/**
 * Numbers of them; a device is noted as alive once in 300 s, its lease is renewed once in 20 s, and the sweep of orphans reads device and
 * lease about as often. A statement notes or reads 500 devices, a command to Redis reads 256 leases; renewals are counted one by one, since
 * a gateway with few daemons sends them so.
 */
const statements = { connect: 6, report: 3, turn: 12, request: 2, device: (1 / 300 + 1 / 20) / 500 };
const operations = { connect: 4, turn: 8, event: 2, kept: 2, device: 1 / 20 + 1 / 20 / 256 };

export const limits = {
  /** Planned sockets of an instance, and its limits. */
  socketsPerInstance: 5_000,
  connectsPerGateway: 150,
  pingSeconds: 30,
  /** MB of an instance without sockets, KB of a socket as planned: several times the size of a silent socket. */
  idleMB: { gateway: 180, api: 315 },
  socketKB: { gateway: 40, api: 40 },
  /** Maximum load of a core. Above it queues grow faster than work. */
  load: { instance: 0.6, redis: 0.5, postgres: 0.5 },
  /** PostgreSQL time for a daemon that connects in a storm: three times that of a daemon with an empty report. */
  connectMs: 0.3,
  /** A machine for PostgreSQL that can be rented anywhere; from there on cells. */
  postgresCores: 16,
  poolPerInstance: 10,
  /** Operations a second of one Redis, half of its capacity; the planned share of its memory. */
  redisOperations: 10_000,
  redisMemoryShare: 0.1,
  redisKBPerDaemon: 1,
  redisKBPerPerson: 100,
};

/** The requests of the manifests, of each: cores, and GiB at most. The edge is planned: HAProxy takes less (`--only edge`), Envoy was not measured. */
const requested = {
  gateway: { cores: 0.4, gib: 1 },
  api: { cores: 0.4, gib: 0.625 },
  edge: { cores: 1, gib: 4, sockets: 25_000, least: 3 },
};
/** Daemons of one installation, where there are several. */
const cell = 100_000;

const powerOfTwo = (value) => 2 ** Math.ceil(Math.log2(value));
const sum = (values) => values.reduce((all, value) => all + value, 0);

/** The needs of so many daemons in the busiest hour. */
export function sizeOf(daemons, rate) {
  const perSecond = (aDay) => (daemons * aDay * rate.busiest) / 3600;
  const apps = daemons * rate.apps;
  const kept = Math.min(rate.kept, rate.events);
  const each = {
    device: daemons,
    silent: daemons / limits.pingSeconds,
    connect: perSecond(rate.connects),
    // A report that changed something shows one frame.
    report: perSecond(rate.reports),
    turn: perSecond(rate.turns),
    event: perSecond(rate.turns * (rate.events - kept) + rate.reports),
    kept: perSecond(rate.turns * kept),
    request: (apps * rate.requests) / 3600,
  };
  const cores = (where) => sum(Object.entries(each).map(([what, n]) => (n * (costs[what]?.[where] ?? 0)) / 1e6));

  const instances = (where, sockets) => {
    const bySockets = Math.ceil(sockets / limits.socketsPerInstance);
    // Two, so that one survives, and one more, so that one can be down.
    return Math.max(2, bySockets, Math.ceil(cores(where) / limits.load.instance)) + 1;
  };
  const gateways = instances('gateway', daemons);
  const apis = instances('api', apps);
  const memoryMB = (where, sockets, count) =>
    limits.idleMB[where] + (Math.min(sockets / (count - 1), limits.socketsPerInstance) * limits.socketKB[where]) / 1000;

  const perSecondOf = (table) => sum(Object.entries(table).map(([what, n]) => each[what] * n));
  const statementsPerSecond = perSecondOf(statements);
  const operationsPerSecond = perSecondOf(operations);
  const redisCores = cores('redis');
  const redisMiB = (limits.redisKBPerDaemon * daemons + limits.redisKBPerPerson * apps * rate.active) / 1024;
  const shards = Math.max(
    1,
    Math.ceil(operationsPerSecond / limits.redisOperations),
    Math.ceil(redisCores / limits.load.redis),
  );

  // Enough to keep up with the gateways' accept rate after a fault; at least two, so that one works while the other
  // vacuums.
  const storm = (gateways * limits.connectsPerGateway * limits.connectMs) / 1000;
  const busy = cores('postgres') / limits.load.postgres;
  const postgresCores = Math.min(limits.postgresCores, powerOfTwo(Math.max(2, busy, storm)));
  const taskRows = daemons * rate.turns * rate.days;

  return {
    daemons,
    perSecond: each,
    apps,
    gateways,
    gatewayCores: cores('gateway'),
    gatewayMB: memoryMB('gateway', daemons, gateways),
    apis,
    apiCores: cores('api'),
    apiMB: memoryMB('api', apps, apis),
    statementsPerSecond,
    connections: limits.poolPerInstance * (gateways + apis),
    postgresBusy: cores('postgres'),
    postgresCores,
    postgresGiB: postgresCores * 4,
    taskRows,
    operationsPerSecond,
    redisCores,
    redisMiB,
    redisShards: shards,
    redisShardMiB: Math.max(256, powerOfTwo(redisMiB / shards / limits.redisMemoryShare)),
    stormSeconds: Math.max(
      daemons / (limits.connectsPerGateway * gateways),
      (daemons * limits.connectMs) / 1000 / postgresCores,
    ),
  };
}

/**
 * The machines for a size: all pods, the edge, PostgreSQL with a standby, Redis with its Sentinels or cluster nodes.
 */
function rentOf(size, rate) {
  const pods = (role, count, busy) => ({
    cores: Math.max(count * requested[role].cores, busy / limits.load.instance),
    gib: count * requested[role].gib,
  });
  const sockets = size.daemons * (1 + rate.apps);
  const edges = Math.max(requested.edge.least, Math.ceil(sockets / requested.edge.sockets));
  const redisNodes = size.redisShards > 1 ? size.redisShards * 2 : size.daemons < 10_000 ? 1 : 3;
  const parts = [
    pods('gateway', size.gateways, size.gatewayCores),
    pods('api', size.apis, size.apiCores),
    { cores: edges * requested.edge.cores, gib: edges * requested.edge.gib },
    { cores: size.postgresCores * 2, gib: size.postgresGiB * 2 },
    { cores: redisNodes, gib: (redisNodes * size.redisShardMiB) / 1024 },
  ];
  const [cores, gib] = [sum(parts.map((part) => part.cores)), sum(parts.map((part) => part.gib))];
  return { daemons: size.daemons, cores, gib, month: cores * rate.core + gib * rate.gib };
}

/** The same as cells, each an installation of its own; undefined if it fits into one. */
function cellsOf(daemons, rate) {
  if (daemons <= cell) return undefined;
  const count = Math.ceil(daemons / cell);
  return { count, month: count * rentOf(sizeOf(Math.ceil(daemons / count), rate), rate).month };
}

/** The largest number of daemons that satisfies `holds`, to a thousand. */
function mostDaemons(holds, given) {
  let daemons = 0;
  for (let step = 2 ** 20; step >= 1; step /= 2)
    while (daemons + step <= 10_000 && holds(sizeOf((daemons + step) * 1000, given))) daemons += step;
  return daemons * 1000;
}

/** Two digits match the precision of such a model. */
function shown(value, unit = '') {
  if (value < 1) return `< 1${unit}`;
  const digit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return `${(Math.round(value / digit) * digit).toLocaleString('en')}${unit}`;
}
const whole = (value) => value.toLocaleString('en');
const core = (value) => (value < 0.1 ? '< 0.1' : value < 10 ? value.toFixed(1) : shown(value));
const memory = (mib) => (mib < 1024 ? `${mib} MiB` : `${mib / 1024} GiB`);

function redisOf({ daemons, redisShards, redisShardMiB }) {
  if (redisShards > 1) return `Cluster, ${redisShards} shards of ${memory(redisShardMiB)}`;
  return `${daemons < 10_000 ? 'one' : 'Sentinel (3)'}, ${memory(redisShardMiB)}`;
}

const columns = [
  ['Daemons', ({ daemons }) => whole(daemons)],
  ['Gateways', ({ gateways, gatewayMB }) => `${gateways} × ${shown(gatewayMB, ' MB')}`],
  ['busy cores', ({ gatewayCores }) => core(gatewayCores)],
  ['Apis', ({ apis, apiMB }) => `${apis} × ${shown(apiMB, ' MB')}`],
  ['busy cores', ({ apiCores }) => core(apiCores)],
  ['Statements/s', ({ statementsPerSecond }) => shown(statementsPerSecond)],
  ['Connections', ({ connections }) => whole(connections)],
  ['PostgreSQL', ({ postgresCores, postgresGiB }) => `${postgresCores} cores, ${postgresGiB} GiB`, '---'],
  ['Rows of tasks', ({ taskRows }) => shown(taskRows)],
  ['Operations/s in Redis', ({ operationsPerSecond }) => shown(operationsPerSecond)],
  ['busy cores', ({ redisCores }) => core(redisCores)],
  ['Memory of Redis', ({ redisMiB }) => shown(redisMiB, ' MiB')],
  ['Redis', redisOf, '---'],
  ['Storm', ({ stormSeconds }) => shown(stormSeconds, ' s')],
];

const dollars = (value) => `$${shown(value)}`;
const rentColumns = [
  ['Daemons', ({ daemons }) => whole(daemons)],
  ['Cores', ({ cores }) => shown(cores)],
  ['Memory', ({ gib }) => shown(gib, ' GiB')],
  ['A month', ({ month }) => dollars(month)],
  ['For 1,000 daemons', ({ month, daemons }) => dollars((month / daemons) * 1000)],
  ['In cells', ({ cells }) => (cells ? `${dollars(cells.month)}, ${cells.count} cells` : ''), '---'],
];

const table = (columns, rows) =>
  [
    columns.map(([title]) => title),
    columns.map(([, , align]) => align ?? '---:'),
    ...rows.map((row) => columns.map(([, cellOf]) => cellOf(row))),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/** The sizes in Markdown, the limit of one Redis, and the cost. */
function markdown(sizes, given) {
  const redisEnds = mostDaemons(({ redisShards }) => redisShards === 1, given);
  const rents = sizes.map((size) => ({ ...rentOf(size, given), cells: cellsOf(size.daemons, given) }));
  return `${table(columns, sizes)}

With these rates one Redis is enough up to ${shown(redisEnds)} daemons, then Redis Cluster.

The price, at $${given.core} for a core and $${given.gib} for a GiB of memory a month (assumed: \`--core\`, \`--gib\`), with three Envoys at least, a standby of
PostgreSQL and three Redis from 10,000 daemons on; without disks, traffic and load balancers:

<!-- prettier-ignore -->
${table(rentColumns, rents)}
`;
}

const usualSizes = [1_000, 10_000, 100_000, 1_000_000];
const questions = { ...rates, ...prices };
const options = Object.entries(questions).map(
  ([name, { usual, means }]) => `  --${`${name} <n>`.padEnd(15)} ${means} (default: ${Number(usual.toFixed(3))})`,
);
const help = `Usage: node bench/model.mjs [options]

Prints what an installation needs in its busiest hour: instances, cores and memory, PostgreSQL and Redis.

  --daemons <list>  comma list (default: ${usualSizes.join(',')})
${options.join('\n')}
  --json            print JSON: rates, costs, limits, sizes
  --write           write the tables of docs/operations.md
  --help            print this
`;

/** Puts the tables into the page, between its two marks. */
async function writePage(tables) {
  const page = fileURLToPath(new URL('../docs/operations.md', import.meta.url));
  const marked = /(<!-- model: .* -->\n<!-- prettier-ignore -->\n)[\s\S]*(\n<!-- model: end -->)/;
  const text = await readFile(page, 'utf8');
  if (!marked.test(text)) throw new Error('docs/operations.md has no place for the tables');
  await writeFile(
    page,
    text.replace(marked, (_, begin, end) => `${begin}${tables}${end}`),
  );
}

function numberOf(name, text) {
  const number = text.trim() === '' ? NaN : Number(text);
  if (number >= 0 && Number.isFinite(number)) return number;
  throw new Error(`--${name} is "${text}"; it must be a number, 0 or more`);
}

async function main() {
  const flags = ['json', 'write', 'help'].map((name) => [name, { type: 'boolean', default: false }]);
  const words = [...Object.keys(questions), 'daemons'].map((name) => [name, { type: 'string' }]);
  const { values } = parseArgs({ options: Object.fromEntries([...flags, ...words]) });
  if (values.help) return void process.stdout.write(help);
  const given = Object.fromEntries(
    Object.entries(questions).map(([name, { usual }]) => [name, values[name] ? numberOf(name, values[name]) : usual]),
  );
  const asked = values.daemons?.split(',').map((text) => numberOf('daemons', text)) ?? usualSizes;
  const sizes = asked.map((daemons) => sizeOf(daemons, given));
  const json = () => `${JSON.stringify({ rates: given, costs, limits, sizes }, undefined, 2)}\n`;
  if (values.write) await writePage(markdown(sizes, given));
  else process.stdout.write(values.json ? json() : markdown(sizes, given));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  main().catch((error) => {
    process.stderr.write(`model: ${error.message}\n`);
    process.exitCode = 1;
  });
