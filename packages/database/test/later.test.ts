/** Messages with a time, released by several instances at once: each once, and only after its time (rules, 26.3). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  createSession,
  devicesWithDueLater,
  doubtQueued,
  enqueueLater,
  enqueueMessage,
  hasTooManyLater,
  releaseLater,
  withDevice,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('messages with a time', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.models.device.createMany({ data: ['a', 'b', 'c', 'd'].map((id) => device(id)) });
  });
  afterAll(() => database.close());

  const begin = (deviceId: string, notBefore?: Date) =>
    withDevice(database, deviceId, (tx) =>
      createSession(tx, {
        ...{ ownerId: 'user-1', deviceId, agentType: 'claude', message: 'begin', title: undefined },
        ...{ projectPath: '', ttlMs: 60_000, notBefore },
      }),
    );
  const later = (deviceId: string, key: string, content: string, atMs: number, because?: 'limit') =>
    withDevice(database, deviceId, (tx) =>
      enqueueLater(tx, {
        ...{ key, deviceId, ownerId: 'user-1', content, ttlMs: 60_000 },
        ...{ notBefore: new Date(Date.now() + atMs), because },
      }),
    );
  const statesOf = async (key: string) =>
    (
      await database.sql.query<{ text: string }>`
        SELECT instruction || ' ' || state || COALESCE(' ' || error_code, '') AS text FROM tasks
        WHERE session_key = ${key} AND kind = 'resume' ORDER BY COALESCE(place, seq)`
    ).map(({ text }) => text.trim());

  it('releases each once, and only when its time has come, however many instances sweep', async () => {
    const due = 120;
    const sessions: { deviceId: string; key: string }[] = [];
    for (let n = 0; n < 12; n += 1) {
      const deviceId = ['a', 'b', 'c', 'd'][n % 4]!;
      sessions.push({ deviceId, key: (await begin(deviceId)).key });
    }
    const early: string[] = [];
    for (let n = 0; n < due; n += 1) {
      const { deviceId, key } = sessions[n % sessions.length]!;
      await later(deviceId, key, `due ${n}`, -1000 - n);
      if (n % 10 === 0) early.push((await later(deviceId, key, `early ${n}`, 3_600_000))!);
    }
    const released: string[] = [];
    const sweep = async () => {
      for (let devices = await devicesWithDueLater(database); devices.length > 0;) {
        for (const deviceId of devices)
          released.push(
            ...(await withDevice(database, deviceId, (tx) => releaseLater(tx, deviceId))).released.map(
              ({ content }) => content,
            ),
          );
        devices = await devicesWithDueLater(database);
      }
    };
    await Promise.all([sweep(), sweep(), sweep(), sweep()]);
    expect(released.sort()).toEqual(Array.from({ length: due }, (_, n) => `due ${n}`).sort());
    const rows = await database.sql.query<{ state: string; count: number }>`
      SELECT state, count(*)::int AS count FROM tasks WHERE kind = 'resume' GROUP BY state`;
    expect(Object.fromEntries(rows.map(({ state, count }) => [state, count]))).toEqual({
      queued: due,
      later: early.length,
    });
  });

  it('3.5: releases 1,000 messages once, never early, while writers die before their commit', async () => {
    const sessions: string[] = [];
    for (let n = 0; n < 8; n += 1) sessions.push((await begin(['a', 'b', 'c', 'd'][n % 4]!)).key);
    // The first thousand is due.
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, state, instruction, prompt_uuid, not_before, expires_at)
      SELECT 'many ' || n, s.key, s.device_id, s.owner_id, 'resume', 'later', 'many ' || n, '', m.at, m.at + interval '1 hour'
      FROM generate_series(1, 1100) AS n JOIN sessions s ON s.key = (${sessions}::text[])[1 + n % 8]
        CROSS JOIN LATERAL (SELECT now() + CASE WHEN n <= 1000 THEN -n * interval '1 second' ELSE interval '1 hour' END AS at) m`;
    const died = new Error('killed');
    const released: string[] = [];
    let commits = 0;
    const sweep = async () => {
      for (let devices = await devicesWithDueLater(database); devices.length > 0;) {
        for (const deviceId of devices) {
          const work = withDevice(database, deviceId, async (tx) => {
            const done = await releaseLater(tx, deviceId);
            if ((commits += 1) % 3 === 0) throw died;
            return done.released.map(({ taskId }) => taskId);
          });
          const ids = await work.catch((error: unknown) => {
            if (error !== died) throw error;
            return [];
          });
          released.push(...ids);
        }
        devices = await devicesWithDueLater(database);
      }
    };
    await Promise.all([sweep(), sweep()]);
    expect(released.toSorted()).toEqual(Array.from({ length: 1000 }, (_, n) => `many ${n + 1}`).toSorted());
    const rows = await database.sql.query<{ state: string; count: number }>`
      SELECT state, count(*)::int AS count FROM tasks WHERE id LIKE 'many %' GROUP BY state`;
    expect(Object.fromEntries(rows.map(({ state, count }) => [state, count]))).toEqual({ queued: 1000, later: 100 });
  });

  it('puts a message at the end of its queue, and the one of a limit at its front', async () => {
    const { key } = await begin('a');
    await later('a', key, 'at its time', -1000);
    await enqueue(key, 'now');
    await later('a', key, 'continue', -500, 'limit');
    await withDevice(database, 'a', (tx) => releaseLater(tx, 'a'));
    expect(await statesOf(key)).toEqual(['continue queued', 'now queued', 'at its time queued']);
  });

  const enqueue = (key: string, content: string) =>
    withDevice(database, 'a', (tx) =>
      enqueueMessage(tx, { key, deviceId: 'a', ownerId: 'user-1', content, ttlMs: 60_000, queueLimit: 20 }),
    );

  it('cancels the one of a limit when another message is accepted, and no other one', async () => {
    const { key } = await begin('a');
    await later('a', key, 'tomorrow', 3_600_000);
    await later('a', key, 'first', 3_600_000, 'limit');
    await later('a', key, 'second', 3_600_000, 'limit');
    await enqueue(key, 'now');
    expect(await statesOf(key)).toEqual(['tomorrow later', 'cancelled OVERTAKEN', 'cancelled OVERTAKEN', 'now queued']);
  });

  it('releases messages that continue after a limit 20 s apart, for each agent of a device', async () => {
    const keys = [(await begin('d')).key, (await begin('d')).key, (await begin('d')).key];
    for (const [n, key] of keys.entries()) await later('d', key, `continue ${n}`, -3000 + n * 1000, 'limit');
    const sweep = async () => {
      const { released, moved } = await withDevice(database, 'd', (tx) => releaseLater(tx, 'd'));
      return [released.map(({ content }) => content), moved.length];
    };
    const passMs = (ms: number) =>
      database.sql.execute`UPDATE tasks SET not_before = not_before - ${ms}::double precision * interval '1 millisecond'
        WHERE device_id = 'd' AND state = 'later'`;
    expect(await sweep()).toEqual([['continue 0'], 2]);
    // Five seconds early: more than a pause of the machine.
    await passMs(15_000);
    expect(await sweep()).toEqual([[], 0]);
    await passMs(5500);
    expect(await sweep()).toEqual([['continue 1'], 1]);
    await passMs(21_000);
    expect(await sweep()).toEqual([['continue 2'], 0]);
  });

  it('counts a message as delivered that came due in a time that the database has lost', async () => {
    const { key } = await begin('b');
    await database.sql.execute`UPDATE sessions SET placeholder = false WHERE key = ${key}`;
    const lost = Date.now() + 10_000;
    await later('b', key, 'it may have run', 5000);
    await later('b', key, 'it did not', 3_600_000);
    await withDevice(database, 'b', (tx) => doubtQueued(tx, 'b', lost));
    expect(await statesOf(key)).toEqual(['unknown DELIVERY_UNKNOWN', 'it did not later']);
  });

  it('keeps 20 for a session', async () => {
    const { key } = await begin('c');
    const isFull = () => withDevice(database, 'c', (tx) => hasTooManyLater(tx, 'user-1', key));
    for (let n = 0; n < 20; n += 1) {
      expect(await isFull()).toBe(false);
      await later('c', key, `${n}`, 3_600_000);
    }
    expect(await isFull()).toBe(true);
    expect(await withDevice(database, 'c', (tx) => hasTooManyLater(tx, 'user-1'))).toBe(false);
  });
});
