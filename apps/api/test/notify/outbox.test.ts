import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { poke } from '@relay/backplane';
import { type Database, type DueNotification, claimNotifications } from '@relay/database';
import type { NotificationList } from '@relay/protocol';
import { createLogger } from '@relay/telemetry';
import { openTestDatabase } from '@relay/testing';
import { startOutbox } from '../../src/notify/outbox.ts';
import { type Begun, type Scene, begin, openScene, updateOf } from '../scene.ts';
import { until } from '../until.ts';

/** Rules, 14.5: written with its cause, and sent by exactly one instance. */
describe('the outbox', () => {
  let scene: Scene;
  const delivered: DueNotification[] = [];
  const waiting: (() => void)[] = [];
  /** The transport's handling of a notification; by default it accepts it. */
  let carry: (notification: DueNotification) => Promise<void>;
  beforeAll(async () => {
    const transport = {
      name: 'test',
      send: async (notification: DueNotification) => {
        await carry(notification);
        delivered.push(notification);
        for (const check of waiting) check();
      },
    };
    scene = await openScene({ apis: 2, transports: [transport], config: { outboxPollMs: 300 } });
  });
  beforeEach(() => {
    carry = () => Promise.resolve();
  });
  afterAll(() => scene.relay.stop());

  const deliveredTo = (id: string) => delivered.filter(({ sessionId }) => sessionId === id);
  const delivery = (id: string) =>
    new Promise<void>((resolve) => {
      const check = () => deliveredTo(id).length > 0 && resolve();
      waiting.push(check);
      check();
    });
  const listed = async (id: string) =>
    ((await scene.relay.call('listNotifications')).body as NotificationList).notifications.find(
      ({ sessionId }) => sessionId === id,
    );
  const stateBecomes = async (id: string, state: string) => {
    await until(`${id} is ${state}`, async () => (await listed(id))?.state === state);
  };
  const watchedTask = async (nativeId: string): Promise<Begun> => {
    const begun = await begin(scene, nativeId);
    await scene.relay.call('watch', { body: { sessionId: begun.id } });
    return begun;
  };
  const complete = async (nativeId: string) => {
    const begun = await watchedTask(nativeId);
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'done' });
    return begun.id;
  };

  it('hands a notification to one instance, once, with the facts a user needs and no text of the conversation', async () => {
    const id = await complete('once');
    await delivery(id);
    await stateBecomes(id, 'sent');
    const marker = await complete('marker of once');
    await delivery(marker);
    expect(deliveredTo(id)).toEqual([
      {
        id: expect.any(String),
        userId: scene.relay.issuer.userId('alice'),
        sessionId: id,
        cause: 'done',
        title: 'hello',
      },
    ]);
  });

  it('retries a failed notification', async () => {
    let attempts = 0;
    carry = ({ sessionId }) =>
      sessionId.endsWith(':again') && (attempts += 1) <= 2
        ? Promise.reject(new Error('unreachable'))
        : Promise.resolve();
    const id = await complete('again');
    await delivery(id);
    await stateBecomes(id, 'sent');
    expect(attempts).toBe(3);
  });

  it('gives up after five attempts', async () => {
    let attempts = 0;
    carry = ({ sessionId }) => {
      if (!sessionId.endsWith(':hopeless')) return Promise.resolve();
      attempts += 1;
      return Promise.reject(new Error('unreachable'));
    };
    const id = await complete('hopeless');
    await stateBecomes(id, 'failed');
    expect(attempts).toBe(5);
  });

  it('is not held up by one slow notification', async () => {
    let release!: () => void;
    const stuck = new Promise<void>((resolve) => (release = resolve));
    const [slow, quick] = [await watchedTask('slow'), await watchedTask('quick')];
    carry = ({ sessionId }) => (sessionId === slow.id ? stuck : Promise.resolve());
    scene.daemon.event(slow.taskId, 'TASK_COMPLETE', { result: 'slow' });
    await stateBecomes(slow.id, 'sending');
    scene.daemon.event(quick.taskId, 'TASK_COMPLETE', { result: 'quick' });
    await delivery(quick.id);
    expect(deliveredTo(slow.id)).toEqual([]);
    release();
    await delivery(slow.id);
  });

  it('takes over a claim that another instance never completed', async () => {
    const begun = await watchedTask('orphan');
    await scene.relay.database.sql.execute`
      INSERT INTO notifications (id, user_id, session_key, session_id, cause, state, claimed_at)
      SELECT 'orphan', owner_id, key, ${begun.id}, 'done', 'sending', now() - interval '61 seconds' FROM sessions WHERE native_id = 'orphan'`;
    await delivery(begun.id);
    await stateBecomes(begun.id, 'sent');
  });

  it('is empty for sessions that are not watched', async () => {
    const unwatched = await begin(scene, 'unwatched');
    scene.daemon.event(unwatched.taskId, 'TASK_COMPLETE', { result: 'unseen' });
    await updateOf(scene.app, unwatched.id, ({ status }) => status === 'idle');
    expect(await listed(unwatched.id)).toBeUndefined();
  });
});

describe('the outbox of three apis', () => {
  it('gives each notification to one of them', async () => {
    const delivered: string[] = [];
    // The notice about the scene's new machine can come in between.
    const send = ({ sessionId, cause }: DueNotification) => {
      if (cause === 'done') delivered.push(sessionId);
      return Promise.resolve();
    };
    const transport = { name: 'test', send };
    const scene = await openScene({ apis: 3, transports: [transport], config: { outboxPollMs: 3_600_000 } });
    const query = jest.spyOn(scene.relay.database.sql, 'query');
    try {
      await until('an api has a place', () => poke(scene.relay.gateways[0]!.backplane, 'outbox'));
      query.mockClear();
      const count = 10;
      const expected: string[] = [];
      for (let n = 0; n < count; n += 1) {
        const begun = await begin(scene, `of three ${n}`);
        await scene.relay.call('watch', { body: { sessionId: begun.id } });
        scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'done' });
        expected.push(begun.id);
        await until('it is delivered', () => Promise.resolve(delivered.length > n));
        expect(delivered).toEqual(expected);
      }
      const texts = query.mock.calls.map(([statement]) => (statement instanceof Array ? statement.join('') : ''));
      expect(texts.filter((text) => text.includes("SET state = 'sending'")).length).toBeLessThanOrEqual(2 * count);
    } finally {
      // The tests below can get the same database, and count its statements too.
      query.mockRestore();
      await scene.relay.stop();
    }
  });
});

describe('an outbox alone', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestDatabase();
    const device = { id: 'd', ownerId: 'alice', name: 'x', hostname: 'x', agentType: 'a', tokenHash: 'x' };
    await database.models.device.create({ data: device });
    const session = {
      key: 's',
      ownerId: 'alice',
      deviceId: 'd',
      agentType: 'a',
      nativeId: 'n',
      title: 'x',
      status: 'idle',
    };
    await database.models.session.create({ data: session });
  });
  afterAll(() => database.close());

  const outbox = (sendTimeoutMs: number, send: (notification: DueNotification) => Promise<void>, pollMs = 10) =>
    startOutbox({
      database,
      backplane: { onControl: () => undefined },
      logger: createLogger({ level: 'silent', name: 'test', instance: 'test' }),
      pollMs,
      sendTimeoutMs,
      // pace.test.ts tests the pace of a flood.
      pace: { spend: (work) => work(), rest: () => Promise.resolve() },
      transports: [{ name: 'test', send }],
    });
  const due = (id: string, userId = 'alice') =>
    database.models.notification.create({
      data: { id, userId, sessionKey: 's', sessionId: 'd:a:n', cause: 'done' },
    });
  const rowOf = (id: string) => database.models.notification.findUniqueOrThrow({ where: { id } });

  it('gives a silent transport its time, five times, and continues with the others', async () => {
    await Promise.all([due('stuck'), due('fine')]);
    const silent = outbox(20, ({ id }) => (id === 'stuck' ? new Promise(() => undefined) : Promise.resolve()));
    await until('it is given up', async () => (await rowOf('stuck')).state === 'failed');
    await until('the other is sent', async () => (await rowOf('fine')).state === 'sent');
    expect(await rowOf('stuck')).toMatchObject({ attempts: 5, sentAt: null });
    expect(await rowOf('fine')).toMatchObject({ state: 'sent', attempts: 1 });
    await silent.stop();
  });

  it('stops without waiting for a silent transport, and leaves pending work to other instances', async () => {
    await due('left');
    let takeIt!: () => void;
    const taken = new Promise<void>((resolve) => (takeIt = resolve));
    const silent = outbox(3_600_000, () => {
      takeIt();
      return new Promise(() => undefined);
    });
    await taken;
    await silent.stop();
    expect(await rowOf('left')).toMatchObject({ state: 'sending', attempts: 1 });
  });

  it('K6: takes over the question of a dead instance after ten seconds, and other causes after a minute', async () => {
    const claimedAt = (seconds: number) => new Date(Date.now() - seconds * 1000);
    const claimed = (id: string, cause: string, seconds: number) =>
      database.models.notification.create({
        data: {
          ...{ id, userId: 'kim', sessionKey: 's', sessionId: 'd:a:n', cause },
          ...{ state: 'sending', attempts: 1, claimedAt: claimedAt(seconds) },
        },
      });
    await claimed('young question', 'needs_you', 1);
    await claimed('old question', 'needs_you', 20);
    await claimed('old end', 'done', 20);
    await claimed('older end', 'done', 70);
    const { due: taken } = await claimNotifications(database, { limit: 100, afterUser: '', pauseMs: 0 });
    const ofKim = taken.filter(({ userId }) => userId === 'kim').map(({ id }) => id);
    expect(ofKim.sort()).toEqual(['old question', 'older end']);
    // These claims would expire one after another, and the outboxes of the tests below would take them over.
    await database.models.notification.deleteMany({ where: { state: 'sending' } });
  });

  it('hands over more than one batch without waiting for the next pass, with few claims', async () => {
    const count = 200;
    await Promise.all(Array.from({ length: count }, (_, n) => due(`of many ${n}`)));
    const query = jest.spyOn(database.sql, 'query');
    const many = outbox(3_600_000, () => new Promise((resolve) => setImmediate(resolve)), 3_600_000);
    try {
      many.wake();
      await until(
        'all are sent',
        async () =>
          (await database.models.notification.count({ where: { id: { startsWith: 'of many' }, state: 'sent' } })) ===
          count,
      );
      const texts = query.mock.calls.map(([statement]) => (statement instanceof Array ? statement.join('') : ''));
      expect(texts.filter((text) => text.includes("SET state = 'sending'")).length).toBeLessThan(count);
    } finally {
      query.mockRestore();
      await many.stop();
    }
  });

  it('gives each user a share, so that a user with hundreds delays no other user', async () => {
    const hundreds = Array.from({ length: 100 }, (_, n) => `of alice ${n}`);
    await Promise.all(hundreds.map((id) => due(id)));
    await due('of bob', 'bob');
    const sent: string[] = [];
    const fair = outbox(
      3_600_000,
      ({ id }) => {
        sent.push(id);
        return Promise.resolve();
      },
      3_600_000,
    );
    try {
      fair.wake();
      await until('all are sent', () => sent.length === hundreds.length + 1);
      expect(sent.indexOf('of bob')).toBeLessThan(10);
      expect(new Set(sent).size).toBe(sent.length);
    } finally {
      await fair.stop();
    }
  });

  it('pauses before it retries failures, however many there are', async () => {
    const ids = Array.from({ length: 60 }, (_, n) => `fails ${n}`);
    await Promise.all(ids.map((id) => due(id)));
    const attempted = new Set<string>();
    const failing = outbox(
      3_600_000,
      ({ id }) => {
        attempted.add(id);
        return Promise.reject(new Error('unreachable'));
      },
      3_600_000,
    );
    try {
      failing.wake();
      await until('each was tried', () => attempted.size === ids.length);
      await due('comes later');
      await until('the later one was tried', () => {
        failing.wake();
        return attempted.has('comes later');
      });
      const rows = await database.models.notification.findMany({ where: { id: { in: ids } } });
      expect(new Set(rows.map(({ attempts }) => attempts))).toEqual(new Set([1]));
    } finally {
      await failing.stop();
    }
  });
});
