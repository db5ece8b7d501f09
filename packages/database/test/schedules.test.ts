/** Runs of schedules by several instances at once: each time once, also after failures (rules, 26.20 to 26.23). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  type Db,
  type DeviceLock,
  addSchedule,
  devicesWithDueSchedules,
  fireSchedules,
  skipLostRuns,
  withDevice,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('schedules', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.models.device.createMany({ data: ['a', 'b', 'c', 'd'].map((id) => device(id)) });
  });
  afterAll(() => database.close());

  const fields = {
    ...{ agentType: 'claude', projectPath: '', sessionKey: null, title: null, settings: null, dangerous: false },
    ...{ zone: 'Europe/Berlin', from: null, until: null, times: null, waitSeconds: 7200, isPaused: false },
  };
  const add = async (deviceId: string, message: string, cron = '0 4 1 1 *') => {
    const about = { ownerId: 'user-1', deviceId, program: null };
    const id = await withDevice(database, deviceId, (tx) => addSchedule(tx, about, { ...fields, message, cron }));
    // Not now(): the column rounds to milliseconds, so that could be in the future.
    await database.sql.execute`UPDATE schedules SET next_at = now() - interval '1 second' WHERE id = ${id}`;
    return id;
  };
  const fire = (deviceId: string, after?: (tx: Db, found: DeviceLock) => Promise<void>) =>
    withDevice(database, deviceId, async (tx, found) => {
      const { released } = await fireSchedules(tx, found!, 1000);
      await after?.(tx, found!);
      return released.map(({ content }) => content);
    });
  const runsOf = (id: string) =>
    database.sql.query<{ state: string; reason: string | null }>`
      SELECT state, reason FROM schedule_runs WHERE schedule_id = ${id} ORDER BY due_at`;

  it('runs each due time once, however many instances look', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await add(['a', 'b', 'c', 'd'][n % 4]!, `run ${n}`));
    const fired: string[] = [];
    const sweep = async () => {
      for (const deviceId of await devicesWithDueSchedules(database)) fired.push(...(await fire(deviceId)));
    };
    await Promise.all([sweep(), sweep(), sweep(), sweep()]);
    expect(fired.sort()).toEqual(Array.from({ length: 40 }, (_, n) => `run ${n}`).sort());
    expect(await devicesWithDueSchedules(database)).toEqual([]);
    const [count] = await database.sql.query<{ tasks: number; runs: number }>`
      SELECT (SELECT count(*)::int FROM tasks WHERE because = 'schedule') AS tasks, (SELECT count(*)::int FROM schedule_runs) AS runs`;
    expect(count).toEqual({ tasks: ids.length, runs: ids.length });
  });

  it('leaves nothing of a run whose writer dies before the commit', async () => {
    const id = await add('a', 'crashed');
    const died = new Error('killed');
    await expect(fire('a', () => Promise.reject(died))).rejects.toBe(died);
    expect(await runsOf(id)).toEqual([]);
    expect(await database.sql.query`SELECT 1 FROM tasks WHERE instruction = 'crashed'`).toEqual([]);
    expect(await fire('a')).toEqual(['crashed']);
    expect(await runsOf(id)).toEqual([{ state: 'started', reason: null }]);
  });

  it('runs no time again that has a run', async () => {
    const id = await add('b', 'once');
    const [due] = await database.sql.query<{ next_at: Date }>`SELECT next_at FROM schedules WHERE id = ${id}`;
    expect(await fire('b')).toEqual(['once']);
    await database.sql.execute`UPDATE tasks SET state = 'completed' WHERE instruction = 'once'`;
    await database.sql.execute`UPDATE schedules SET next_at = ${due!.next_at} WHERE id = ${id}`;
    expect(await fire('b')).toEqual([]);
    expect(await runsOf(id)).toEqual([{ state: 'done', reason: null }]);
  });

  it('misses the due times after a restore of an older database', async () => {
    const id = await add('c', 'it may have run');
    await withDevice(database, 'c', (tx) => skipLostRuns(tx, 'c'));
    expect(await fire('c')).toEqual([]);
    expect(await runsOf(id)).toEqual([{ state: 'missed', reason: 'set_back' }]);
    const items = await database.sql.query<{ kind: string; reason: string }>`
      SELECT kind, reason FROM inbox_items WHERE subject = ${id}`;
    expect(items).toEqual([{ kind: 'missed', reason: 'set_back' }]);
  });

  it('makes at most 200 runs of a person in a day', async () => {
    await database.sql.execute`
      INSERT INTO schedule_runs (schedule_id, due_at, owner_id, state, task_id)
      SELECT (SELECT id FROM schedules LIMIT 1), now() - n * interval '1 minute', 'user-1', 'done', 'task ' || n FROM generate_series(1, 200) AS n`;
    const id = await add('d', 'too many');
    expect(await fire('d')).toEqual([]);
    expect(await runsOf(id)).toEqual([{ state: 'skipped', reason: 'budget' }]);
  });

  it('pauses a schedule whose account is disabled', async () => {
    const id = await add('d', 'of a disabled person');
    await database.models.user.create({
      data: { id: 'user-1', name: 'Ada', email: 'ada@example.com', disabledAt: new Date() },
    });
    expect(await fire('d')).toEqual([]);
    const [row] = await database.sql.query`SELECT paused_for, next_at FROM schedules WHERE id = ${id}`;
    expect(row).toEqual({ paused_for: 'account', next_at: null });
  });
});
