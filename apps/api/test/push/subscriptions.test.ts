import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AddSubscription } from '@relay/protocol';
import { type TestRelay, openPushKeys, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { noticesSettle } from '../scene.ts';
import { until } from '../until.ts';

const ntfy = (topic: string, more: Partial<AddSubscription> = {}): AddSubscription => ({
  kind: 'ntfy',
  topic,
  ...more,
});

/** Rules, 14.7. */
describe('addresses to notify', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { pushSecret: ['p'.repeat(32)] } });
  });
  afterAll(() => relay.stop());

  const add = (body: AddSubscription, user = 'alice') => relay.call('addSubscription', { body, user });
  const added = async (body: AddSubscription, user = 'alice') => {
    const answer = await add(body, user);
    expectSuccess('addSubscription', 201, answer);
    return answer.body.subscription;
  };
  const list = async (user: string) => (await relay.call('listSubscriptions', { user })).body.subscriptions;

  itAsksForCredentials(() => relay, 'listSubscriptions');

  it('are added with defaults, and shown without their secrets', async () => {
    // The notice of a device allowed above would be a delivery of the new address.
    await noticesSettle(relay);
    const subscription = await added(ntfy('garden-x7', { token: 'tk_secret', label: '  My phone ' }));
    expect(subscription).toMatchObject({
      ...{ kind: 'ntfy', label: 'My phone', address: 'ntfy.sh/garden-x7', detail: 'none', state: 'active' },
      causes: {},
    });
    expect(await list('alice')).toEqual([subscription]);
    const read = await relay.call('readSubscription', { params: { id: subscription.id } });
    expectSuccess('readSubscription', 200, read);
    expect(JSON.stringify(read.body)).not.toContain('tk_secret');
    const [row] = await relay.database.sql.query<{
      all: string;
    }>`SELECT row_to_json(s)::text AS all FROM subscriptions s`;
    expect(row!.all).not.toContain('tk_secret');
  });

  it('change when they are added again', async () => {
    const { id } = await added(ntfy('again'), 'carol');
    const answer = await add(ntfy('again', { label: 'Watch', causes: { done: 'off' } }), 'carol');
    expectSuccess('addSubscription', 200, answer);
    expect(answer.body.subscription).toMatchObject({ id, label: 'Watch', causes: { done: 'off' } });
    expect(await list('carol')).toHaveLength(1);
  });

  it('give a webhook its secret once, and send it nothing before a test', async () => {
    const answer = await add({ kind: 'webhook', url: 'https://hooks.example.com/relay?key=hidden' });
    expect(answer.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(answer.body.subscription).toMatchObject({ state: 'unverified', address: 'hooks.example.com' });
    const { id } = answer.body.subscription;
    const late = { headers: { Authorization: `Bearer ${relay.token('alice', { signedInSecondsAgo: 1000 })}` } };
    const refused = await relay.call('rotateSecret', { user: null, ...late, params: { id } });
    expectRefusal(refused, 'SIGN_IN_NOT_RECENT');
    const rotated = await relay.call('rotateSecret', { params: { id } });
    expectSuccess('rotateSecret', 200, rotated);
    expect(rotated.body.secret).not.toBe(answer.body.secret);
    expect(JSON.stringify(await list('alice'))).not.toMatch(/hidden|whsec/);
  });

  it('are unverified after a webhook replaces a verified one', async () => {
    const hook = (path: string): AddSubscription => ({
      ...{ kind: 'webhook', installation: 'desk', url: `https://hooks.example.com/${path}` },
    });
    const { id } = await added(hook('first'), 'judy');
    await relay.database.sql.execute`UPDATE subscriptions SET verified = true WHERE id = ${id}`;
    expect((await add(hook('first'), 'judy')).body.subscription).toMatchObject({ id, state: 'active' });
    expect((await add(hook('second'), 'judy')).body.subscription).toMatchObject({ id, state: 'unverified' });
  });

  it('can be renamed, paused and removed', async () => {
    const { id } = await added(ntfy('changing'), 'dave');
    const change = (body: object) => relay.call('changeSubscription', { params: { id }, body, user: 'dave' });
    expect((await change({ label: 'Desk', causes: { done: 'all' } })).body).toMatchObject({
      ...{ label: 'Desk', causes: { done: 'all' } },
    });
    expect((await change({ state: 'paused' })).body).toMatchObject({ state: 'paused', reason: 'Paused by you.' });
    const goesOn = await change({ state: 'active' });
    expectSuccess('changeSubscription', 200, goesOn);
    expect(goesOn.body).toMatchObject({ state: 'active' });
    expect(goesOn.body.reason).toBeUndefined();
    expectSuccess('removeSubscription', 204, await relay.call('removeSubscription', { params: { id }, user: 'dave' }));
    expect(await list('dave')).toEqual([]);
    expectRefusal(
      await relay.call('readSubscription', { params: { id }, user: 'dave' }),

      'SUBSCRIPTION_NOT_FOUND',
    );
  });

  it('of another user do not exist', async () => {
    const { id } = await added(ntfy('of alice'.replace(' ', '-')));
    const test = await relay.call('testSubscription', { params: { id } });
    const params = { id };
    const calls = [
      await relay.call('readSubscription', { params, user: 'bob' }),
      await relay.call('changeSubscription', { params, body: { state: 'paused' }, user: 'bob' }),
      await relay.call('removeSubscription', { params, user: 'bob' }),
      await relay.call('testSubscription', { params, user: 'bob' }),
      await relay.call('rotateSecret', { params, user: 'bob' }),
    ];
    for (const answer of calls) expectRefusal(answer, 'SUBSCRIPTION_NOT_FOUND');
    const delivery = { params: { id: test.body.deliveryId } };
    expectSuccess('readDelivery', 200, await relay.call('readDelivery', delivery));
    expectRefusal(await relay.call('readDelivery', { ...delivery, user: 'bob' }), 'DELIVERY_NOT_FOUND');
    expect(await list('bob')).toEqual([]);
  });

  it.each([
    ['ntfy without a topic', { kind: 'ntfy' }, 'INVALID_REQUEST'],
    ['a topic with a path in it', { kind: 'ntfy', topic: '../x' }, 'INVALID_REQUEST'],
    ['a webhook without an address', { kind: 'webhook' }, 'INVALID_REQUEST'],
    ['a browser without keys', { kind: 'webpush', endpoint: 'https://push.example.com/x' }, 'INVALID_REQUEST'],
    [
      'an app with UnifiedPush without keys',
      { kind: 'unifiedpush', endpoint: 'https://up.example.com/x' },
      'INVALID_REQUEST',
    ],
    ['an app of a store without an account on this relay', { kind: 'fcm', token: 'x' }, 'KIND_NOT_CONFIGURED'],
    ['an app of another store', { kind: 'apns', token: 'x' }, 'KIND_NOT_CONFIGURED'],
    ['an unknown kind', { kind: 'pigeon' }, 'INVALID_REQUEST'],
    ['a token with a line break', { kind: 'ntfy', topic: 'x', token: 'a\r\nX-Evil: 1' }, 'INVALID_REQUEST'],
    ['text of the session for ntfy', { kind: 'ntfy', topic: 'x', detail: 'text' }, 'INVALID_REQUEST'],
    ['an address of this machine', { kind: 'webhook', url: 'http://127.0.0.1:6379/' }, 'ADDRESS_NOT_ALLOWED'],
    ['metadata of a cloud', { kind: 'ntfy', topic: 'x', url: 'https://169.254.169.254' }, 'ADDRESS_NOT_ALLOWED'],
  ] as const)('refuse %s', async (_name, body, code) => {
    expectRefusal(await relay.call('POST', '/api/push/subscriptions', { body }), code);
  });

  it("of a browser move to its new user, only with the browser's secret", async () => {
    const { keys } = openPushKeys();
    const endpoint = 'https://push.example.com/shared';
    await added({ kind: 'webpush', endpoint, keys }, 'erin');
    const other = { kind: 'webpush', endpoint, keys: openPushKeys().keys } as const;
    expectRefusal(await add(other, 'frank'), 'SUBSCRIPTION_TAKEN');
    await added({ kind: 'webpush', endpoint, keys }, 'frank');
    expect(await list('erin')).toEqual([]);
  });

  it('are limited to twenty, also when they are added at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => add(ntfy(`many-${n}`), 'grace')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectRefusal(answer, 'TOO_MANY_SUBSCRIPTIONS');
  });

  it('can be tested ten times in ten minutes', async () => {
    const { id } = await added(ntfy('tested'), 'heidi');
    const test = () => relay.call('testSubscription', { params: { id }, user: 'heidi' });
    for (let n = 0; n < 10; n += 1) expect((await test()).status).toBe(202);
    expectRefusal(await test(), 'RATE_LIMITED');
  });

  it('share one key for browsers on all instances', async () => {
    const first = await relay.call('readPushConfig');
    expectSuccess('readPushConfig', 200, first);
    expect(first.body.kinds).toEqual(['ntfy', 'webhook', 'webpush', 'unifiedpush']);
    const other = await startRelay({ config: { pushSecret: ['p'.repeat(32)] }, database: relay.database });
    expect((await other.call('readPushConfig')).body.vapid).toEqual(first.body.vapid);
    await other.stop();
    const stranger = await startRelay({ config: { pushSecret: ['q'.repeat(32)] }, database: relay.database });
    expect((await stranger.call('readPushConfig')).body).toMatchObject({ kinds: ['ntfy', 'webhook'] });
    await stranger.stop();
  });

  it('require a push secret', async () => {
    const bare = await startRelay();
    expect((await bare.call('readPushConfig')).body).toMatchObject({ kinds: [] });
    expectRefusal(await bare.call('addSubscription', { body: ntfy('x') }), 'KIND_NOT_CONFIGURED');
    await bare.stop();
  });

  describe('with texts or an allow button', () => {
    const { keys } = openPushKeys();
    let count = 0;
    const browser = (more: Partial<AddSubscription> = {}): AddSubscription => ({
      ...{ kind: 'webpush', endpoint: `https://push.example.com/s7-${(count += 1)}`, keys, ...more },
    });
    const stale = [
      { issuedSecondsAgo: 1000, expiresInSeconds: 3600 },
      { signedInSecondsAgo: 1000 },
      { signedInSecondsAgo: 90_000, issuedSecondsAgo: 1 },
    ];
    const by = (user: string, options: object) => ({
      user: null,
      headers: { Authorization: `Bearer ${relay.token(user, options)}` },
    });

    it.each(stale)('S7: require a recent sign-in to be added or changed: %o', async (options) => {
      const user = `s7-${JSON.stringify(options).length}-${(count += 1)}`;
      const late = by(user, options);
      const known = await added(browser({ detail: 'title', actions: 'reject' }), user);
      for (const more of [
        { detail: 'text' },
        { actions: 'all' },
        { detail: 'text', actions: 'all', installation: 'mine' },
      ] as const) {
        const answer = await relay.call('addSubscription', { ...late, body: browser(more) });
        expect(answer).toMatchObject({ status: 403, body: { code: 'SIGN_IN_NOT_RECENT' } });
        // Nor in two steps.
        const change = await relay.call('changeSubscription', {
          ...late,
          params: { id: known.id },
          body: more.installation ? { detail: 'text' } : more,
        });
        expect(change).toMatchObject({ status: 403, body: { code: 'SIGN_IN_NOT_RECENT' } });
      }
      for (const kind of ['unifiedpush', 'webpush'] as const) {
        const plain = await relay.call('addSubscription', { ...late, body: { ...browser(), kind } });
        expect(plain).toMatchObject({ status: 201, body: { subscription: { detail: 'title', actions: 'reject' } } });
      }
      expect((await list(user)).filter(({ detail, actions }) => detail === 'text' || actions === 'all')).toEqual([]);
      // The address keeps its rights: pauses and names need no password.
      const trusted = browser({ detail: 'text', actions: 'all' });
      const { id } = await added(trusted, user);
      expect((await relay.call('addSubscription', { ...late, body: trusted })).status).toBe(200);
      const body = { label: 'Desk', detail: 'text', actions: 'all' } as const;
      expect((await relay.call('changeSubscription', { ...late, params: { id }, body })).status).toBe(200);
    });

    it('S7: cause a notice also when a known address gets them, and other keys require a recent sign-in again', async () => {
      const user = 'raised';
      const late = by(user, stale[0]!);
      const notices = async () =>
        (await relay.call('listNotifications', { user })).body.notifications.flatMap(({ cause, name }) =>
          cause === 'account_changed' ? [name] : [],
        );
      const [one, other] = [browser({ detail: 'title' }), browser({ detail: 'title' })];
      const { id } = await added(one, user);
      await added(other, user);
      const change = (body: object) => relay.call('changeSubscription', { user, params: { id }, body });
      expect((await change({ detail: 'text' })).status).toBe(200);
      const texts = 'An address to notify was changed. It gets the texts of your sessions.';
      expect(await notices()).toEqual([texts]);
      expect((await change({ label: 'Desk', detail: 'text' })).status).toBe(200);
      expect((await add({ ...other, detail: 'text' }, user)).status).toBe(200);
      expect(await notices()).toEqual([texts, texts]);
      const foreign = { ...other, detail: 'text', keys: openPushKeys().keys } as const;
      expectRefusal(await relay.call('addSubscription', { ...late, body: foreign }), 'SIGN_IN_NOT_RECENT');
      expect((await relay.call('addSubscription', { ...late, body: { ...other, detail: 'text' } })).status).toBe(200);
      expect(await notices()).toHaveLength(2);
      expect((await add(foreign, user)).status).toBe(200);
      expect(await notices()).toHaveLength(3);
    });

    it('S7: cause a notice to each address at once, in a group or with a delay, too', async () => {
      const user = 'grouped';
      const rest = { detail: 'title', group: 'all', delaySeconds: 3600 } as const;
      const ids = [(await added(browser(rest), user)).id, (await added(browser(rest), user)).id];
      await added(browser({ detail: 'text' }), user);
      const rows = () =>
        relay.database.sql.query<{ subscription_id: string; after_id: string | null; held_for: string | null }>`
          SELECT subscription_id, after_id, held_for FROM deliveries WHERE subscription_id = ANY(${ids}::text[]) ORDER BY subscription_id`;
      await until('the notice is on its way', async () => (await rows()).length === 2);
      expect(await rows()).toEqual(ids.map((id) => ({ subscription_id: id, after_id: null, held_for: null })));
    });

    it("S7: cause a notice to the user's other addresses and apps, and not to themselves", async () => {
      const user = 'noticed';
      const older = await added(browser({ detail: 'title' }), user);
      const notices = async () =>
        (await relay.call('listNotifications', { user })).body.notifications.filter(
          ({ cause }) => cause === 'account_changed',
        );
      expect(await notices()).toEqual([]);
      const foreign = browser({ detail: 'text', actions: 'all' });
      const newer = await added(foreign, user);
      expect(await notices()).toEqual([
        expect.objectContaining({
          name: 'An address to notify was added. It gets the texts of your sessions and buttons that allow.',
        }),
      ]);
      const told = async () =>
        (
          await relay.database.sql.query<{ subscription_id: string }>`
            SELECT subscription_id FROM deliveries WHERE cause = 'account_changed'`
        ).map((row) => row.subscription_id);
      await until('the notice is on its way', async () => (await told()).includes(older.id));
      expect(await told()).not.toContain(newer.id);
      // Adding the same address again sends nothing; a new address of an installation sends a notice.
      await add(foreign, user);
      expect(await notices()).toHaveLength(1);
      await added(browser({ detail: 'text', installation: 'app-1' }), user);
      expect(await notices()).toHaveLength(2);
      expect((await add(browser({ detail: 'text', installation: 'app-1' }), user)).status).toBe(200);
      expect(await notices()).toHaveLength(3);
    });

    it('S7: cause a notice to a paused address too', async () => {
      const user = 'paused';
      const { id } = await added(browser({ detail: 'title' }), user);
      await relay.call('changeSubscription', { user, params: { id }, body: { state: 'paused' } });
      await added(browser({ detail: 'text' }), user);
      await until('an attempt to send the notice', async () => {
        const [row] = await relay.database.sql.query<{ attempts: number }>`
          SELECT attempts FROM deliveries WHERE subscription_id = ${id}`;
        return row !== undefined && row.attempts > 0;
      });
    });

    it('S7: cause a notice when another sign-in removes or replaces them', async () => {
      const user = 'removed';
      const asLogin = (login: string) => by(user, { login });
      const notices = async () =>
        (await relay.call('listNotifications', { user })).body.notifications.map(({ name }) => name);
      const addBy = async (login: string, more: Partial<AddSubscription> = {}) =>
        (await relay.call('addSubscription', { ...asLogin(login), body: browser({ detail: 'title', ...more }) })).body
          .subscription.id;
      const removeBy = (login: string, id: string) =>
        relay.call('removeSubscription', { ...asLogin(login), params: { id } });
      await addBy('desk');
      expect((await removeBy('phone', await addBy('phone'))).status).toBe(204);
      expect(await notices()).toEqual([]);
      expect((await removeBy('thief', await addBy('phone'))).status).toBe(204);
      const removal = 'An address to notify was removed.';
      expect(await notices()).toEqual([removal]);
      await addBy('phone', { installation: 'app-2' });
      await addBy('phone', { installation: 'app-2' });
      expect(await notices()).toEqual([removal]);
      await addBy('thief', { installation: 'app-2' });
      expect(await notices()).toEqual([removal, removal]);
    });
  });
});
