import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  type Cluster,
  type Instance,
  type PushReceiver,
  type TestDaemon,
  connectDaemon,
  startCluster,
  startPushReceiver,
} from '@relay/testing';
import { type Database, type Db, openDatabase } from '@relay/database';
import { describeWith } from '@relay/testing/needs';

interface Row {
  id: string;
  cause: string;
  state: string;
  attempts: number;
  maybe_duplicate: boolean;
}

const patienceMs = 60_000;

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/**
 * Promise: a notification has an outcome at each address, wherever its instance is killed; it is sent twice at most, and the ledger says so
 * (rules, 14.5 and 14.8). A lock in the database holds an instance at the step at which it is killed; minutes pass by setting times back.
 */
describeWith(['postgresql', 'redis-server'], 'kill -9 of the instance that notifies', () => {
  let cluster: Cluster;
  let receiver: PushReceiver;
  let daemon: TestDaemon;
  let subscriptionId: string;
  let database: Database;
  let release: () => Promise<void> = () => Promise.resolve();
  let runs = 0;

  beforeAll(async () => {
    receiver = await startPushReceiver();
    const env = { PUSH_SECRET: 'p'.repeat(32), PUSH_ALLOWED_HOSTS: receiver.host, OUTBOX_POLL_MS: '200' };
    cluster = await startCluster({ apis: 2, gateways: 1, env });
    const transactionTimeoutMs = 240_000;
    database = await openDatabase({ url: cluster.databaseUrl, transactionTimeoutMs });
    daemon = await connectDaemon(cluster);
    const body = { kind: 'webhook', url: `${receiver.url}/hook` } as const;
    subscriptionId = (await cluster.call('addSubscription', { body })).body.subscription.id;
    await cluster.call('testSubscription', { params: { id: subscriptionId } });
    await until('the webhook is verified', async () => {
      const { body: read } = await cluster.call('readSubscription', { params: { id: subscriptionId } });
      return read.state === 'active';
    });
  }, 240_000);
  afterEach(async () => {
    await release();
    receiver.answer = (response) => void response.writeHead(201).end();
    for (const api of cluster.apis) {
      if (dead.has(api)) await restart(api);
      else api.resume();
    }
  });
  afterAll(async () => {
    await daemon?.drop();
    await database?.close();
    await cluster?.stop();
    await receiver?.close();
  });

  const dead = new Set<Instance>();
  const restart = async (api: Instance) => {
    if (!dead.delete(api)) return;
    await api.start();
  };
  const kill = async (...apis: readonly Instance[]) => {
    for (const api of apis) {
      dead.add(api);
      await api.kill();
    }
  };
  const [first, second] = [() => cluster.apis[0]!, () => cluster.apis[1]!];

  /** Holds what `take` locks until it is released. */
  const lock = async (take: (tx: Db) => Promise<unknown>) => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let taken: () => void = () => undefined;
    const isTaken = new Promise<void>((resolve) => (taken = resolve));
    const ended = database.sql.transaction(async (tx) => {
      await take(tx);
      taken();
      await opened;
    });
    release = async () => {
      open();
      await ended;
    };
    await isTaken;
  };

  /** A watched session, and the event that makes its notification due; returns the id of its delivery when it has one. */
  const prepare = async () => {
    const { body } = await cluster.call('createSession', {
      body: { deviceId: daemon.deviceId, message: `run ${runs++}` },
    });
    await daemon.next('task_start', ({ task_id: id }) => id === body.taskId);
    const native = `kill-${runs}`;
    daemon.event(body.taskId, 'SESSION_STARTED', { session_id: native });
    await cluster.call('watch', { body: { sessionId: body.id } });
    const notification = async () =>
      (
        await database.sql.query<{ id: string; state: string }>`
          SELECT id, state FROM notifications WHERE task_id = ${body.taskId}`
      )[0];
    return {
      notification,
      fail: () => daemon.event(body.taskId, 'ERROR', { error: 'no' }),
      row: async (): Promise<Row | undefined> => {
        const found = await notification();
        const rows = await database.sql.query<Row>`
          SELECT * FROM deliveries WHERE notification_id = ${found?.id ?? ''}`;
        expect(rows.length).toBeLessThanOrEqual(1);
        return rows[0];
      },
    };
  };
  type Prepared = Awaited<ReturnType<typeof prepare>>;
  const becomes = async ({ row }: Prepared, state: string) => {
    await until(`it is ${state}`, async () => (await row())?.state === state);
    return (await row())!;
  };
  const requestsOf = ({ id }: Row) => receiver.at('/hook').filter(({ headers }) => headers['webhook-id'] === id).length;
  /** Of everything that is claimed. */
  const passMinutes = async (minutes: number) => {
    await database.sql.execute`
      UPDATE notifications SET claimed_at = claimed_at - ${minutes}::double precision * interval '1 minute' WHERE state = 'sending'`;
    await database.sql.execute`
      UPDATE deliveries SET claimed_at = claimed_at - ${minutes}::double precision * interval '1 minute' WHERE state = 'sending'`;
  };
  const lockSplit = () =>
    lock((tx) => tx.sql.query`SELECT pg_advisory_xact_lock(hashtextextended('split:alice', 0))::text AS locked`);
  const someWaits = async () => {
    const rows = await database.sql.query`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return rows.length > 0;
  };
  /** The service hears it and says nothing, until the answer is given. */
  const silence = () => {
    receiver.answer = () => undefined;
  };
  const heard = (row: () => Promise<Row | undefined>, count: number) =>
    until(`the service heard it ${count} times`, async () => {
      const found = await row();
      return found !== undefined && requestsOf(found) === count;
    });

  it('before it claims the notification: the next one sends it, once', async () => {
    const one = await prepare();
    for (const api of cluster.apis) api.pause();
    one.fail();
    await until('it is written', async () => (await one.notification()) !== undefined);
    await kill(first(), second());
    await restart(first());
    const row = await becomes(one, 'accepted');
    expect([requestsOf(row), row.maybe_duplicate]).toEqual([1, false]);
  }, 240_000);

  it('between the claim and the split: the next one splits it, and it is sent once', async () => {
    const one = await prepare();
    await lockSplit();
    one.fail();
    await until('it is claimed', async () => (await one.notification())?.state === 'sending');
    await until('the split waits', someWaits);
    await kill(first(), second());
    await release();
    await restart(first());
    await passMinutes(2);
    const row = await becomes(one, 'accepted');
    expect([requestsOf(row), row.maybe_duplicate]).toEqual([1, false]);
  }, 240_000);

  it('between the split and its mark: it is split again, without another delivery', async () => {
    const one = await prepare();
    await lockSplit();
    one.fail();
    await until('the split waits', someWaits);
    const { id } = (await one.notification())!;
    const unlockSplit = release;
    await lock((tx) => tx.sql.query`SELECT id FROM notifications WHERE id = ${id} FOR UPDATE`);
    await unlockSplit();
    const row = await becomes(one, 'accepted');
    await until(
      'the mark waits, or is written',
      async () => (await someWaits()) || (await one.notification())?.state === 'sent',
    );
    await kill(first(), second());
    await release();
    await restart(first());
    await passMinutes(2);
    await until('it is marked', async () => (await one.notification())?.state === 'sent');
    expect([(await one.row())!.id, requestsOf(row), row.maybe_duplicate]).toEqual([row.id, 1, false]);
  }, 240_000);

  it('before the service answers: another one sends it again, and the ledger says that it may have come twice', async () => {
    const one = await prepare();
    second().pause();
    silence();
    one.fail();
    await heard(one.row, 1);
    receiver.answer = (response) => void response.writeHead(201).end();
    await kill(first());
    second().resume();
    await passMinutes(2);
    const row = await becomes(one, 'accepted');
    expect([requestsOf(row), row.maybe_duplicate, row.attempts]).toEqual([2, true, 2]);
  }, 240_000);

  it('after the 201 of the service, before it is saved: it is sent again, flagged', async () => {
    const one = await prepare();
    second().pause();
    let answer: () => void = () => undefined;
    receiver.answer = (response) => (answer = () => void response.writeHead(201).end());
    one.fail();
    await heard(one.row, 1);
    const { id } = (await one.row())!;
    await lock((tx) => tx.sql.query`SELECT id FROM deliveries WHERE id = ${id} FOR UPDATE`);
    answer();
    await until('the outcome waits for the lock', someWaits);
    receiver.answer = (response) => void response.writeHead(201).end();
    await kill(first());
    await release();
    second().resume();
    await passMinutes(2);
    const row = await becomes(one, 'accepted');
    expect([requestsOf(row), row.maybe_duplicate]).toEqual([2, true]);
  }, 240_000);

  it('twice: the outcome is unknown, and it is sent no third time', async () => {
    const one = await prepare();
    second().pause();
    silence();
    one.fail();
    await heard(one.row, 1);
    await kill(first());
    second().resume();
    await passMinutes(2);
    await heard(one.row, 2);
    await kill(second());
    await restart(first());
    await passMinutes(2);
    const row = await becomes(one, 'unknown');
    // A later delivery is sent; it would have been sent before.
    receiver.answer = (response) => void response.writeHead(201).end();
    const next = await prepare();
    next.fail();
    await becomes(next, 'accepted');
    expect([requestsOf(row), row.maybe_duplicate]).toEqual([2, true]);
  }, 240_000);

  it('or stopped for 90 s: what it does when it wakes changes nothing', async () => {
    const one = await prepare();
    second().pause();
    let answer: () => void = () => undefined;
    receiver.answer = (response) => (answer = () => void response.writeHead(500).end());
    one.fail();
    await heard(one.row, 1);
    receiver.answer = (response) => void response.writeHead(201).end();
    first().pause();
    second().resume();
    await passMinutes(1.5);
    await becomes(one, 'accepted');
    answer();
    first().resume();
    const next = await prepare();
    next.fail();
    await becomes(next, 'accepted');
    const row = (await one.row())!;
    expect([row.state, row.maybe_duplicate, requestsOf(row)]).toEqual(['accepted', true, 2]);
  }, 240_000);

  it('leaves no delivery without an outcome, none sent more than twice, every second one flagged', async () => {
    const rows = await database.sql.query<Row>`SELECT * FROM deliveries`;
    expect(rows.length).toBeGreaterThan(8);
    for (const row of rows) {
      expect(['accepted', 'unknown']).toContain(row.state);
      expect(requestsOf(row)).toBe(row.maybe_duplicate ? 2 : 1);
    }
  });
});
