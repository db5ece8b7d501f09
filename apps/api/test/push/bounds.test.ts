import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newUlid } from '@relay/database';
import { type PushReceiver, type TestRelay, openPushKeys, startPushReceiver, startRelay } from '@relay/testing';
import { until } from '../until.ts';

/** Rules, 14.8: many users, and services that do not answer. */
describe('deliveries of many users', () => {
  let relay: TestRelay;
  let slow: PushReceiver;
  let quick: PushReceiver;
  const held: ServerResponse[] = [];
  beforeAll(async () => {
    [slow, quick] = await Promise.all([startPushReceiver(), startPushReceiver()]);
    const config = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [slow.host, quick.host] };
    relay = await startRelay({ config, transports: [] });
  });
  beforeEach(() => {
    slow.received.length = quick.received.length = 0;
    quick.answer = (response) => void response.writeHead(201).end();
  });
  afterAll(async () => {
    for (const response of held) response.end();
    await relay.stop();
    await Promise.all([slow.close(), quick.close()]);
  });

  const subscribe = async (user: string, endpoint: string) => {
    const body = { kind: 'webpush', endpoint, keys: openPushKeys().keys } as const;
    return (await relay.call('addSubscription', { body, user })).body.subscription.id;
  };
  const due = (user: string, id: string, count: number) =>
    relay.database.sql.execute`
      INSERT INTO deliveries (id, subscription_id, user_id, cause, expires_at)
      SELECT ${newUlid()} || n, ${id}, ${relay.issuer.userId(user)}, 'test', now() + interval '1 hour' FROM generate_series(1, ${count}::int) n`;
  const test = (user: string, id: string) => relay.call('testSubscription', { params: { id }, user });

  it("let no user wait for another user's ten thousand", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => subscribe('bob', `${quick.url}/bob/${n}`)));
    const zoe = await subscribe('zoe', `${quick.url}/zoe`);
    for (const id of ids) await due('bob', id, 2000);
    await until('those of bob are sent', () => quick.received.length > 20);
    const before = quick.received.length;
    await test('zoe', zoe);
    await until('that of zoe is sent', () => quick.at('/zoe').length === 1);
    const between = quick.received.findIndex(({ path }) => path === '/zoe') - before;
    // Each address of bob has one pending delivery, and a pass or two could have started before.
    expect(between).toBeLessThan(100);
    for (const id of ids) await relay.call('removeSubscription', { params: { id }, user: 'bob' });
  });

  it('take twenty places at a host that does not answer, and leave the rest to other hosts', async () => {
    slow.answer = (response) => void held.push(response);
    const people = async (group: string, host: PushReceiver, count: number) => {
      const all: [user: string, id: string][] = [];
      for (let n = 0; n < count; n += 1)
        all.push([`${group}${n}`, await subscribe(`${group}${n}`, `${host.url}/${n}`)]);
      return all;
    };
    // All addresses first: an attempt that is held is given up after 15 s, and then the host gets one more.
    const [ofSlow, ofQuick] = [await people('s', slow, 40), await people('q', quick, 30)];
    for (const [user, id] of ofSlow) await test(user, id);
    await until('the places of the host are taken', () => slow.received.length >= 16);
    for (const [user, id] of ofQuick) await test(user, id);
    // One for bob can still arrive, from the test before.
    const forOthers = () => quick.received.filter(({ path }) => !path.startsWith('/bob/'));
    await until('the others have theirs', () => forOthers().length === 30);
    expect(slow.received.length).toBeLessThanOrEqual(20);
    slow.answer = (response) => void response.writeHead(201).end();
    for (const response of held) response.writeHead(201).end();
    await until('the host has all of its own', () => slow.received.length >= 40);
  });
});
