import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NotificationCause, type NotificationList, limits } from '@relay/protocol';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Begun, type Scene, begin, openScene, updateOf } from '../scene.ts';

describe('GET /api/notifications', () => {
  let scene: Scene;
  const begun: Begun[] = [];
  /** Waits until the transport gets a notification. */
  let carried: (sessionId: string) => Promise<void>;
  beforeAll(async () => {
    const seen = new Set<string>();
    const waiting = new Map<string, () => void>();
    carried = (id) => (seen.has(id) ? Promise.resolve() : new Promise((resolve) => waiting.set(id, resolve)));
    scene = await openScene({
      transports: [
        {
          name: 'test',
          send: ({ sessionId }) => {
            seen.add(sessionId);
            waiting.get(sessionId)?.();
            return Promise.resolve();
          },
        },
      ],
    });
    const endings: [string, Record<string, unknown>, string][] = [
      ['TASK_COMPLETE', { result: 'ok' }, 'idle'],
      ['WAIT_FOR_USER', { prompt: 'Sure?' }, 'waiting'],
      ['ERROR', { error: 'no' }, 'failed'],
      ['TASK_COMPLETE', { result: 'ok too' }, 'idle'],
    ];
    for (const [index, [event, fields, status]] of endings.entries()) {
      const session = await begin(scene, `n${index}`);
      begun.push(session);
      await scene.relay.call('watch', { body: { sessionId: session.id } });
      scene.daemon.event(session.taskId, event, fields);
      await updateOf(scene.app, session.id, (now) => now.status === status);
      await carried(session.id);
    }
    const unwatched = await begin(scene, 'unwatched');
    scene.daemon.event(unwatched.taskId, 'TASK_COMPLETE', { result: 'unseen' });
    await updateOf(scene.app, unwatched.id, ({ status }) => status === 'idle');
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'listNotifications');

  const list = async (query = '', user = 'alice') =>
    expectSuccess(
      'listNotifications',
      200,
      await scene.relay.call('GET', `/api/notifications${query}`, { user }),
    ) as NotificationList;

  it('lists the events of watched sessions, newest first, with their causes', async () => {
    // Notices about registered devices (S18) are not the subject here.
    await scene.relay.database.models.notification.deleteMany({ where: { cause: 'device_allowed' } });
    const { notifications, nextCursor } = await list();
    expect(nextCursor).toBeUndefined();
    expect(notifications.map(({ sessionId }) => sessionId)).toEqual(begun.map(({ id }) => id).reverse());
    const causes: NotificationCause[] = ['done', 'failed', 'needs_you', 'done'];
    expect(notifications.map(({ cause }) => cause)).toEqual(causes);
    for (const { state } of notifications.slice(1)) expect(state).toBe('sent');
  });

  it('returns pages that together are complete', async () => {
    const whole = (await list()).notifications.map(({ id }) => id);
    for (const limit of [1, 2, 3, 4]) {
      const seen: string[] = [];
      let query = `?limit=${limit}`;
      for (;;) {
        const page = await list(query);
        seen.push(...page.notifications.map(({ id }) => id));
        if (page.nextCursor === undefined) break;
        expect(page.notifications).toHaveLength(limit);
        query = `?limit=${limit}&cursor=${page.nextCursor}`;
      }
      expect(seen).toEqual(whole);
    }
  });

  it('is invisible to other users', async () => {
    expect(await list('', 'bob')).toEqual({ notifications: [] });
    const { nextCursor } = await list('?limit=1');
    expect(await list(`?cursor=${nextCursor}`, 'bob')).toEqual({ notifications: [] });
  });

  it.each([
    ['limit=0', /limit/],
    [`limit=${limits.sessionsPage + 1}`, /limit/],
    ['limit=some', /limit/],
    ['cursor=garbage', /cursor/],
    [`cursor=${'A'.repeat(513)}`, /cursor/],
  ])('refuses %s', async (query, naming) => {
    expectRefusal(await scene.relay.call('GET', `/api/notifications?${query}`), 'INVALID_REQUEST', naming);
  });
});
