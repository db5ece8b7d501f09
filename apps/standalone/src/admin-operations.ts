/**
 * The commands of `relay-admin` for an operator on call: the state of the release, the devices of a person, the queues, and a check of everything.
 * They work as far as they can while PostgreSQL or Redis is away.
 */
import { connect } from 'node:tls';
import type { People } from '@relay/api';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  listDevicesOf,
  listGateways,
  listWaiting,
  readInstallationId,
  readOverview,
} from '@relay/database';
import { type Backplane, describeRedis, takeRedis } from '@relay/backplane';
import type { CommandOutcome } from './admin-socket.ts';
import { Refused } from './refused.ts';

export interface AdminDeps {
  people: People;
  config: RelayConfig;
  database: Database;
  backplane: Pick<Backplane, 'health' | 'publishControl' | 'take' | 'put'>;
  version: string;
}

/** As `AdminDeps`, with an error for each dependency that failed to open. */
export interface DiagnosticDeps extends Pick<AdminDeps, 'config' | 'version'> {
  database: AdminDeps['database'] | Error;
  backplane: AdminDeps['backplane'] | Error;
}

/** @throws the error of a dependency that failed to open */
function opened<T>(part: T | Error): T {
  if (part instanceof Error) throw part;
  return part;
}

const healthOf = async (part: Pick<AdminDeps['backplane'], 'health'> | Error) =>
  part instanceof Error ? { ok: false, probeMs: 0, reason: part.message } : { ...(await part.health()), reason: '' };

/** Where people sign in if this relay lacks a sign-in of its own; undefined otherwise. */
export function signInElsewhere({ authBuiltin, authIssuers }: RelayConfig): string | undefined {
  if (authBuiltin) return undefined;
  const issuers = authIssuers.map(({ issuer }) => issuer).join(', ') || 'the issuer for development';
  return `This relay has no sign-in of its own (AUTH_BUILTIN is off): people have their accounts at ${issuers}.`;
}

const linesAtMost = 100;
const patienceMs = 5_000;

interface Options {
  json?: boolean | undefined;
  over?: string | undefined;
  yes?: boolean | undefined;
}

const ago = (seconds: number): string =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`;

export async function status(deps: DiagnosticDeps, _: string, { json }: Options): Promise<string[]> {
  const { version } = deps;
  const database = opened(deps.database);
  const [found, db, plane] = await Promise.all([readOverview(database), database.health(), healthOf(deps.backplane)]);
  const schema = database.newerMigrations.length > 0 ? 'newer' : 'own';
  if (json) return [JSON.stringify({ version, database: db.ok, backplane: plane.ok, schema, ...found })];
  const { tasks } = found;
  return [
    `release ${version}; the database schema is from ${schema === 'own' ? 'this' : 'a newer'} release`,
    `database ${db.ok ? 'ok' : 'NOT READY'} (${db.probeMs.toFixed(0)} ms), backplane ${plane.ok ? 'ok' : 'NOT READY'} (${plane.probeMs.toFixed(0)} ms)`,
    `${found.people} people, ${found.devices} devices, ${found.devicesOnline} online`,
    `tasks: ${tasks.queued} queued, ${tasks.sent} in delivery, ${tasks.running} running`,
    `oldest unsent notification: ${found.outboxSeconds === 0 ? 'none' : ago(found.outboxSeconds)}`,
  ];
}

export async function devices({ database }: DiagnosticDeps, email: string, { json }: Options): Promise<string[]> {
  const found = await listDevicesOf(opened(database), email, linesAtMost);
  if (json) return found.map((device) => JSON.stringify(device));
  if (found.length === 0) return [email === '' ? 'No devices yet.' : `${email} has no devices.`];
  return found.map(
    ({ id, email: owner, name, status: state, lastSeenAt }) =>
      `${id}  ${state.padEnd(7)}  ${lastSeenAt?.toISOString() ?? 'never seen'}  ${owner || '(another sign-in)'}  ${name}`,
  );
}

export async function queues({ database }: DiagnosticDeps, _: string, { json }: Options): Promise<string[]> {
  const found = await listWaiting(opened(database), linesAtMost);
  if (json) return found.map((queue) => JSON.stringify(queue));
  if (found.length === 0) return ['No messages are queued.'];
  return found.map(
    ({ deviceId, email, status: state, waiting, oldestSeconds }) =>
      `${deviceId}  ${state.padEnd(7)}  ${waiting} queued, the oldest for ${ago(oldestSeconds)}  ${email}`,
  );
}

const defaultDrainMinutes = 10;
const longestDrainMinutes = 24 * 60;

/** If no gateway is named, lists all gateways and their device counts. */
export async function drain(deps: DiagnosticDeps, word: string, options: Options): Promise<string[]> {
  const { config } = deps;
  const { json } = options;
  if (config.redisUrl === undefined)
    throw new Refused(
      'This relay is a single process, so there is no gateway to drain. Stop it instead; its daemons reconnect when it is back.',
    );
  const gateways = await listGateways(opened(deps.database));
  if (word === '') {
    if (json) return gateways.map((gateway) => JSON.stringify(gateway));
    if (gateways.length === 0) return ['No gateway has a device.'];
    return gateways.map(({ instance, devices }) => `${instance}  ${devices} devices`);
  }
  const minutes = Number(options.over ?? defaultDrainMinutes);
  if (!(minutes >= 0 && minutes <= longestDrainMinutes))
    throw new Refused(`--over takes minutes, from 0 to ${longestDrainMinutes}.`);
  // A pod runs one instance after another; each has its own name.
  const [gateway, ...more] = gateways.filter(({ instance }) => instance === word || instance.startsWith(`${word}-`));
  if (!gateway)
    throw new Refused(`No gateway "${word}" has a device. "relay-admin drain" lists the gateways with devices.`);
  if (more.length > 0)
    throw new Refused(`"${word}" matches ${more.length + 1} gateways. Use a full name from "relay-admin drain".`);
  const { instance, devices: held } = gateway;
  const control = { v: 1, kind: 'gateway_drained', instance, overMs: Math.round(minutes * 60_000) };
  await opened(deps.backplane).publishControl(JSON.stringify(control));
  if (json) return [JSON.stringify({ instance, devices: held, minutes })];
  return [
    `${instance} accepts no more daemons, and closes the connections of its ${held} within ${minutes} min.`,
    '"relay-admin drain" shows how many are left. Then delete the pod: only a new pod accepts daemons again.',
  ];
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

export async function redis({ config }: DiagnosticDeps, _: string, { json }: Options): Promise<string[]> {
  if (config.redisUrl === undefined)
    throw new Refused('This relay has no Redis: it is one process, and keeps that data in its memory.');
  const servers = await describeRedis(config.redisUrl);
  if (json) return servers.map((server) => JSON.stringify(server));
  return servers.flatMap((server) => [
    `${server.server}: Redis ${server.version}, ${megabytes(server.usedBytes)} of ${server.maxBytes === 0 ? 'no limit (set maxmemory)' : megabytes(server.maxBytes)}, ${server.policy}${server.policy === 'noeviction' ? '' : ' (the relay needs noeviction)'}, ${server.evicted} evicted`,
    `${server.keys} keys, ${server.sampled} sampled`,
    ...server.kinds.map(
      ({ kind, records, bytes }) => `  ${kind.padEnd(18)}  ${String(records).padStart(9)}  ${megabytes(bytes)}`,
    ),
    'largest:',
    ...server.largest.map(({ key, bytes }) => `  ${megabytes(bytes)}  ${key}`),
  ]);
}

/** Claims Redis for this installation when another one has claimed it. */
export async function takeRedisHere(deps: DiagnosticDeps, _: string, { json, yes }: Options): Promise<string[]> {
  if (deps.config.redisUrl === undefined) throw new Refused('This relay has no Redis: it is one process.');
  if (!yes)
    throw new Refused(
      'This disrupts instances of another installation that still use this Redis. Stop them first, then add --yes to confirm.',
    );
  const installation = await readInstallationId(opened(deps.database));
  const before = await takeRedis(opened(deps.backplane), installation);
  if (json) return [JSON.stringify({ installation, before: before ?? null })];
  return [
    before === undefined
      ? `Redis already belonged to this installation (${installation}), or to no installation. Start the relay.`
      : `Redis now belongs to this installation (${installation}); before, it belonged to ${before}. Start the relay.`,
  ];
}

interface Finding {
  what: string;
  ok: boolean;
  say: string;
}

/** Days until the certificate of the address expires; rejects if TLS fails. */
function daysOfCertificate({ hostname, port }: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: hostname, servername: hostname, port: Number(port || 443), timeout: patienceMs },
      () => {
        resolve((new Date(socket.getPeerCertificate().valid_to).getTime() - Date.now()) / 86_400_000);
        socket.destroy();
      },
    );
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${patienceMs / 1000} s`)));
    socket.once('error', reject);
  });
}

/** Every finding with advice; the exit code is 1 if any is bad. */
export async function doctor(deps: DiagnosticDeps, _: string, { json }: Options): Promise<CommandOutcome> {
  const { database, backplane, config } = deps;
  const findings: Finding[] = [];
  const add = (what: string, ok: boolean, good: string, bad: string) =>
    findings.push({ what, ok, say: ok ? good : bad });
  const db = await healthOf(database);
  add(
    'database',
    db.ok,
    `answers in ${db.probeMs.toFixed(0)} ms`,
    db.reason || 'does not answer or is read-only: check its own console first',
  );
  const plane = await healthOf(backplane);
  add(
    'backplane',
    plane.ok,
    `answers in ${plane.probeMs.toFixed(0)} ms`,
    `${plane.reason || 'does not answer'}: look at Redis, its memory, its password`,
  );
  if (!(database instanceof Error)) {
    const newer = database.newerMigrations;
    add(
      'schema',
      newer.length === 0,
      'is from this release',
      `is from a newer release (${newer.join(', ')}): this release works with it; deploy the newer release when you are ready`,
    );
  }
  if (db.ok) {
    const { people, outboxSeconds } = await readOverview(opened(database));
    const elsewhere = signInElsewhere(config);
    add(
      'accounts',
      elsewhere !== undefined || people > 0,
      elsewhere ?? `${people}`,
      'none yet: "relay-admin setup-link" prints the link for the first one',
    );
    add(
      'notifications',
      outboxSeconds < 120,
      'none is late',
      `the oldest has waited for ${ago(outboxSeconds)}: no api sends them`,
    );
  }
  const url = new URL(config.publicUrl);
  const health = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(patienceMs) }).then(
    (response) => (response.ok ? '' : `answers ${response.status}`),
    (error: unknown) => `is not reachable from here (${String((error as Error).cause ?? error)})`,
  );
  add(
    'PUBLIC_URL',
    health === '',
    `${url.origin} answers`,
    `${url.origin} ${health}: check the edge, its certificate and the network policies`,
  );
  if (url.protocol === 'https:') {
    const days = await daysOfCertificate(url).catch(() => -1);
    add(
      'certificate',
      days > 14,
      `expires in ${Math.floor(days)} days`,
      days < 0 ? 'is not valid or not trusted here' : `expires in ${Math.floor(days)} days: renew it`,
    );
  }
  const lines = findings.map((finding) =>
    json ? JSON.stringify(finding) : `${finding.ok ? 'ok ' : 'BAD'}  ${finding.what}: ${finding.say}`,
  );
  return findings.every(({ ok }) => ok) ? { lines } : { lines, code: 1 };
}

export async function setupLink({ people }: AdminDeps, _: string, { json }: Options): Promise<string[]> {
  const url = await people.setupLink();
  return [
    json
      ? JSON.stringify({ url: url ?? null })
      : (url ?? 'There are accounts already. "relay-admin invite" prints a link for another account.'),
  ];
}
