import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addTestDelivery, claimDeliveries, renewClaims, settleDelivery, sweepDeliveries } from '@relay/database';
import type { AddSubscription, Delivery, DeliveryState } from '@relay/protocol';
import { createLogger, createMetrics } from '@relay/telemetry';
import { type PushReceiver, openPushKeys, openTestDatabase, startPushReceiver, vapidClaims } from '@relay/testing';
import { startDeliveries } from '../../src/push/deliveries.ts';
import type { Sender } from '../../src/push/sender.ts';
import { type Scene, begin, openScene, updateOf } from '../scene.ts';
import { until } from '../until.ts';

/** Rules, 14.8 and 14.10: two apis, and services with scripted answers. */
describe('deliveries', () => {
  let scene: Scene;
  let receiver: PushReceiver;
  beforeAll(async () => {
    receiver = await startPushReceiver();
    const config = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host], outboxPollMs: 200 };
    scene = await openScene({ apis: 2, transports: [], config });
  });
  beforeEach(() => {
    receiver.answer = (response) => void response.end('{}');
  });
  afterAll(async () => {
    await scene.relay.stop();
    await receiver.close();
  });

  const add = async (body: AddSubscription) => (await scene.relay.call('addSubscription', { body })).body;
  const webhook = async (path: string, more: Partial<AddSubscription> = {}) => {
    const answer = await add({ kind: 'webhook', url: `${receiver.url}${path}`, ...more });
    return { id: answer.subscription.id, secret: answer.secret! };
  };
  const remove = (id: string) => scene.relay.call('removeSubscription', { params: { id } });
  const read = async (id: string) => (await scene.relay.call('readSubscription', { params: { id } })).body;
  const deliveryOf = async (id: string) => (await scene.relay.call('readDelivery', { params: { id } })).body;
  const test = async (id: string, api = 0) =>
    (await scene.relay.call('testSubscription', { params: { id }, api })).body.deliveryId;
  const becomes = async (id: string, state: DeliveryState): Promise<Delivery> => {
    await until(`${id} is ${state}`, async () => (await deliveryOf(id)).state === state);
    return deliveryOf(id);
  };
  const complete = async (nativeId: string, event = 'TASK_COMPLETE', fields: object = { result: 'the last words' }) => {
    const begun = await begin(scene, nativeId, 'plant a hedge');
    await scene.relay.call('watch', { body: { sessionId: begun.id } });
    scene.daemon.event(begun.taskId, event, { ...fields });
    return begun;
  };
  /** Waits until the notification of this session was split and had no address. */
  const goesNowhere = async (sessionId: string) => {
    const sent = async () =>
      (await scene.relay.call('listNotifications')).body.notifications.find((one) => one.sessionId === sessionId);
    await until('it is split', async () => (await sent())?.state === 'unaddressed');
    expect((await sent())!.deliveries).toBeUndefined();
  };
  const arrived = async (path: string, count = 1) => {
    await until(`${count} at ${path}`, () => receiver.at(path).length >= count);
    return receiver.at(path);
  };

  it('reach an ntfy topic once, without any text of the session', async () => {
    const { subscription } = await add({ kind: 'ntfy', url: receiver.url, topic: 'garden', token: 'tk_ada' });
    const { id } = await complete('ntfy');
    const [request] = await arrived('/');
    expect(JSON.parse(request!.body.toString())).toMatchObject({
      ...{ topic: 'garden', title: 'An agent is done', message: 'Open Relay to see more.', priority: 3 },
      click: `${scene.relay.config.publicUrl}/sessions/${encodeURIComponent(id)}`,
    });
    expect(request!.headers).toMatchObject({ authorization: 'Bearer tk_ada', 'content-type': 'application/json' });
    expect(request!.body.toString()).not.toMatch(/hedge|last words/);
    await until('it is in the ledger', async () => (await read(subscription.id)).lastDelivery?.state === 'accepted');
    const { notifications } = (await scene.relay.call('listNotifications')).body;
    const told = notifications.find(({ sessionId }) => sessionId === id);
    expect(told).toMatchObject({ state: 'sent', deliveries: [{ state: 'accepted', attempts: 1, httpStatus: 200 }] });
    // A second message of the same notification would have been sent before this one.
    await becomes(await test(subscription.id), 'accepted');
    expect(receiver.at('/')).toHaveLength(2);
    await remove(subscription.id);
  });

  it('reach a webhook that accepted a test, signed with both secrets after a rotation', async () => {
    const { id, secret } = await webhook('/hook', { detail: 'title' });
    await goesNowhere((await complete('before the test')).id);
    await becomes(await test(id, 1), 'accepted');
    expect(await read(id)).toMatchObject({ state: 'active' });
    expect(receiver.at('/hook').map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type)).toEqual([
      'relay.notification.test',
    ]);
    const { secret: rotated } = (await scene.relay.call('rotateSecret', { params: { id } })).body;
    const begun = await complete('after the test', 'WAIT_FOR_USER', { prompt: 'May I?' });
    const [, request] = await arrived('/hook', 2);
    const { headers, body } = request!;
    expect(JSON.parse(body.toString())).toMatchObject({
      ...{ specversion: '1.0', type: 'relay.notification.needs_you', subject: begun.id },
      data: { cause: 'needs_you', sessionId: begun.id, title: 'An agent needs you', body: 'plant a hedge' },
    });
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
    const signature = (key: string) =>
      `v1,${createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
        .update(signed)
        .digest('base64')}`;
    expect(String(headers['webhook-signature']).split(' ')).toEqual([signature(rotated), signature(secret)]);
    await remove(id);
  });

  it('reach a browser encrypted, with a token for its push service', async () => {
    const browser = openPushKeys();
    const { subscription } = await add({ kind: 'webpush', endpoint: `${receiver.url}/push/1`, keys: browser.keys });
    expect(subscription).toMatchObject({ state: 'active', detail: 'text' });
    const { id } = await complete('browser');
    const [request] = await arrived('/push/1');
    expect(request!.body.toString('latin1')).not.toMatch(/agent|hedge/);
    expect(browser.read(request!.body)).toMatchObject({
      web_push: 8030,
      notification: {
        title: 'An agent is done',
        body: 'plant a hedge\nthe last words',
        navigate: `${scene.relay.config.publicUrl}/sessions/${encodeURIComponent(id)}`,
        data: { cause: 'done', sessionId: id },
      },
    });
    const { headers } = request!;
    expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'normal' });
    expect(Number(headers.ttl)).toBeGreaterThan(4 * 3600 - 60);
    expect(headers.topic).toMatch(/^[\w-]{32}$/);
    const { key, claims } = vapidClaims(headers.authorization);
    expect(key).toBe((await scene.relay.call('readPushConfig')).body.vapid!.publicKey);
    expect(claims).toMatchObject({ aud: receiver.url });
    expect(Number(claims.exp) * 1000 - Date.now()).toBeLessThanOrEqual(24 * 3600_000);
    await remove(subscription.id);
  });

  it('fit into one record, also with a long text', async () => {
    const browser = openPushKeys();
    const { subscription } = await add({ kind: 'webpush', endpoint: `${receiver.url}/push/2`, keys: browser.keys });
    await complete('long', 'TASK_COMPLETE', { result: '"\\\u0001🌱'.repeat(5000) });
    const [request] = await arrived('/push/2');
    expect(request!.body.length).toBeLessThanOrEqual(4096);
    expect(browser.read(request!.body)).toMatchObject({ notification: { title: 'An agent is done' } });
    await remove(subscription.id);
  });

  it('are sent again without their text when the service finds them too large', async () => {
    const browser = openPushKeys();
    const { subscription } = await add({ kind: 'unifiedpush', endpoint: `${receiver.url}/push/3`, keys: browser.keys });
    receiver.answer = (response) => void response.writeHead(receiver.at('/push/3').length === 1 ? 413 : 201).end();
    const { id } = await complete('large');
    const [first, second] = await arrived('/push/3', 2);
    expect(browser.read(first!.body)).toMatchObject({ notification: { body: 'plant a hedge\nthe last words' } });
    expect(browser.read(second!.body)).toMatchObject({
      notification: { body: 'Open Relay to see more.', data: { sessionId: id } },
    });
    const last = async () => (await read(subscription.id)).lastDelivery;
    await until('it is accepted', async () => (await last())?.state === 'accepted');
    expect(await last()).toMatchObject({ attempts: 1, httpStatus: 201 });
    await remove(subscription.id);
  });

  it('are retried after a failure, after the time that the service requests', async () => {
    const { id } = await webhook('/busy');
    receiver.answer = (response) => {
      const first = receiver.at('/busy').length === 1;
      response.writeHead(first ? 503 : 204, first ? { 'Retry-After': '1' } : {}).end();
    };
    const delivery = await becomes(await test(id), 'accepted');
    expect(delivery).toMatchObject({ attempts: 2, httpStatus: 204, maybeDuplicate: false });
    await remove(id);
  });

  it('follow no redirect, and read no endless answer', async () => {
    const { id } = await webhook('/redirect');
    receiver.answer = (response) => void response.writeHead(302, { Location: `${receiver.url}/elsewhere` }).end();
    expect(await becomes(await test(id), 'failed')).toMatchObject({ httpStatus: 302 });
    receiver.answer = (response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', pour);
      pour();
    };
    await becomes(await test(id), 'accepted');
    expect(receiver.at('/elsewhere')).toEqual([]);
    await remove(id);
  });

  it('pause an address that refuses them, and delete the subscription of a browser that is gone', async () => {
    const { id } = await webhook('/forbidden');
    receiver.answer = (response) => void response.writeHead(403).end();
    await becomes(await test(id), 'failed');
    expect(await read(id)).toMatchObject({ state: 'paused', reason: 'The service answered 403. Check the address.' });
    const { subscription } = await add({
      ...{ kind: 'webpush', endpoint: `${receiver.url}/push/gone` },
      keys: openPushKeys().keys,
    });
    receiver.answer = (response) => void response.writeHead(410).end();
    await becomes(await test(subscription.id), 'gone');
    const answer = await scene.relay.call('readSubscription', { params: { id: subscription.id } });
    expect(answer.status).toBe(404);
    await remove(id);
  });

  it('of an answered question are not sent', async () => {
    const { id } = await webhook('/late');
    await becomes(await test(id), 'accepted');
    receiver.answer = (response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
    const begun = await complete('answered', 'WAIT_FOR_USER', { prompt: 'May I?' });
    await arrived('/late', 2);
    await scene.relay.call('sendMessage', { params: { id: begun.id }, body: { content: 'yes' } });
    await updateOf(scene.app, begun.id, ({ status }) => status === 'active');
    const last = async () => (await read(id)).lastDelivery?.state;
    await until('it is superseded', async () => (await last()) === 'superseded');
    await remove(id);
  });

  it('go nowhere if the cause is off, or the address is paused or removed', async () => {
    const { id } = await webhook('/silent', { causes: { done: 'off' } });
    await becomes(await test(id), 'accepted');
    await complete('not chosen');
    await scene.relay.call('changeSubscription', { params: { id }, body: { causes: {}, state: 'paused' } });
    await complete('paused');
    await remove(id);
    await goesNowhere((await complete('removed')).id);
    expect(receiver.at('/silent')).toHaveLength(1);
  });
});

describe('the ledger of deliveries', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const address = async (userId: string, id: string) =>
    database.sql.execute`
      INSERT INTO subscriptions (id, user_id, kind, address_hash, sealed, label, address, causes, detail, verified)
      VALUES (${id}, ${userId}, 'ntfy', ${id}, '', '', '', '{}', 'none', true)`;
  /** Times are in whole milliseconds, so a new one could be due a moment later. */
  const enqueue = async (userId: string, id: string, ttlMs: number) => {
    const delivery = await addTestDelivery(database, userId, id, ttlMs);
    await database.sql.execute`UPDATE deliveries SET next_at = next_at - interval '1 second' WHERE id = ${delivery}`;
  };
  const claim = async (claimer: string, limit = 100) =>
    (await claimDeliveries(database, { limit, claimer, afterUser: '' })).claimed;
  const passMinutes = async (minutes: number) => {
    await database.sql.execute`
      UPDATE deliveries SET claimed_at = claimed_at - ${minutes}::int * interval '1 minute',
        next_at = next_at - ${minutes}::int * interval '1 minute'`;
  };
  const states = async () =>
    database.sql.query<{ state: string; maybe_duplicate: boolean }>`SELECT state, maybe_duplicate FROM deliveries`;

  it('takes a claim over once after a minute and marks it; the second time the outcome is unknown', async () => {
    await address('alice', 'a1');
    await enqueue('alice', 'a1', 3600_000);
    const [first] = await claim('one');
    expect(await claim('two')).toEqual([]);
    expect(await sweepDeliveries(database)).toBe(0);
    await passMinutes(2);
    expect(await sweepDeliveries(database)).toBe(1);
    expect(await states()).toEqual([{ state: 'pending', maybe_duplicate: true }]);
    const [second] = await claim('two');
    expect(second).toMatchObject({ id: first!.id, attempts: 2 });
    // The instance that seemed dead returns.
    expect(await settleDelivery(database, first!, 'one', { state: 'accepted' })).toBe(false);
    await passMinutes(2);
    await sweepDeliveries(database);
    expect(await states()).toEqual([{ state: 'unknown', maybe_duplicate: true }]);
    expect(await settleDelivery(database, second!, 'two', { state: 'accepted' })).toBe(false);
  });

  it('K6: takes the claim of a question over after ten seconds, unless its instance renews it', async () => {
    await database.sql.execute`DELETE FROM deliveries`;
    await address('quinn', 'q1');
    await enqueue('quinn', 'q1', 3600_000);
    await database.sql.execute`UPDATE deliveries SET cause = 'needs_you'`;
    const passSeconds = (seconds: number) =>
      database.sql.execute`UPDATE deliveries SET claimed_at = claimed_at - ${seconds}::int * interval '1 second'`;
    const [claimed] = await claim('one');
    await passSeconds(8);
    await renewClaims(database, 'two', [claimed!.id]);
    await renewClaims(database, 'one', [claimed!.id]);
    // More than ten seconds since the claim, and far from ten since it was renewed.
    await passSeconds(5);
    expect(await sweepDeliveries(database)).toBe(0);
    await passSeconds(8);
    expect(await sweepDeliveries(database)).toBe(1);
    expect(await states()).toEqual([{ state: 'pending', maybe_duplicate: true }]);
  });

  it('never gives two instances the same claim', async () => {
    await database.sql.execute`DELETE FROM deliveries`;
    for (let n = 0; n < 50; n += 1) {
      await address(`person-${n}`, `p${n}`);
      await enqueue(`person-${n}`, `p${n}`, 3600_000);
    }
    const claims = (await Promise.all([claim('one', 40), claim('two', 40), claim('three', 40)])).flat();
    expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
    expect((await claim('four')).length + claims.length).toBe(50);
  });

  it('serves every user before it serves one with a thousand due rows again', async () => {
    await database.sql.execute`DELETE FROM deliveries`;
    await address('bob', 'b1');
    await enqueue('bob', 'b1', 3600_000);
    await database.sql.execute`
      INSERT INTO deliveries (id, subscription_id, user_id, cause, expires_at, next_at)
      SELECT id || n, subscription_id, user_id, cause, expires_at, next_at FROM deliveries, generate_series(1, 999) n`;
    await address('zoe', 'z1');
    await enqueue('zoe', 'z1', 3600_000);
    const first = await claim('one', 2);
    expect(first.map(({ userId }) => userId)).toEqual(['bob', 'zoe']);
    // An address has one pending delivery.
    expect(await claim('two')).toEqual([]);
    for (const delivery of first) await settleDelivery(database, delivery, 'one', { state: 'accepted' });
    expect((await claim('two')).map(({ userId }) => userId)).toEqual(['bob']);
  });

  it('serves every user of a full host once before any user again', async () => {
    await database.sql.execute`DELETE FROM deliveries`;
    const people = Array.from({ length: 30 }, (_, n) => `full-${n}`);
    for (const person of people) {
      await address(person, person);
      for (let n = 0; n < 2; n += 1) await enqueue(person, person, 3600_000);
    }
    const served: string[] = [];
    const answers: (() => void)[] = [];
    const sender: Sender = {
      send: ({ userId }) =>
        new Promise((resolve) => {
          served.push(userId);
          answers.push(() => resolve({ state: 'accepted' }));
        }),
    };
    const sending = startDeliveries({
      database,
      sender,
      logger: createLogger({ level: 'silent', name: 'test', instance: 'test' }),
      metrics: createMetrics({ instance: 'test' }),
      screens: { shown: () => undefined, clear: () => Promise.resolve() },
      cut: () => undefined,
      pollMs: 3_600_000,
    });
    try {
      sending.wake();
      await until('all are served', () => {
        // One answer at a time keeps the host full.
        answers.shift()?.();
        return served.length === 2 * people.length;
      });
      expect(new Set(served.slice(0, people.length)).size).toBe(people.length);
    } finally {
      for (const answer of answers) answer();
      await sending.stop();
    }
  });

  it('pauses an address that failed for seven days', async () => {
    await database.sql.execute`DELETE FROM deliveries`;
    await address('carol', 'c1');
    await database.sql.execute`UPDATE subscriptions SET failing_since = now() - interval '8 days' WHERE id = 'c1'`;
    await enqueue('carol', 'c1', 3600_000);
    const [delivery] = await claim('one');
    await settleDelivery(database, delivery!, 'one', { state: 'pending', delayMs: 5000 });
    const [row] = await database.sql.query<{ paused: boolean }>`SELECT paused FROM subscriptions WHERE id = 'c1'`;
    expect(row).toEqual({ paused: true });
  });

  it.each([
    ['is gone', { state: 'gone', reason: 'gone' }, 'pending'],
    ['refuses the delivery', { state: 'failed', pause: 'Check the address.' }, 'pending'],
    ['accepted the delivery', { state: 'accepted' }, 'accepted'],
  ] as const)('leaves an address alone that replaced one that %s', async (_how, outcome, state) => {
    await database.sql.execute`DELETE FROM deliveries`;
    const id = `frank ${outcome.state}`;
    await address(id, id);
    await enqueue(id, id, 3600_000);
    const [delivery] = await claim('one');
    await database.sql.execute`UPDATE subscriptions SET sealed = 'another', verified = false WHERE id = ${id}`;
    expect(await settleDelivery(database, delivery!, 'one', outcome)).toBe(true);
    const kept = await database.sql.query`SELECT paused, verified, failing_since FROM subscriptions WHERE id = ${id}`;
    expect(kept).toEqual([{ paused: false, verified: false, failing_since: null }]);
    expect(await states()).toEqual([{ state, maybe_duplicate: false }]);
    // The rest goes to the new address.
    await database.sql.execute`UPDATE subscriptions SET verified = true WHERE id = ${id}`;
    await passMinutes(1);
    expect((await claim('two')).map(({ sealed }) => sealed)).toEqual(state === 'pending' ? ['another'] : []);
  });

  it('expires deliveries after their time, also when the next retry would come too late', async () => {
    await database.sql.execute`DELETE FROM deliveries`;
    await address('dave', 'd1');
    await enqueue('dave', 'd1', 10_000);
    const [delivery] = await claim('one');
    await settleDelivery(database, delivery!, 'one', { state: 'pending', delayMs: 60_000 });
    expect(await states()).toMatchObject([{ state: 'expired' }]);
    await enqueue('dave', 'd1', -1);
    await sweepDeliveries(database);
    expect(await states()).toMatchObject([{ state: 'expired' }, { state: 'expired' }]);
  });
});
