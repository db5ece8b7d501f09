/** How often a task waits for PostgreSQL, on the path of every message: the writes that wake it, counted on the wire. */
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  type Db,
  acceptMessage,
  claimOwned,
  claimTasks,
  confirmTask,
  createSession,
  endTask,
  enqueueMessage,
  newUlid,
  openDatabase,
  readSessions,
  resolveSession,
  settleTask,
  withDevice,
  withSessionLocked,
} from '../src/index.ts';
import { device, onPostgres } from './databases.ts';

/** Passes bytes on, and counts how often the client asks after it was answered. */
async function countingWire(port: number) {
  let trips = 0;
  const sockets: net.Socket[] = [];
  const server = net.createServer((client) => {
    const upstream = net.connect(port, '127.0.0.1');
    let asked = false;
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.setNoDelay().on('error', () => {});
    client.on('data', (bytes) => {
      if (!asked) trips += 1;
      asked = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      asked = false;
      client.write(bytes);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    of: async <T>(work: () => Promise<T>) => {
      const before = trips;
      return { made: await work(), trips: trips - before };
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

onPostgres('the round trips of a task', (postgres) => {
  let wire: Awaited<ReturnType<typeof countingWire>>;
  let database: Database;
  let directUrl: string;
  const deviceId = 'laptop';
  const [ownerId, agentType] = ['user-1', 'claude'];
  const nativeId = 'native';

  beforeAll(async () => {
    directUrl = await postgres().createDatabase();
    const url = new URL(directUrl);
    wire = await countingWire(Number(url.port));
    url.port = String(wire.port);
    database = await openDatabase({ url: url.href, poolSize: 1 });
    await database.models.device.create({ data: { ...device(deviceId), connectionFence: 1n } });
    await withDevice(database, deviceId, async (tx) => {
      const of = { ownerId, deviceId, ttlMs: 60_000 };
      const { key, taskId } = await createSession(tx, { ...of, agentType, message: 'a', title: 'a', projectPath: '' });
      await claimTasks(tx, deviceId, 1);
      await resolveSession(tx, deviceId, key, nativeId, true);
      await endTask(tx, taskId, { kind: 'completed', result: 'done' });
    });
  });
  afterAll(async () => {
    await database.close();
    wire.close();
  });

  const accept = () =>
    withSessionLocked(database, ownerId, { deviceId, agentType, nativeId }, async (tx, record) =>
      enqueueMessage(tx, { key: record!.key, ownerId, deviceId, content: 'b', ttlMs: 60_000, queueLimit: 50 }),
    );

  const acceptAtOnce = () =>
    acceptMessage(database, {
      ...{ deviceId, agentType, nativeId, ownerId, taskId: newUlid() },
      ...{ content: 'b', ttlMs: 60_000, queueLimit: 50, isBehind: false, isBound: true },
    });

  it('performance 4: are one to accept a message, one to claim it, one to confirm it and one to settle it, with the session after each', async () => {
    const accepted = await wire.of(acceptAtOnce);
    const claimed = await wire.of(() => claimOwned(database, { deviceId, fence: 1 }));
    expect([accepted.trips, claimed.trips]).toEqual([1, 1]);
    const { made } = accepted;
    if (made?.kind !== 'queued') throw new Error(`not accepted: ${made?.kind}`);
    expect(made.record.session).toMatchObject({ status: 'idle', lastMessage: 'b', queue: { count: 1 } });
    const { tasks, sessions } = claimed.made;
    expect(tasks.map(({ id }) => id)).toEqual([made.taskId]);
    expect(sessions).toEqual(await readSessions(database, [made.record.key]));
    expect(sessions[0]?.session).toMatchObject({ status: 'active', lastTask: { id: made.taskId, state: 'sent' } });
    expect(sessions[0]!.version).toBeGreaterThan(made.record.version);
    const confirmed = await wire.of(() => confirmTask(database, { deviceId }, made.taskId, nativeId));
    expect(confirmed).toMatchObject({
      trips: 1,
      made: { session: { status: 'active', lastTask: { state: 'running' } } },
    });
    const outcome = { kind: 'completed', result: 'done' } as const;
    const settling = { deviceId, taskId: made.taskId, nativeId, outcome, windowMs: 0 };
    const settled = await wire.of(() => settleTask(database, settling));
    expect(settled).toMatchObject({ trips: 1, made: { record: { session: { status: 'idle', lastMessage: 'done' } } } });
  });

  it('give a claim nothing whose fence is older', async () => {
    await accept();
    expect((await claimOwned(database, { deviceId, fence: 0 })).tasks).toEqual([]);
  });

  it.each([
    ['a transaction', accept],
    ['a function', acceptAtOnce],
  ])('see the commits made while %s waited for the lock', async (_what, acceptBy) => {
    const two = await openDatabase({ url: directUrl, poolSize: 1 });
    try {
      let accepting: ReturnType<typeof acceptBy> | undefined;
      await withDevice(two, deviceId, async (tx) => {
        accepting = acceptBy();
        await waitsForLock(tx);
        await tx.sql.execute`UPDATE sessions SET title = 'renamed meanwhile' WHERE native_id = ${nativeId}`;
      });
      const accepted = await accepting;
      expect(accepted?.kind === 'queued' && accepted.record.session.title).toBe('renamed meanwhile');
    } finally {
      await two.close();
    }
  });

  const waitsForLock = async (db: Db) => {
    for (;;) {
      const [row] = await db.sql.query<{ waits: boolean }>`
        SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted) AS waits`;
      if (row!.waits) return;
    }
  };
});
