/** Notifications about a program on the machine that waits for its person (rules, 24.8). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Held } from '@relay/protocol';
import {
  type PushReceiver,
  type TestDaemon,
  type TestRelay,
  connectDaemon,
  openPushKeys,
  startPushReceiver,
  startRelay,
} from '@relay/testing';
import { noticesSettle } from '../scene.ts';
import { until } from '../until.ts';

let relay: TestRelay;
let receiver: PushReceiver;
let daemon: TestDaemon;

const at = '2026-11-28T09:04:02.000Z';
const waiting: Held = {
  ...{ state: 'waiting', program: 'Claude Code', terminal: 'pts/3', waits: 'permission prompt' },
  ...{ since: at, at, sure: true, ends: true },
};
const names = ['n1', 'n2', 'n3'];

beforeAll(async () => {
  receiver = await startPushReceiver();
  const config = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host], outboxPollMs: 200, deskWaitMs: 1 };
  relay = await startRelay({ transports: [], config });
  const entry = { last_message: 'secret words', is_active: false, message_count: 1, last_activity: at };
  daemon = await connectDaemon(relay, {
    capabilities: ['desk', 'prompts'],
    hello: [
      { type: 'status', running_tasks: [] },
      { type: 'report_sessions', sessions: names.map((name) => ({ ...entry, session_id: name, title: 'Garden' })) },
    ],
  });
  await noticesSettle(relay);
  const known = async () => (await relay.call('listSessions')).body.sessions.length;
  await until('the sessions are known', async () => (await known()) >= names.length);
  for (const name of names) await relay.call('watch', { body: { sessionId: idOf(name) } });
});
afterAll(async () => {
  await relay.stop();
  await receiver.close();
});

const idOf = (name: string) => `${daemon.deviceId}:${daemon.registration.agentType}:${name}`;
const held = (name: string, now: Held | null) => daemon.send({ type: 'session_held', session_id: name, held: now });

it('44: gives the reason in the language of the address, and offers no answer', async () => {
  for (const [language, name, body] of [
    ['en', 'n1', 'Waits for you at the desk: permission prompt'],
    ['de', 'n2', 'Wartet am Rechner auf dich: permission prompt'],
  ] as const) {
    const keys = openPushKeys();
    const endpoint = `${receiver.url}/${name}`;
    const added = { kind: 'webpush', endpoint, keys: keys.keys, actions: 'all', detail: 'text', language } as const;
    const { id } = (await relay.call('addSubscription', { body: added })).body.subscription;
    const pushed = () =>
      receiver.at(`/${name}`).map(({ body: sealed }) => (keys.read(sealed) as { notification: object }).notification);
    const shown = () => pushed().find((one) => (one as { data: { cause: string } }).data.cause === 'needs_you');
    held(name, waiting);
    await until(`a message at ${name}`, () => shown() !== undefined);
    expect(shown()).toMatchObject({ lang: language, body: `Garden\n${body}` });
    expect(shown()).not.toHaveProperty('actions');
    await relay.call('removeSubscription', { params: { id } });
  }
});

it('44: sends nothing after the program stopped waiting', async () => {
  receiver.answer = (response) => void response.end('{}');
  const { subscription } = (
    await relay.call('addSubscription', { body: { kind: 'webhook', url: `${receiver.url}/late` } })
  ).body;
  const params = { id: subscription.id };
  const last = async () => (await relay.call('readSubscription', { params })).body.lastDelivery?.state;
  await relay.call('testSubscription', { params });
  await until('the address is tested', async () => (await last()) === 'accepted');
  receiver.answer = (response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
  held('n3', waiting);
  await until('the first attempt', () => receiver.at('/late').length >= 2);
  held('n3', { ...waiting, state: 'busy' });
  await until('it is superseded', async () => (await last()) === 'superseded');
  await relay.call('removeSubscription', { params });
});
