import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AddSubscription, Delivery, NotificationList } from '@relay/protocol';
import { type PushReceiver, connectDaemon, startPushReceiver } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { type Begun, type Scene, begin, openScene, updateOf } from '../scene.ts';
import { until } from '../until.ts';

/** Rules, 14.11 to 14.15, over two apis: the users who get a notification, its time, and its entry in the ledger. */
describe('routing', () => {
  let scene: Scene;
  let receiver: PushReceiver;
  beforeAll(async () => {
    receiver = await startPushReceiver();
    const config = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host], outboxPollMs: 200 };
    scene = await openScene({ apis: 2, transports: [], config });
  });
  beforeEach(async () => {
    receiver.answer = (response) => void response.end('{}');
    receiver.received.length = 0;
    await scene.relay.database.sql.execute`DELETE FROM deliveries`;
    await scene.relay.database.sql.execute`DELETE FROM subscriptions`;
    await settings({});
  });
  afterAll(async () => {
    await scene.relay.stop();
    await receiver.close();
  });

  const settings = (body: object) => scene.relay.call('saveNotificationSettings', { body });
  const add = async (topic: string, more: Partial<AddSubscription> = {}) => {
    const body = { kind: 'ntfy', url: receiver.url, topic, ...more } as const;
    return (await scene.relay.call('addSubscription', { body })).body.subscription.id;
  };
  const watch = (id: string) => scene.relay.call('watch', { body: { sessionId: id } });
  const run = async (nativeId: string, { watched = true } = {}) => {
    const begun = await begin(scene, nativeId);
    if (watched) await watch(begun.id);
    return begun;
  };
  const done = ({ taskId }: Begun) => scene.daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
  const ask = ({ taskId }: Begun) => scene.daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
  const all = async () => (await scene.relay.call('listNotifications', { query: { limit: 100 } })).body.notifications;
  type Told = NotificationList['notifications'][number];
  const told = async ({ id }: Begun, isReady: (found: Told) => boolean = ({ state }) => !/ing$/.test(state)) => {
    let found: Told | undefined;
    await until(`a notification of ${id}`, async () => {
      found = (await all()).find(({ sessionId }) => sessionId === id);
      return found !== undefined && isReady(found);
    });
    return found!;
  };
  const deliveries = async (begun: Begun, isReady: (all: readonly Delivery[]) => boolean) =>
    (await told(begun, ({ deliveries: found }) => found !== undefined && isReady(found))).deliveries!;
  const are =
    (...states: Delivery['state'][]) =>
    (found: readonly Delivery[]) =>
      found
        .map(({ state }) => state)
        .sort()
        .join() === [...states].sort().join();
  const sentTo = (topic: string) =>
    receiver.at('/').filter(({ body }) => (JSON.parse(body.toString()) as { topic: string }).topic === topic);
  const isHeld = (found: readonly Delivery[]) => found.some(({ heldFor }) => heldFor !== undefined);
  /** Moves all waiting entries this far into the past. */
  const pass = (seconds: number) =>
    scene.relay.database.sql.execute`
      UPDATE deliveries SET next_at = next_at - ${seconds}::int * interval '1 second',
        created_at = created_at - ${seconds}::int * interval '1 second' WHERE state = 'pending'`;
  const show = async ({ id }: Begun) => {
    scene.app.send({ type: 'focus', sessionId: id, visible: true });
    // Its answer comes after the previous frame was handled.
    scene.app.send({ type: 'auth', token: scene.relay.token() });
    await scene.app.next('auth_ok');
  };

  it('settings have defaults, are saved whole, and refuse an unknown zone', async () => {
    const before = await scene.relay.call('readNotificationSettings');
    expectSuccess('readNotificationSettings', 200, before);
    const causes = { needs_you: 'all', failed: 'all', unknown: 'watched', done: 'watched', device: 'off' };
    expect(before.body).toEqual({ causes, quietHours: null, held: { count: 0 } });
    const quietHours = { start: '22:00', end: '07:00', timeZone: 'Europe/Berlin' };
    const saved = await settings({ causes: { done: 'all' }, quietHours });
    expectSuccess('saveNotificationSettings', 200, saved);
    expect((await scene.relay.call('readNotificationSettings', { api: 1 })).body).toEqual({
      ...{ causes: { ...causes, done: 'all' }, quietHours, held: { count: 0 } },
    });
    expect((await scene.relay.call('readNotificationSettings', { user: 'bob' })).body).toEqual(before.body);
    for (const wrong of [{ timeZone: 'Mars/Olympus' }, { timeZone: '+02:00' }, { end: '22:00' }, { start: '24:00' }])
      expectRefusal(
        await scene.relay.call('PUT', '/api/notification-settings', {
          body: { quietHours: { ...quietHours, ...wrong } },
        }),
        'INVALID_REQUEST',
      );
  });

  it('skips a session that is not watched, unless its user wants that cause for all sessions', async () => {
    await add('one');
    const quiet = await run('unwatched', { watched: false });
    done(quiet);
    await updateOf(scene.app, quiet.id, ({ status }) => status === 'idle');
    await settings({ causes: { done: 'all' } });
    const loud = await run('all of them', { watched: false });
    done(loud);
    await deliveries(loud, are('accepted'));
    expect((await all()).filter(({ sessionId }) => sessionId === quiet.id)).toEqual([]);
  });

  it('lets one address want all causes, and gives the reason why the other got nothing', async () => {
    await add('wants all', { topic: 'wants-all', causes: { done: 'all' } });
    await add('plain');
    const begun = await run('by address', { watched: false });
    done(begun);
    const found = await deliveries(begun, are('accepted', 'suppressed'));
    expect(found.find(({ state }) => state === 'suppressed')).toMatchObject({
      ...{ reason: 'The session is not watched.', attempts: 0 },
    });
    expect(sentTo('wants-all')).toHaveLength(1);
    expect(sentTo('plain')).toHaveLength(0);
  });

  it('reports that no address wants a notification, and that there is no address', async () => {
    const nowhere = await run('no address');
    done(nowhere);
    expect((await told(nowhere)).state).toBe('unaddressed');
    await add('off', { causes: { done: 'off' } });
    const unwanted = await run('unwanted');
    done(unwanted);
    expect(await told(unwanted)).toMatchObject({
      ...{ state: 'suppressed', deliveries: [{ state: 'suppressed', reason: 'Off for this address.' }] },
    });
  });

  it('supports the choices all, watched and off for one session', async () => {
    await add('session');
    await settings({ causes: { done: 'off' } });
    const begun = await run('choosing', { watched: false });
    const choose = (notify: string) =>
      scene.relay.call('updateSession', { params: { id: begun.id }, body: { notify } as object });
    expect((await choose('all')).body).toMatchObject({ watched: true, notify: 'all' });
    done(begun);
    await deliveries(begun, are('accepted'));
    expect((await choose('off')).body).toMatchObject({ watched: false, notify: 'off' });
    await settings({ causes: { done: 'all' } });
    const { body } = await scene.relay.call('sendMessage', { params: { id: begun.id }, body: { content: 'more' } });
    await scene.daemon.next('task_resume', (frame) => frame.task_id === body.taskId);
    scene.daemon.event(body.taskId, 'TASK_COMPLETE', { result: 'done' });
    await updateOf(scene.app, begun.id, ({ status, notify }) => status === 'idle' && notify === 'off');
    expect((await all()).filter(({ sessionId }) => sessionId === begun.id)).toHaveLength(1);
    const watched = (await choose('watched')).body;
    expect(watched).toMatchObject({ watched: true });
    expect(watched).not.toHaveProperty('notify');
    await choose('off');
    await watch(begun.id);
    expect((await scene.relay.call('readSession', { params: { id: begun.id } })).body).not.toHaveProperty('notify');
  });

  it('waits for the page that shows a session, and sends if the user reads nothing', async () => {
    await add('shown');
    const begun = await run('shown and not read');
    await show(begun);
    done(begun);
    expect(await deliveries(begun, isHeld)).toMatchObject([{ state: 'pending', heldFor: 'reading' }]);
    expect(sentTo('shown')).toHaveLength(0);
    await pass(8);
    await deliveries(begun, are('accepted'));
    expect(sentTo('shown')).toHaveLength(1);
  });

  it('suppresses a notification that the user reads on the page', async () => {
    await add('read');
    const begun = await run('shown and read');
    await show(begun);
    done(begun);
    await deliveries(begun, isHeld);
    await scene.relay.call('markRead', { params: { id: begun.id }, body: {} });
    await pass(8);
    expect(await deliveries(begun, are('suppressed'))).toMatchObject([
      { reason: 'An app showed the session, and it was read there.' },
    ]);
    expect((await told(begun)).state).toBe('suppressed');
    expect(sentTo('read')).toHaveLength(0);
  });

  it('sends questions immediately, also while a page shows the session; a hidden page or another session delays nothing', async () => {
    await add('ask');
    const question = await run('question');
    await show(question);
    ask(question);
    await deliveries(question, are('accepted'));
    const begun = await run('another');
    scene.app.send({ type: 'focus', sessionId: begun.id, visible: false });
    await show(question);
    done(begun);
    await deliveries(begun, are('accepted'));
  });

  it('holds notifications in quiet hours, and sends one message for all of them afterwards', async () => {
    await add('quiet');
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
    const quietHours = { start: at(-60), end: at(120), timeZone: 'UTC' };
    await settings({ quietHours });
    const held = [await run('night 1'), await run('night 2'), await run('night 3')];
    for (const one of held) {
      done(one);
      expect(await deliveries(one, isHeld)).toMatchObject([{ heldFor: 'quiet_hours' }]);
    }
    const question = await run('night question');
    ask(question);
    await deliveries(question, are('accepted'));
    const { body } = await scene.relay.call('readNotificationSettings');
    expect(body.held.count).toBe(3);
    // Read during the night: the morning message leaves it out.
    await scene.relay.call('markRead', { params: { id: held[2]!.id }, body: {} });
    await settings({});
    const [first] = await deliveries(held[0]!, are('accepted'));
    expect(await deliveries(held[1]!, are('superseded'))).toMatchObject([{ sentWith: first!.id }]);
    expect((await deliveries(held[2]!, are('superseded')))[0]).not.toHaveProperty('sentWith');
    expect(sentTo('quiet').map(({ body: text }) => JSON.parse(text.toString()) as object)).toMatchObject([
      { title: 'An agent needs you' },
      { title: '2 notifications', message: '2 done' },
    ]);
  });

  it('sends the rest of such a message when its first cause is settled before the retry', async () => {
    await add('morning');
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
    await settings({ quietHours: { start: at(-60), end: at(120), timeZone: 'UTC' } });
    const held = [await run('dawn 1'), await run('dawn 2'), await run('dawn 3')];
    for (const one of held) {
      done(one);
      await deliveries(one, isHeld);
    }
    receiver.answer = (response) => void response.writeHead(503, { 'Retry-After': '3600' }).end();
    await settings({});
    let first: Begun | undefined;
    await until('it was tried', async () => {
      const tried = (await all()).find(({ deliveries: found }) => found?.[0]?.attempts === 1);
      first = held.find(({ id }) => id === tried?.sessionId);
      return first !== undefined && tried?.deliveries?.[0]?.state === 'pending';
    });
    const others = held.filter((one) => one !== first);
    for (const one of others) await deliveries(one, are('superseded'));
    await scene.relay.call('markRead', { params: { id: first!.id }, body: {} });
    receiver.answer = (response) => void response.end('{}');
    receiver.received.length = 0;
    await pass(3600);
    await deliveries(first!, are('superseded'));
    const ends = [];
    for (const one of others)
      ends.push(...(await deliveries(one, ([only]) => ['accepted', 'superseded'].includes(only!.state))));
    const sent = ends.find(({ state }) => state === 'accepted');
    expect(ends.find(({ state }) => state === 'superseded')).toMatchObject({ sentWith: sent?.id });
    expect(sentTo('morning').map(({ body }) => JSON.parse(body.toString()) as object)).toMatchObject([
      { title: '2 notifications', message: '2 done' },
    ]);
  });

  it('moves held notifications when the quiet hours change, and holds a retry that falls into them', async () => {
    await add('moving');
    receiver.answer = (response) => void response.writeHead(503, { 'Retry-After': '3600' }).end();
    const begun = await run('retried at night');
    done(begun);
    await deliveries(begun, ([one]) => one?.state === 'pending' && one.attempts === 1);
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
    await settings({ quietHours: { start: at(-60), end: at(120), timeZone: 'UTC' } });
    await pass(3600);
    const [held] = await deliveries(begun, isHeld);
    expect(held).toMatchObject({ heldFor: 'quiet_hours', attempts: 1 });
    await settings({ quietHours: { start: at(-60), end: at(240), timeZone: 'UTC' } });
    const [moved] = await deliveries(begun, isHeld);
    expect(Date.parse(moved!.nextAt!)).toBeGreaterThan(Date.parse(held!.nextAt!));
  });

  it('tries the next address of a group only after the previous one failed', async () => {
    await add('first', { group: 'my phone' });
    await add('second', { group: 'my phone' });
    await add('alone');
    const good = await run('group, good');
    done(good);
    const found = await deliveries(good, are('accepted', 'accepted', 'suppressed'));
    expect(found.find(({ state }) => state === 'suppressed')).toMatchObject({
      ...{ reason: 'Another address of its group was notified.' },
    });
    expect([sentTo('first').length, sentTo('second').length, sentTo('alone').length]).toEqual([1, 0, 1]);
    receiver.answer = (response, { body }) =>
      void response.writeHead((JSON.parse(body.toString()) as { topic: string }).topic === 'first' ? 503 : 200).end();
    const bad = await run('group, bad');
    done(bad);
    await deliveries(bad, are('accepted', 'accepted', 'failed'));
    expect([sentTo('first').length, sentTo('second').length, sentTo('alone').length]).toEqual([2, 1, 2]);
  });

  it('skips an address of a group that was paused while a notification waited for it', async () => {
    const first = await add('first', { group: 'my phone' });
    await add('second', { group: 'my phone' });
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
    await settings({ quietHours: { start: at(-60), end: at(120), timeZone: 'UTC' } });
    const begun = await run('group, paused');
    done(begun);
    await deliveries(begun, isHeld);
    await scene.relay.call('changeSubscription', { params: { id: first }, body: { state: 'paused' } });
    await settings({});
    const found = await deliveries(begun, are('accepted', 'superseded'));
    expect(found.find(({ state }) => state === 'superseded')).toMatchObject({ reason: 'The address is paused.' });
    expect([sentTo('first').length, sentTo('second').length]).toEqual([0, 1]);
  });

  it('uses an address with a delay only while the notification is open', async () => {
    await add('later', { delaySeconds: 300 });
    const [answered, open] = [await run('answered in time'), await run('still open')];
    for (const one of [answered, open]) {
      ask(one);
      await deliveries(one, isHeld);
    }
    // The relay has accepted the answer, and the machine does not have it yet.
    await scene.daemon.drop();
    await scene.relay.call('sendMessage', { params: { id: answered.id }, body: { content: 'yes' } });
    await pass(300);
    await deliveries(answered, are('superseded'));
    await deliveries(open, are('accepted'));
    expect(sentTo('later')).toHaveLength(1);
    scene.daemon = await connectDaemon(scene.relay, { registration: scene.daemon.registration });
  });

  it('sends one message for a storm across instances', async () => {
    await add('storm');
    const sessions: Begun[] = [];
    for (let n = 0; n < 9; n += 1) sessions.push(await run(`storm ${n}`));
    for (const one of sessions) done(one);
    const settled = async () => (await all()).flatMap(({ deliveries: found }) => found ?? []);
    await until('all are split', async () => (await settled()).length === 9);
    await until(
      'five are sent',
      async () => (await settled()).filter(({ state }) => state === 'accepted').length === 5,
    );
    expect((await settled()).filter(({ heldFor }) => heldFor === 'storm')).toHaveLength(4);
    expect(sentTo('storm')).toHaveLength(5);
    await pass(61);
    await until('the rest is one', async () =>
      (await settled()).every(({ state }) => /accepted|superseded/.test(state)),
    );
    expect(sentTo('storm')).toHaveLength(6);
    expect(JSON.parse(sentTo('storm').at(-1)!.body.toString())).toMatchObject({ message: '4 done' });
  });

  it('keeps one address of each kind for an installation', async () => {
    const first = await add('old-token', { installation: 'phone-1' });
    expect(await add('new-token', { installation: 'phone-1' })).toBe(first);
    const { subscriptions } = (await scene.relay.call('listSubscriptions')).body;
    expect(subscriptions).toMatchObject([
      { id: first, installation: 'phone-1', address: expect.stringContaining('new-token') },
    ]);
  });
});
