import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { addTestDelivery, findDelivery } from '@relay/database';
import type { AddSubscription } from '@relay/protocol';
import { openPushKeys, startApnsDouble, startPushReceiver } from '@relay/testing';
import { begin, openScene } from '../scene.ts';
import { until } from '../until.ts';

const pem = { type: 'pkcs8', format: 'pem' } as const;

/** Rules, 14.7: for every outcome. */
it('no address, token, key or text of a delivery is in the log', async () => {
  const receiver = await startPushReceiver();
  const apple = await startApnsDouble();
  const folder = mkdtempSync(join(tmpdir(), 'relay-logs-'));
  const [fcmFile, apnsFile] = [join(folder, 'fcm.json'), join(folder, 'apns.p8')];
  const account = {
    ...{ project_id: 'logs', client_email: 'x@y', token_uri: `${receiver.url}/token` },
    private_key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem),
  };
  writeFileSync(fcmFile, JSON.stringify(account));
  writeFileSync(apnsFile, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem));
  let log = '';
  const config = {
    ...({ logLevel: 'trace', pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host] } as const),
    ...{ fcmServiceAccountFile: fcmFile, fcmUrl: receiver.url },
    ...{
      apnsKeyFile: apnsFile,
      apnsKeyId: 'KEY4567890',
      apnsTeamId: 'TEAM567890',
      apnsTopic: 'a.b',
      apnsUrl: apple.url,
    },
  };
  const scene = await openScene({ config, log: { write: (line) => (log += line) } });
  const { keys } = openPushKeys();
  const secrets = [
    'hidden-topic',
    'tk_hidden',
    'hidden-hook',
    'hidden-endpoint',
    'hidden-fcm',
    'hiddenapns',
    keys.auth,
    keys.p256dh,
  ];
  const bodies: AddSubscription[] = [
    { kind: 'ntfy', url: receiver.url, topic: 'hidden-topic', token: 'tk_hidden', detail: 'title' },
    { kind: 'webhook', url: `${receiver.url}/hidden-hook`, detail: 'title' },
    { kind: 'webpush', endpoint: `${receiver.url}/hidden-endpoint`, keys },
    { kind: 'unifiedpush', endpoint: `${receiver.url}/hidden-endpoint/2`, keys },
    { kind: 'fcm', token: 'hidden-fcm', keys },
    { kind: 'apns', token: 'hiddenapns', detail: 'title' },
  ];
  const ids: string[] = [];
  for (const body of bodies) {
    const { subscription, secret } = (await scene.relay.call('addSubscription', { body })).body;
    ids.push(subscription.id);
    if (secret !== undefined) secrets.push(secret);
  }
  const { database } = scene.relay;
  const { id: userId } = (await scene.relay.call('me')).body;
  // Written directly: a user can test only ten times in ten minutes.
  const ended = async (id: string) => {
    const deliveryId = await addTestDelivery(database, userId, id, 60_000);
    const read = async () => (await findDelivery(database, userId, deliveryId))!;
    await until('it was tried', async () => ((await read()).reason ?? (await read()).acceptedAt) !== undefined);
  };
  const answers: ((status: number) => void)[] = [
    (status) =>
      (receiver.answer = (response, { path }) => {
        if (path === '/token') response.end('{"access_token":"ya29.hidden","expires_in":3600}');
        else response.writeHead(status).end('{"hidden":"answer"}');
      }),
    (status) =>
      (apple.answer = (stream) => {
        stream.respond({ ':status': status });
        stream.end('{"reason":"hidden answer"}');
      }),
  ];
  for (const status of [200, 500, 413, 302]) {
    for (const answer of answers) answer(status);
    for (const id of ids) await ended(id);
  }
  receiver.answer = (response) => response.destroy();
  apple.answer = () => apple.cut();
  for (const id of ids) await ended(id);

  for (const answer of answers) answer(200);
  const begun = await begin(scene, 'hidden', 'hidden words of a person');
  await scene.relay.call('watch', { body: { sessionId: begun.id } });
  scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'hidden words of an agent' });
  const list = async () => (await scene.relay.call('listNotifications')).body.notifications;
  await until('it is sent to every address', async () => {
    const deliveries = (await list()).find(({ sessionId }) => sessionId === begun.id)?.deliveries ?? [];
    return deliveries.length === ids.length && deliveries.every(({ state }) => state === 'accepted');
  });
  await scene.relay.stop();
  await receiver.close();
  await apple.close();
  rmSync(folder, { recursive: true });

  // The search is meaningful: the log contains the deliveries with all permitted facts.
  expect(log).toMatch(/"kind":"apns"/);
  expect(log).toMatch(/The service answered 500/);
  for (const secret of [...secrets, 'ya29.hidden', 'hidden answer', 'hidden words', 'PRIVATE KEY'])
    expect({ secret, found: log.includes(secret) }).toEqual({ secret, found: false });
}, 120_000);
