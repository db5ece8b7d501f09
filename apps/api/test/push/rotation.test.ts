import { createECDH } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PushReceiver,
  type TestRelay,
  openPushKeys,
  openTestDatabase,
  startPushReceiver,
  startRelay,
  vapidClaims,
} from '@relay/testing';
import type { Database } from '@relay/database';
import type { AddSubscription } from '@relay/protocol';
import { createLogger, createMetrics } from '@relay/telemetry';
import { createAnswerTokens } from '../../src/push/answer-tokens.ts';
import { openPush } from '../../src/push/push.ts';
import { rotatePushKey } from '../../src/push/vapid.ts';
import { createSeal } from '../../src/push/sealed.ts';
import { until } from '../until.ts';

/** Rules, 14.10. */
describe('the key for push services of browsers', () => {
  let receiver: PushReceiver;
  let database: Database;
  let running: TestRelay | undefined;
  /** Starts the relay again on its database. Each test issuer is new, so the addresses move to its user. */
  const start = async (config: object = {}) => {
    await running?.stop();
    const base = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host] };
    running = await startRelay({ config: { ...base, ...config }, database });
    const { id } = (await running.call('me')).body;
    await database.sql.execute`UPDATE subscriptions SET user_id = ${id}`;
    return running;
  };
  beforeAll(async () => {
    receiver = await startPushReceiver();
    database = await openTestDatabase();
  });
  afterAll(async () => {
    await running?.stop();
    await database.close();
    await receiver.close();
  });

  const keyOf = async (relay: TestRelay) => (await relay.call('readPushConfig')).body.vapid!.publicKey;
  const subscribe = async (relay: TestRelay, path: string, more: Partial<AddSubscription> = {}) => {
    const body = { kind: 'webpush', endpoint: `${receiver.url}${path}`, keys: openPushKeys().keys, ...more } as const;
    return (await relay.call('addSubscription', { body })).body.subscription.id;
  };
  /** The final state of a test delivery, and the key of its request. */
  const test = async (relay: TestRelay, id: string, path: string) => {
    const { deliveryId } = (await relay.call('testSubscription', { params: { id } })).body;
    const read = async () => (await relay.call('readDelivery', { params: { id: deliveryId } })).body;
    await until('it ended', async () => !['pending', 'sending'].includes((await read()).state));
    const request = receiver.at(path).at(-1);
    return { delivery: await read(), key: request && vapidClaims(request.headers.authorization).key };
  };

  it('counts immediately, also on instances that do not know it yet', async () => {
    const relay = await start();
    await keyOf(relay);
    const fresh = (await rotatePushKey(relay))!;
    // The page has the key from another instance.
    const id = await subscribe(relay, '/push/fresh', { applicationServerKey: fresh });
    expect(await test(relay, id, '/push/fresh')).toMatchObject({ delivery: { state: 'accepted' }, key: fresh });
    // Another instance added the address, with an even newer key.
    const newest = (await rotatePushKey(relay))!;
    const seal = createSeal(['p'.repeat(32)]);
    const [row] = await database.sql.query<{ sealed: string }>`SELECT sealed FROM subscriptions WHERE id = ${id}`;
    const sealed = seal.seal({ ...(seal.open(row!.sealed) as object), vapidKey: newest });
    await database.sql.execute`UPDATE subscriptions SET sealed = ${sealed} WHERE id = ${id}`;
    expect(await test(relay, id, '/push/fresh')).toMatchObject({ delivery: { state: 'accepted' }, key: newest });
  });

  it('can rotate: older browsers still get messages with their key, for 90 days', async () => {
    const before = await start();
    const oldKey = await keyOf(before);
    const old = await subscribe(before, '/push/old');
    const newKey = await rotatePushKey(before);
    const after = await start();
    expect(await keyOf(after)).toBe(newKey);
    expect(newKey).not.toBe(oldKey);
    const young = await subscribe(after, '/push/new');
    expect(await test(after, old, '/push/old')).toMatchObject({ delivery: { state: 'accepted' }, key: oldKey });
    expect(await test(after, young, '/push/new')).toMatchObject({ delivery: { state: 'accepted' }, key: newKey });
    // A page that stayed open sends its old key; an unknown key is ignored.
    const open = await subscribe(after, '/push/open', { applicationServerKey: oldKey });
    expect(await test(after, open, '/push/open')).toMatchObject({ delivery: { state: 'accepted' }, key: oldKey });
    const foreign = await subscribe(after, '/push/foreign', { applicationServerKey: 'A'.repeat(87) });
    expect(await test(after, foreign, '/push/foreign')).toMatchObject({ key: newKey });

    await database.sql.execute`
      UPDATE server_keys SET rotated_at = now() - interval '91 days' WHERE rotated_at IS NOT NULL`;
    const later = await start();
    const { delivery } = await test(later, old, '/push/old');
    expect(delivery).toMatchObject({ state: 'failed', reason: expect.stringMatching(/Subscribe again/) });
    const { body } = await later.call('readSubscription', { params: { id: old } });
    expect(body).toMatchObject({ state: 'paused' });
  });

  it('can belong to the operator: browsers get the first, and later keys still reach their browsers', async () => {
    const pairs = [createECDH('prime256v1'), createECDH('prime256v1')];
    const [first, second] = pairs.map((pair) => pair.generateKeys('base64url'));
    const [firstPrivate, secondPrivate] = pairs.map((pair) =>
      pair.getPrivateKey().toString('base64url').padStart(43, 'A'),
    );
    const one = await start({ vapidPrivateKey: [firstPrivate] });
    expect(await keyOf(one)).toBe(first);
    const id = await subscribe(one, '/push/own');
    expect(await rotatePushKey(one)).toBeUndefined();
    const two = await start({ vapidPrivateKey: [secondPrivate, firstPrivate] });
    expect(await keyOf(two)).toBe(second);
    expect(await test(two, id, '/push/own')).toMatchObject({ delivery: { state: 'accepted' }, key: first });
  });

  /** Rules, 14.7. */
  it('is encrypted with a new secret by instances that know both, like addresses and the key of answers', async () => {
    const [old, fresh] = ['p'.repeat(32), 'n'.repeat(32)];
    const sign = (secret: string) => {
      const seal = createSeal([secret]);
      const answers = createAnswerTokens({ database, seal, publicUrl: 'https://relay.example' });
      return answers.sign([{ sub: 'u', address: 'a', jti: 'j', session: 's', prompt: 'p' }], Date.now() + 60_000);
    };
    expect(await sign(old)).toHaveLength(1);
    const before = await start();
    const key = await keyOf(before);
    const browser = await subscribe(before, '/push/kept');
    const topic = { kind: 'ntfy', url: receiver.url, topic: 'kept' } as const;
    const twice = { ...topic, topic: 'twice' };
    const add = async (relay: TestRelay, body: AddSubscription) =>
      (await relay.call('addSubscription', { body })).body.subscription.id;
    const ids = [await add(before, topic), await add(before, twice)] as const;
    // An instance without the old secret does not recognize the address either.
    const other = await add(await start({ pushSecret: [fresh] }), twice);
    expect(other).not.toBe(ids[1]);

    const both = await start({ pushSecret: [fresh, old] });
    let log = '';
    const destination = { write: (line: string) => void (log += line) };
    const logger = createLogger({ level: 'debug', name: 'api', instance: 'api', destination });
    const rooms = [0, 0].map((afterMs) =>
      openPush(
        { ...both, backplane: both.apis[0]!.backplane, logger, metrics: createMetrics({ instance: 'api' }) },
        afterMs,
      ),
    );
    await until('two instances say that they are done', () => log.split('are not needed for them').length === 3);
    await Promise.all(rooms.map((room) => room.stop()));
    expect(log).toContain('"unreadable":0');
    for (const hidden of [old, fresh, 'kept', 'twice']) expect(log).not.toContain(hidden);

    const after = await start({ pushSecret: [fresh] });
    expect(await keyOf(after)).toBe(key);
    expect(await test(after, browser, '/push/kept')).toMatchObject({ delivery: { state: 'accepted' }, key });
    for (const id of [...ids, other])
      expect((await test(after, id, '/no-key')).delivery).toMatchObject({ state: 'accepted' });
    expect(await add(after, topic)).toBe(ids[0]);
    expect(await sign(fresh)).toHaveLength(1);
  });

  it('can rotate although the secret that encrypted it is lost', async () => {
    const lost = { pushSecret: ['l'.repeat(32)] };
    const without = await start(lost);
    expect((await without.call('readPushConfig')).body.kinds).toEqual(['ntfy', 'webhook']);
    const made = await rotatePushKey(without);
    expect(await keyOf(await start(lost))).toBe(made);
  });
});
