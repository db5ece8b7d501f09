/** Notifications of failures that the agent did not cause (rules, 26.28). */
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  type PushReceiver,
  type TestDaemon,
  type TestRelay,
  connectDaemon,
  openPushKeys,
  startPushReceiver,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import { messageOf } from '../../src/push/message.ts';
import { until } from '../until.ts';
import { deliveryOf } from './delivery.ts';

let relay: TestRelay;
let receiver: PushReceiver;
let daemon: TestDaemon;
let number = 0;

beforeAll(async () => {
  receiver = await startPushReceiver();
  const config = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host], outboxPollMs: 200 };
  relay = await startRelay({ transports: [], config: { ...config, ...quickSweeps } });
  daemon = await connectDaemon(relay);
});
afterAll(async () => {
  await relay.stop();
  await receiver.close();
});

interface Shown {
  lang: string;
  title: string;
  body: string;
  navigate: string;
  data: { cause: string };
}

/** An address of its own. Returns its messages. */
async function address(language: 'en' | 'de'): Promise<() => Shown[]> {
  const opened = openPushKeys();
  const path = `/n${++number}`;
  const body = {
    kind: 'webpush',
    endpoint: `${receiver.url}${path}`,
    keys: opened.keys,
    detail: 'text',
    language,
  } as const;
  await relay.call('addSubscription', { body });
  return () =>
    receiver
      .at(path)
      .map(({ body: sealed }) => (opened.read(sealed) as { notification: Shown }).notification)
      .filter(({ data }) => data.cause === 'failed');
}

const away = () => relay.database.sql.execute`UPDATE devices SET status = 'offline' WHERE id = ${daemon.deviceId}`;

it('43: pushes a missed run and a message that expired, with the reason', async () => {
  const shown = await address('de');
  const { deviceId } = daemon;
  const rule = { cron: `0 ${(new Date().getUTCHours() + 6) % 24} * * *`, zone: 'UTC', waitSeconds: 0 };
  const schedule = (
    await relay.call('createSchedule', { body: { deviceId, message: 'Read the logs of the night.', ...rule } })
  ).body;
  const later = { deviceId, message: 'water it', notBefore: new Date(Date.now() + 3_600_000).toISOString() };
  const { taskId } = (await relay.call('createSession', { body: later })).body;
  await daemon.close();
  await away();
  await relay.database.sql.execute`UPDATE schedules SET next_at = now() WHERE id = ${schedule.id}`;
  await until('the push of the run', () => shown().length === 1);
  expect(shown()[0]).toMatchObject({
    title: 'Eine geplante Nachricht wurde verpasst',
    body: 'Read the logs of the night.\nDer Rechner war offline.',
    navigate: expect.stringMatching(/\/later$/),
  });
  await relay.database.sql.execute`
    UPDATE tasks SET state = 'queued', not_before = now(), expires_at = now() WHERE id = ${taskId}`;
  await until('the push of the message', () => shown().length === 2);
  expect(shown()[1]).toMatchObject({
    title: 'Eine Nachricht wurde nicht gesendet',
    body: 'water it\nDer Rechner war nicht rechtzeitig zurück.',
  });
});

it('43: pushes a usage limit with the time of its reset', async () => {
  const shown = await address('en');
  daemon = await connectDaemon(relay);
  await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'plant a hedge' } });
  const { task_id: taskId } = await daemon.next('task_start');
  const limit = { name: 'five_hour', resets_at: new Date(Date.now() + 7_200_000).toISOString(), source: 'figures' };
  daemon.event(taskId as string, 'SESSION_STARTED', { session_id: 'limited' });
  daemon.event(taskId as string, 'ERROR', { error: 'limit', code: 'USAGE_LIMIT', limit });
  await until('the push', () => shown().length === 1);
  expect(shown()[0]).toMatchObject({
    title: 'An agent reached its limit',
    body: expect.stringMatching(/^plant a hedge\nLimit reached. Continue at \d{1,2}:\d\d [AP]M UTC\?$/),
  });
});

it('43: lists these failures in the history, each with its kind', async () => {
  const { notifications } = (await relay.call('listNotifications', { query: { limit: 10 } })).body;
  const failures = notifications.filter(({ cause }) => cause === 'failed');
  expect(failures.map(({ cause, failure, name }) => [cause, failure, name])).toEqual([
    ['failed', 'limit', undefined],
    ['failed', 'expired', undefined],
    ['failed', 'missed', 'Read the logs of the night.'],
  ]);
});

it('43: shows the reset in the zone of the quiet hours, and a chosen continuation as such', () => {
  // After midnight in Tokyo, where a German clock has two digits for the hour.
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-03-02T14:00:00Z'));
  const resetsAt = new Date(Date.now() + 7_200_000).toISOString();
  const quietHours = { start: '22:00', end: '07:00', timeZone: 'Asia/Tokyo' };
  const bodyOf = (failure: { resetsAt: string | null; continues: boolean }, language: 'en' | 'de') =>
    messageOf(
      deliveryOf({ cause: 'failed', failure: { kind: 'limit', ...failure }, quietHours }),
      'https://relay.example.com',
      language,
    ).body.split('\n')[1];
  expect(bodyOf({ resetsAt, continues: true }, 'de')).toBe('Limit erreicht. Es geht um 01:00 weiter.');
  expect(bodyOf({ resetsAt: null, continues: false }, 'en')).toBe('Limit reached.');
  expect(bodyOf({ resetsAt: new Date(Date.now() - 1).toISOString(), continues: true }, 'en')).toBe('Limit reached.');
  now.mockRestore();
});
