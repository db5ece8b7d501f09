/** How often PostgreSQL plans the statements of a turn, on a database that has statistics: the session alone takes longer to plan than to read. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Database,
  cancelledAmong,
  claimOwned,
  claimTasks,
  createSession,
  devicesWithQueue,
  endTask,
  endedAmong,
  enqueueMessage,
  findPlaces,
  findSession,
  openDatabase,
  offlineAmong,
  openTasks,
  readSessions,
  resolveSession,
  saveProgress,
  startRunning,
  unfoundEnds,
  watchedOnDevices,
  withDevice,
  withSessionLocked,
} from '../src/index.ts';
import { device, onPostgres } from './databases.ts';

const turns = 12;
/** PostgreSQL makes this many custom plans before it considers a generic one. */
const triedFirst = 5;

onPostgres('the plans of a turn', (postgres) => {
  let database: Database;
  const deviceId = 'laptop';
  const ownerId = 'user-1';
  const id = { deviceId, agentType: 'claude', nativeId: 'native' };

  beforeAll(async () => {
    database = await openDatabase({ url: await postgres().createDatabase(), poolSize: 1 });
    await database.models.device.create({ data: { ...device(deviceId), connectionFence: 1n } });
    await withDevice(database, deviceId, async (tx) => {
      const { key, taskId } = await createSession(tx, {
        ...{ ownerId, deviceId, ttlMs: 60_000, agentType: 'claude', message: 'a', title: 'a', projectPath: '' },
      });
      await claimTasks(tx, deviceId, 1);
      await resolveSession(tx, deviceId, key, id.nativeId, true);
      await endTask(tx, taskId, { kind: 'completed', result: 'done' });
    });
    await database.sql.execute`
      INSERT INTO sessions (key, owner_id, device_id, agent_type, native_id, title, title_source, project_path, status, last_message, message_count, updated_at)
      SELECT 'k' || n, ${ownerId}, ${deviceId}, 'claude', 'native-' || n, 'title ' || n, 'report', '/work', 'idle', 'word', 3, now()
      FROM generate_series(1, 2000) n`;
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, instruction, state, expires_at, sent_at, finished_at)
      SELECT 't' || n, 'k' || n % 2000 + 1, ${deviceId}, ${ownerId}, 'resume', '', 'completed', now(), now(), now()
      FROM generate_series(1, 20000) n`;
    await database.sql.execute`ANALYZE`;
  });
  afterAll(() => database.close());

  it('are made once for many turns, and so are the plans of a reconnect', async () => {
    for (let n = 0; n < turns; n += 1) {
      const accepted = await withSessionLocked(database, ownerId, id, (tx, record) =>
        enqueueMessage(tx, { key: record!.key, ownerId, deviceId, content: 'b', ttlMs: 60_000, queueLimit: 50 }),
      );
      if (accepted.kind !== 'queued') throw new Error(`not accepted: ${accepted.kind}`);
      await claimOwned(database, { deviceId, fence: 1 });
      await withDevice(database, deviceId, async (tx) => {
        await startRunning(tx, accepted.taskId);
        await endTask(tx, accepted.taskId, { kind: 'completed', result: 'done' });
      });
      await readSessions(database, [accepted.record.key]);
      await findSession(database, ownerId, `${deviceId}:claude:native`);
      await findPlaces(database, [{ ownerId, sessionId: `${deviceId}:claude:native` }]);
      const progress = { action: 'Reading', target: '', at: '' };
      await saveProgress(database, [{ key: accepted.record.key, taskId: accepted.taskId, progress }]);
      for (const read of [openTasks, devicesWithQueue, unfoundEnds, watchedOnDevices, offlineAmong])
        await read(database, [deviceId]);
      await endedAmong(database, deviceId, [accepted.taskId]);
      await cancelledAmong(database, [deviceId], [accepted.taskId]);
    }
    const planned = await database.sql.query`
      SELECT custom_plans AS plans, generic_plans AS kept, left(statement, 400) AS statement FROM pg_prepared_statements
      WHERE custom_plans > ${triedFirst} ORDER BY custom_plans DESC`;
    expect(planned).toEqual([]);
    const [{ kept }] = (await database.sql
      .query`SELECT sum(generic_plans)::int AS kept FROM pg_prepared_statements`) as [{ kept: number }];
    expect(kept).toBeGreaterThan(turns);
  });

  it('have the word of an owner in place of a call, which would be planned each time', async () => {
    const plan = await database.sql.query`EXPLAIN (VERBOSE) SELECT relay_owner_word(owner_id) FROM sessions`;
    expect(JSON.stringify(plan)).toMatch(/Output: .*hashtextextended/);
  });
});
