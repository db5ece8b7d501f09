// `node bench/faults.mjs`: five faults of a large installation, simulated by the second. The inputs are the figures of
// docs/performance.md, read from that page by their names, and the sizes of bench/model.mjs. docs/operations.md takes its table from
// here; `tests/k8s-sizing.house.test.ts` compares the two.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { costs, limits, rates, sizeOf } from './model.mjs';

const daemons = 1_000_000;
const gateways = 210;
const usual = Object.fromEntries(Object.entries(rates).map(([name, { usual: value }]) => [name, value]));
const size = sizeOf(daemons, usual);

const read = (name) => readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8');
const page = await read('performance.md');
/** The first number in the last cell with a number of the row with this name. */
function figure(name) {
  const row = page.split('\n').find((line) => line.startsWith(`| ${name} `));
  const text = row
    ?.split('|')
    .map((cell) => cell.match(/[\d,.]*\d/)?.[0])
    .findLast((number) => number !== undefined);
  if (text === undefined) throw new Error(`docs/performance.md has no row "${name}"`);
  return Number(text.replaceAll(',', ''));
}
const measured = {
  /** Processor time of HAProxy, µs. */
  handshake: figure('a connection, with its handshake, µs'),
  /** Processor time of PostgreSQL for a daemon that returns, µs. */
  connect: figure('the same, PostgreSQL'),
  purged: figure('a task that the purge deletes, µs of PostgreSQL'),
};

/** Behaviour of the programs: rules, defaults and manifests. */
const behaviour = {
  zones: 3,
  /** Retry-After of a refused daemon is 1 to 5 s (apps/gateway/src/door/door.ts), and up to a second is added (packages/daemon-kit). */
  retrySeconds: [2, 3, 4, 5, 6],
  /** maxSurge, preStop and DRAIN_SECONDS of k8s/base. */
  surge: 0.25,
  preStopSeconds: 10,
  drainSeconds: 30,
  readySeconds: 6,
  /** Frames of daemons wait for PostgreSQL so long. */
  databaseSeconds: 30,
  /** A replica of Redis Cluster takes over after this time; owners restore their leases within `leaseSeconds`. */
  shardSeconds: 12,
  leaseSeconds: 20,
  /** Requests of an app that reloads. */
  reload: 2,
};
/** Sockets of an edge, with a core (k8s/components). */
const edges = Math.ceil((daemons * (1 + usual.apps)) / 25_000);

const percent = (share) => (share > 2 ? `${Math.round(share)} × its capacity` : `${Math.round(share * 100)} %`);
const whole = (value) => Math.round(value).toLocaleString('en');
const seconds = (value) => (value < 7200 ? `${whole(value)} s` : `${(value / 3600).toFixed(1)} h`);
/** The three busiest resources, as shares of their capacity. */
const order = (use) =>
  Object.entries(use)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 3)
    .map(([name, share]) => `${name} ${percent(share)}`);

/** Shares of capacity while this many daemons connect in a second. */
const connecting = (accepted, attempts, gatewaysLeft, edgesLeft) => ({
  gateways: accepted / (gatewaysLeft * limits.connectsPerGateway),
  'the edge': (attempts * measured.handshake) / 1e6 / edgesLeft,
  PostgreSQL: (accepted * measured.connect) / 1e6 / size.postgresCores,
  Redis: (accepted * costs.connect.redis) / 1e6 / size.redisShards,
});

/** A daemon passes an edge and a gateway, each in any zone: it stays if both do. */
function zoneLost() {
  const stay = 1 - 1 / behaviour.zones;
  const lost = daemons * (1 - stay ** 2);
  const [gatewaysLeft, edgesLeft] = [Math.floor(gateways * stay), Math.floor(edges * stay)];
  const [accepts, handshakes] = [gatewaysLeft * limits.connectsPerGateway, (edgesLeft * 1e6) / measured.handshake];
  const due = [lost];
  let [back, peak, second, refused] = [0, {}, 0, 0];
  for (; back < lost - 1; second += 1) {
    const arriving = due[second] ?? 0;
    const attempts = Math.min(arriving, handshakes);
    const accepted = Math.min(attempts, accepts);
    // The edge lets further handshakes wait for the next second.
    due[second + 1] = (due[second + 1] ?? 0) + arriving - attempts;
    for (const wait of behaviour.retrySeconds)
      due[second + wait] = (due[second + wait] ?? 0) + (attempts - accepted) / behaviour.retrySeconds.length;
    refused += attempts - accepted;
    back += accepted;
    for (const [name, share] of Object.entries(connecting(accepted, arriving, gatewaysLeft, edgesLeft)))
      peak[name] = Math.max(peak[name] ?? 0, share);
  }
  return {
    fault: 'a zone of three is lost',
    saturates: order(peak),
    takes: seconds(second),
    lost: `${whole(lost)} daemons reconnect, ${whole(refused)} of their tries are refused`,
    operator: `waits; a gateway then holds ${whole(daemons / gatewaysLeft)} sockets of 12,000`,
  };
}

/** Envoy compares two random gateways and takes the one with fewer sockets. */
function rollout() {
  const batch = Math.ceil(gateways * behaviour.surge);
  let [old, fresh, oldSockets, freshSockets, moves, time] = [gateways, 0, daemons, 0, 0, 0];
  let peak = {};
  while (old > 0) {
    const leaving = Math.min(batch, old);
    const released = (oldSockets * leaving) / old;
    [old, fresh] = [old - leaving, fresh + leaving];
    const perSecond = released / behaviour.drainSeconds;
    const share = 1 - (old / (old + fresh)) ** 2;
    const use = {
      ...connecting(perSecond, perSecond, old + fresh, edges),
      'new gateways': (perSecond * share) / (fresh * limits.connectsPerGateway),
    };
    for (const [name, value] of Object.entries(use)) peak[name] = Math.max(peak[name] ?? 0, value);
    oldSockets += released * (1 - share) - released;
    freshSockets += released * share;
    moves += released;
    time += behaviour.readySeconds + behaviour.preStopSeconds + behaviour.drainSeconds;
  }
  return {
    fault: `a rollout of ${gateways} gateways`,
    saturates: order(peak),
    takes: seconds(time),
    lost: `a daemon moves ${(moves / daemons).toFixed(1)} times`,
    operator: 'waits',
  };
}

function databaseFailsOver() {
  const away = behaviour.databaseSeconds;
  const backlog = size.postgresBusy * away;
  const { request, turn, event, kept, connect } = size.perSecond;
  const frames = (event + kept) * away;
  return {
    fault: `PostgreSQL is away for ${away} s`,
    saturates: [
      `${whole(size.connections)} connections at once`,
      `its cores for ${seconds(Math.ceil(backlog / size.postgresCores))}`,
    ],
    takes: seconds(away + Math.ceil(backlog / size.postgresCores)),
    lost: `${whole((request + turn) * away)} requests get 503, ${whole(connect * away)} daemons connect later, ${whole(frames)} frames wait`,
    operator: 'has `max_connections` above that, or a pooler',
  };
}

function shardFails() {
  const part = 1 / size.redisShards;
  const { turn } = size.perSecond;
  const restored = (daemons * part) / behaviour.leaseSeconds;
  const reloads = size.apps * part * behaviour.reload;
  // Half of a core stays free for other work of an api.
  const apiSeconds = (reloads * costs.request.api) / 1e6 / (size.apis * 0.5);
  return {
    fault: `one of ${size.redisShards} shards of Redis is away for ${behaviour.shardSeconds} s`,
    saturates: [
      `apis for ${seconds(Math.ceil(apiSeconds))}`,
      `its successor ${percent((restored + size.operationsPerSecond * part) / (2 * limits.redisOperations))}`,
    ],
    takes: seconds(behaviour.shardSeconds + behaviour.leaseSeconds),
    lost: `${whole(size.apps * part)} apps reload, ${whole(turn * part * behaviour.shardSeconds)} messages are late`,
    operator: 'adds a shard above 10,000 operations a second each',
  };
}

function yearPurged() {
  const rows = daemons * usual.turns * (365 - usual.days);
  const daily = (daemons * usual.turns * measured.purged) / 1e6;
  const busy = (rows * measured.purged) / 1e6;
  return {
    fault: 'a year of tasks is purged at once',
    saturates: [`one core of ${size.postgresCores} of PostgreSQL`],
    takes: `${seconds(busy)} (a day: ${seconds(daily)})`,
    lost: `${whole(rows / 1e6)} million rows; the files keep their size`,
    operator: 'rolls out nothing: a gateway that leaves stops it for a day',
  };
}

const rows = [zoneLost(), rollout(), databaseFailsOver(), shardFails(), yearPurged()];
const table = [
  ['Fault', 'Saturates first, then', 'Takes', 'Costs', 'The operator'],
  Array(5).fill('---'),
  ...rows.map(({ fault, saturates, takes, lost, operator }) => [fault, saturates.join(', '), takes, lost, operator]),
]
  .map((cells) => `| ${cells.join(' | ')} |`)
  .join('\n');

if (process.argv.includes('--write')) {
  const marked = /(<!-- faults: .* -->\n<!-- prettier-ignore -->\n)[\s\S]*(\n<!-- \/faults -->)/;
  const text = await read('operations.md');
  if (!marked.test(text)) throw new Error('docs/operations.md has no place for the table');
  const target = fileURLToPath(new URL('../docs/operations.md', import.meta.url));
  await writeFile(
    target,
    text.replace(marked, (_, begin, end) => `${begin}${table}\n${end}`),
  );
} else process.stdout.write(`${table}\n`);
