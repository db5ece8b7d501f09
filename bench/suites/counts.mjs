// Counts instead of times: the cost of lists over REST, round trips to Redis for an offline device, statements for a
// report without changes.
import { createServer } from 'node:net';
import { once } from 'node:events';
import { Table } from '../measure.mjs';
import { connectDaemon, httpClient } from '../clients.mjs';
import { measured, names, startLoad } from '../systems/all.mjs';
import { startInstances, startSingle } from '../systems/relay.mjs';
import { startPlain } from '../systems/plain.mjs';

const listed = 20;
/** How lists are asked for: by one app, or by many at once. */
const ways = [
  { way: 'one at a time', inFlight: 1, requests: 1_000 },
  { way: '64 in flight', inFlight: 64, requests: 3_000 },
];
const questions = 200;
const reportsSent = 200;

const entry = (i) => ({
  session_id: `native-${i}`,
  title: `Session ${i}`,
  project: '/home/someone/project',
  file_path: `/home/someone/.agent/${i}.jsonl`,
  last_message: 'what an agent says about what it did. '.repeat(3),
  message_count: i + 1,
  is_active: false,
  last_activity: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString(),
});

/** A connected daemon of the first person, whose sessions are in the list. */
async function listedDaemon(system) {
  const [{ deviceId, deviceToken, token }] = system.people;
  const client = httpClient(system.http()[0], token);
  const daemon = await connectDaemon({ ws: system.daemons()[0] }, { deviceId, token: deviceToken });
  daemon.send({ type: 'report_sessions', sessions: Array.from({ length: listed }, (_, i) => entry(i)) });
  let body;
  do ({ body } = await client.call('GET', '/api/sessions'));
  while (body.sessions.length < listed);
  return { daemon, client, body };
}

export async function lists({ rounds, progress, folder, share, profile, before }) {
  const table = new Table(`A list of ${listed} sessions over REST: CPU, µs per request`);
  const ratios = new Table('Lists over REST: ratios of CPU');
  const speed = new Table('Lists over REST: wall clock');
  const running = [];
  try {
    progress('starting');
    const relay = await startInstances({ people: 1, profile });
    running.push({ name: 'relay', system: relay });
    if (before === undefined)
      running.push({ name: 'single', system: await startSingle({ people: 1, dataDir: folder(), profile }) });
    else running.push({ name: 'before', system: await startInstances({ people: 1, build: before }) });
    const { body, daemon, client } = await listedDaemon(relay);
    const other = await listedDaemon(running[1].system);
    if (before === undefined) for (const one of await startPlain(body, relay)) running.push(one);
    for (const one of running) one.load = await startLoad(one.system);
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      for (const { way, inFlight, requests } of ways) {
        const count = Math.ceil(requests * share);
        const took = {};
        for (const { name, system, load } of running) {
          const one = await measured(system, () => load.ask('gets', { path: '/api/sessions', count, inFlight }));
          took[name] = one.all / count;
          if (round === 0) continue;
          const row = `${way}: ${names[name] ?? name}`;
          table.add(row, 'instance and Redis', one.all / count);
          table.add(row, 'of it Redis', one.redis / count);
          table.add(row, 'and PostgreSQL', one.database / count);
          speed.add(row, 'per second', (count / one.result.tookMs) * 1000);
          speed.add(row, 'p50 ms', one.result.p50);
          speed.add(row, 'p99 ms', one.result.p99);
        }
        if (round === 0) continue;
        ratios.add(way, 'relay / node:http', took.relay / took['node:http']);
        ratios.add(way, 'relay / express', took.relay / took.express);
        ratios.add(way, 'relay / express, limiter', took.relay / took['express, limiter']);
        ratios.add(way, 'floor / express, limiter', took.floor / took['express, limiter']);
        ratios.add(way, 'single process / node:http', took.single / took['node:http']);
      }
    }
    for (const one of [daemon, other.daemon]) await one.close();
    for (const one of [client, other.client]) one.close();
  } finally {
    for (const { load, system } of running.reverse()) {
      await load?.stop();
      await system.stop();
    }
  }
  return [ratios, table, speed];
}

export async function counts({ rounds, progress, share }) {
  const redis = new Table('Commands to Redis for one answer about a device that is away');
  const statements = new Table('Statements for one report of 20 sessions');
  progress('starting');
  const system = await startInstances({ people: 2, gateways: 0 });
  const port = await freePort();
  await system.launch('gateway', port).then((gateway) => system.daemonSide.push(gateway));
  const load = await startLoad(system);
  try {
    const { daemon, client, body } = await listedDaemon(system);
    const path = `/api/sessions/${encodeURIComponent(body.sessions[0].id)}/messages`;
    const report = JSON.stringify({
      type: 'report_sessions',
      sessions: Array.from({ length: listed }, (_, i) => entry(i)),
    });
    for (let round = 1; round <= rounds; round += 1) {
      progress(`statements, round ${round} of ${rounds}`);
      const count = Math.ceil(reportsSent * share);
      const before = await countersOf(port);
      for (let n = 0; n < count; n += 1) daemon.send(report);
      // Frames are handled in order: when the last one has been counted, those before it are done.
      let now;
      do now = await countersOf(port);
      while (now.reports < before.reports + count);
      statements.add('nothing changed', 'statements', (now.statements - before.statements) / count);
    }
    await daemon.close();
    for (let round = 1; round <= rounds; round += 1) {
      progress(`round trips, round ${round} of ${rounds}`);
      const count = Math.ceil(questions * share);
      await load.ask('gets', { path, count: 5 });
      const before = await commandsOf(system.redis);
      await load.ask('gets', { path, count });
      const now = await commandsOf(system.redis);
      redis.add('one at a time', 'scripts (round trips)', (now.evalsha - before.evalsha) / count);
      redis.add('one at a time', 'of it for the rate limit', (now.pttl - before.pttl) / count);
      redis.add('one at a time', 'messages published', (now.publish - before.publish) / count);
    }
    client.close();
  } finally {
    await load.stop();
    await system.stop();
  }
  return [redis, statements];
}

/** How often Redis has carried out these commands, within scripts and without. */
async function commandsOf(redis) {
  const text = await redis.command('INFO', 'commandstats');
  const of = (name) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
  return { evalsha: of('evalsha'), pttl: of('pttl'), publish: of('publish') };
}

/** Statements sent and reports handled so far by the instance with these metrics. */
export async function countersOf(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sum = (pattern) => [...text.matchAll(pattern)].reduce((all, [, value]) => all + Number(value), 0);
  return {
    statements: sum(/^relay_database_seconds_count\{[^}]*\} (\S+)$/gm),
    reports: sum(/^relay_reports_total\{[^}]*\} (\S+)$/gm),
  };
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
