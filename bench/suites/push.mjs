// Notifications to browsers: ten to each of a thousand people at once, on two apis. Measures the cost of a delivery,
// how long a person waits for the first one, and events and requests of other people during it, compared with a slice
// without deliveries right before.
import { createECDH, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectApp, connectDaemon, httpClient, startTask } from '../clients.mjs';
import { startCpu } from '../cpu.mjs';
import { Table, quantile } from '../measure.mjs';
import { start } from '../process.mjs';
import { startInstances } from '../systems/relay.mjs';

const serviceMain = fileURLToPath(new URL('../load/push-service.mjs', import.meta.url));
const people = 1000;
const each = 10;
const others = 10;
/** The others: a request and an event in turn, all of them together. */
const everyMs = 20;
const quietMs = 10_000;
const lookMs = 50;

export async function push({ rounds, share, progress, profile }) {
  const cost = new Table(`${people * each} notifications to ${people} people: CPU, µs per delivery`);
  const speed = new Table('Deliveries: wall clock');
  const ratio = new Table('Others meanwhile, to the same without deliveries');
  const count = Math.ceil(people * share);
  const service = await start(serviceMain, {
    env: { PATH: process.env.PATH },
    port: (said) => /listening on (\d+)/.exec(said)?.[1],
  });
  const env = { PUSH_SECRET: randomBytes(32).toString('base64url'), PUSH_ALLOWED_HOSTS: `127.0.0.1:${service.port}` };
  const system = await startInstances({ apis: 2, gateways: 1, people: count + others, profile, env });
  try {
    progress('subscribing');
    for (let n = 0; n < count; n += 1) await subscribe(system, n, service);
    const neighbours = await settleIn(system, system.people.slice(-others));
    await meet(neighbours, 2000);
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      const quiet = await meet(neighbours, quietMs * Math.max(0.2, share));
      const cpu = startCpu(await system.groups());
      const [begun] = await system.database.sql.query`
        INSERT INTO notifications (id, user_id, session_key, session_id, name, cause)
        SELECT gen_random_uuid()::text, d.owner_id, '', '', 'bench', 'device_allowed'
        FROM generate_series(1, ${each}::int) n, devices d WHERE d.id LIKE 'bench-device-%' AND d.owner_id IN (SELECT user_id FROM subscriptions)
        ORDER BY n RETURNING extract(epoch FROM now())::double precision * 1000 AS at`;
      const startedAt = performance.now();
      const arrived = async () => {
        while ((await service.call('count')) < count * each) await wait(lookMs);
        return performance.now() - startedAt;
      };
      const delivering = arrived();
      const during = await meet(neighbours, Infinity, delivering);
      const tookMs = await delivering;
      const used = cpu();
      const firsts = (await service.call('take')).map(([, at]) => at - begun.at);
      // The ledger has to be empty before the next round.
      for (;;) {
        const [{ left }] = await system.database.sql.query`
          SELECT count(*)::int AS left FROM deliveries WHERE state IN ('pending', 'sending')`;
        if (left === 0) break;
        await wait(lookMs);
      }
      if (round === 0) continue;
      const deliveries = count * each;
      cost.add('delivery', 'apis', used.pods / deliveries);
      cost.add('delivery', 'PostgreSQL', used.database / deliveries);
      speed.add('deliveries', 'per second', (deliveries / tookMs) * 1000);
      speed.add('deliveries', 'first of a person, p50 ms', quantile(firsts, 0.5));
      speed.add('deliveries', 'first of a person, p99 ms', quantile(firsts, 0.99));
      for (const what of ['REST', 'event']) {
        ratio.add(what, 'p50', quantile(during[what], 0.5) / quantile(quiet[what], 0.5));
        ratio.add(what, 'p95', quantile(during[what], 0.95) / quantile(quiet[what], 0.95));
        ratio.add(what, 'p50 without, ms', quantile(quiet[what], 0.5));
        ratio.add(what, 'p50 meanwhile, ms', quantile(during[what], 0.5));
      }
    }
  } finally {
    await system.stop();
    await service.stop();
  }
  return [cost, speed, ratio];
}

async function subscribe(system, n, service) {
  const pair = createECDH('prime256v1');
  const keys = { p256dh: pair.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') };
  const client = httpClient(system.http()[n % 2], system.people[n].token);
  const endpoint = `http://127.0.0.1:${service.port}/push/${n}`;
  await client.call('POST', '/api/push/subscriptions', { kind: 'webpush', endpoint, keys });
  client.close();
}

/** People without addresses, each with a daemon that runs a task, and an app that receives its events. */
async function settleIn(system, some) {
  return Promise.all(
    some.map(async ({ token, deviceId, deviceToken }, n) => {
      const http = system.http()[n % 2];
      const client = httpClient(http, token);
      const daemon = await connectDaemon({ ws: system.daemons()[0] }, { deviceId, token: deviceToken });
      const app = await connectApp({ ws: system.apps()[n % 2] }, token);
      const session_id = 'started-here';
      const { task_id } = await startTask(client, daemon, app, session_id);
      return { client, daemon, app, task_id, session_id };
    }),
  );
}

/** Requests and events at a steady pace for a time, or until something has happened. */
async function meet(some, ms, end = new Promise(() => undefined)) {
  const tookMs = { REST: [], event: [] };
  const pending = [];
  const until = performance.now() + ms;
  let isOver = false;
  void end.then(() => (isOver = true));
  for (let n = 0; performance.now() < until && !isOver; n += 1) {
    const { client, daemon, app, task_id, session_id } = some[Math.floor(n / 2) % some.length];
    const startedAt = performance.now();
    if (n % 2 === 0) pending.push(client.call('GET', '/api/sessions').then(({ tookMs: ms }) => tookMs.REST.push(ms)));
    else {
      const content = `${n} what an agent says`;
      const heard = app.next((frame) => frame.type === 'new_message' && frame.message.content === content);
      daemon.send({ type: 'event', event_type: 'AGENT_RESPONSE', task_id, session_id, content });
      pending.push(heard.then(({ receivedAt }) => tookMs.event.push(receivedAt - startedAt)));
    }
    await wait(everyMs);
  }
  await Promise.all(pending);
  return tookMs;
}
