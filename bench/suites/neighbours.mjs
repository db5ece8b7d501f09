// One person who uses every limit to the full: by which factor does the 95th percentile of other people's requests
// grow? Uses the shipped limits. Each attack follows a slice of the same length without one.
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { connectDaemon, httpClient } from '../clients.mjs';
import { median, quantile, Table } from '../measure.mjs';
import { start } from '../process.mjs';
import { startInstances, startSingle } from '../systems/relay.mjs';

const attacksMain = fileURLToPath(new URL('../load/attacks.mjs', import.meta.url));
const attacks = process.env.ONLY_ATTACK
  ? [process.env.ONLY_ATTACK]
  : [
      'a report of 100,000 entries, all changed',
      'the same report of 100,000 entries',
      'a report of 16 entries of 8 MiB',
      'a report of 15 entries of 1 MiB',
      '200 devices, 100 changed sessions each',
      '5,000 sockets',
      'bodies without an end',
      'a page with one bad message',
    ];
const neighbourCount = 30;
const moreDevices = 199;
const sliceMs = 15_000;
/** All neighbours together. One of them asks less than the shipped rate limit. */
const everyMs = 40;
/** After an attack, until its leftovers are handled: samples of this length, until one is as before or nothing changes. */
const lookMs = 2_000;
const looks = 15;
const page = {
  messages: Array.from({ length: 20 }, (_, n) => ({
    uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    role: n % 2 === 0 ? 'USER' : 'AGENT',
    content: 'what an agent says about what it did. '.repeat(10),
    timestamp: '2026-01-01T00:00:00.000Z',
  })),
  has_more: false,
};

/** The people whose requests are measured: each has a daemon that answers, and a session. */
async function settleIn(system) {
  const people = system.people.slice(-neighbourCount);
  return Promise.all(
    people.map(async ({ token, deviceId, deviceToken }) => {
      const daemon = await connectDaemon({ ws: system.daemons()[0] }, { deviceId, token: deviceToken }, page);
      daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'mine', title: 'mine' }] });
      const client = httpClient(system.http()[0], token);
      for (;;) {
        const { body } = await client.call('GET', '/api/sessions');
        if (body.sessions.length > 0)
          return { client, daemon, path: `/api/sessions/${encodeURIComponent(body.sessions[0].id)}` };
        await wait(100);
      }
    }),
  );
}

/** Requests at a steady pace, whether the ones before were answered or not: lists and conversations in turn. */
async function ask(people, ms) {
  const tookMs = [];
  let failed = 0;
  const pending = [];
  const until = performance.now() + ms;
  for (let n = 0; performance.now() < until; n += 1) {
    const { client, path } = people[n % people.length];
    const startedAt = performance.now();
    pending.push(
      client.call('GET', Math.floor(n / people.length) % 2 === 0 ? '/api/sessions' : path).then(
        () => tookMs.push(performance.now() - startedAt),
        () => (failed += 1),
      ),
    );
    await wait(everyMs);
  }
  await Promise.all(pending);
  return { p50: median(tookMs), p95: quantile(tookMs, 0.95), failed: failed / pending.length };
}

async function measure(name, system, { rounds, share, progress }, tables) {
  const attacker = await start(attacksMain, {
    env: { PATH: process.env.PATH },
    port: (said) => /listening on (\d+)/.exec(said)?.[1],
  });
  const ms = Math.max(2_000, sliceMs * share);
  try {
    const people = await settleIn(system);
    await ask(people, lookMs);
    for (let round = 1; round <= rounds; round += 1) {
      for (const [n, attack] of attacks.entries()) {
        progress(`${name}, round ${round} of ${rounds}: ${attack}`);
        // The first person has the many devices; every other attack comes from a person of its own.
        const person = system.people[attack.startsWith('200 devices') ? 0 : 1 + (round - 1) * attacks.length + n];
        const { apps, daemons, http } = { apps: system.apps(), daemons: system.daemons(), http: system.http() };
        const quiet = await ask(people, ms);
        await attacker.call('start', { name: attack, system: { person, apps, daemons, http } });
        const during = await ask(people, ms);
        const seen = await attacker.call('stop');
        const outcomes = Object.entries(seen).map(([what, times]) => `${times} × ${what}`);
        progress(`${name}, ${attack}: ${outcomes.join(', ')}`);
        const row = `${name}: ${attack}`;
        tables.ratio.add(row, 'p95, to the same without it', during.p95 / quiet.p95);
        tables.ratio.add(row, 'p50, to the same without it', during.p50 / quiet.p50);
        tables.ratio.add(row, 'failed, %', during.failed * 100);
        tables.took.add(row, 'p95 without, ms', quiet.p95);
        tables.took.add(row, 'p95 with, ms', during.p95);
        const endedAt = performance.now();
        for (let look = 0; look < looks; look += 1) if ((await ask(people, lookMs)).p95 < quiet.p95 * 1.5) break;
        tables.took.add(row, 'as before after, s', (performance.now() - endedAt) / 1000);
      }
    }
    for (const { client, daemon } of people) {
      client.close();
      daemon.socket.terminate();
    }
  } finally {
    await attacker.stop();
  }
}

export async function neighbours({ rounds, share, progress, folder, profile }) {
  const tables = {
    ratio: new Table('Requests of others during an attack: ratios'),
    took: new Table('Requests of others during an attack: times as a client sees them'),
  };
  const options = {
    people: 1 + attacks.length * rounds + neighbourCount,
    moreOfFirst: moreDevices,
    shippedLimits: true,
    profile,
  };
  const systems = {
    'single process': () => startSingle({ ...options, dataDir: folder() }),
    cluster: () => startInstances(options),
  };
  for (const [name, begin] of Object.entries(systems)) {
    progress(`starting: ${name}`);
    const system = await begin();
    try {
      await measure(name, system, { rounds, share, progress }, tables);
    } finally {
      await system.stop();
    }
  }
  return [tables.ratio, tables.took];
}
