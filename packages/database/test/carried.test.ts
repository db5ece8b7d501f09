/** Compares the values that triggers write into rows with a lookup (ADR 105). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { taskStates } from '@relay/protocol';
import {
  type Database,
  inboxCounts,
  listSessions,
  listWatches,
  purgeTasks,
  snoozeItem,
  unwatchSession,
  watchSession,
} from '../src/index.ts';
import { device, onBoth } from './databases.ts';

onBoth('a row that carries what readers show', (open) => {
  let database: Database;
  let made = 0;
  beforeAll(async () => {
    database = await open();
    await database.models.device.create({ data: device('d') });
  });
  afterAll(() => database.close());

  async function session(values: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const key = `s${(made += 1)}`;
    const data = { key, ownerId: 'user-1', deviceId: 'd', agentType: 'claude', nativeId: `native-${key}` };
    await database.models.session.create({ data: { ...data, ...values } });
    return key;
  }
  async function task(key: string, values: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const id = `t${(made += 1)}`;
    const data = { id, sessionKey: key, deviceId: 'd', ownerId: 'user-1', kind: 'resume', instruction: '' };
    await database.models.task.create({ data: { ...data, expiresAt: new Date(Date.now() + 60_000), ...values } });
    return id;
  }
  const carried = async (key: string) => (await database.models.session.findUniqueOrThrow({ where: { key } })).lastTask;
  const listed = async (key: string) => {
    const page = await listSessions(database, 'user-1', { archived: 'all', keys: [key], limit: 1 });
    return JSON.parse(page.sessions[0]!.json) as Record<string, unknown>;
  };
  /** The session in a list; the same where its tasks are looked up. */
  async function shown(key: string): Promise<Record<string, unknown>> {
    const here = await listed(key);
    const before = await carried(key);
    await database.sql.execute`UPDATE sessions SET last_task = NULL WHERE key = ${key}`;
    expect(await listed(key)).toEqual(here);
    await database.sql.execute`UPDATE sessions SET last_task = ${JSON.stringify(before)}::jsonb WHERE key = ${key}`;
    return here;
  }

  it.each(taskStates)('shows a task that is %s', async (state) => {
    const key = await session();
    expect(await carried(key)).toEqual({});
    const id = await task(key, { sentAt: new Date() });
    expect(await carried(key)).toBeNull();
    await database.sql
      .execute`UPDATE tasks SET state = ${state}, error_code = 'TASK_LOST', automatic = true WHERE id = ${id}`;
    const isOpen = ['later', 'queued', 'sent', 'running'].includes(state);
    expect(await carried(key)).toEqual(isOpen ? null : { id, state, code: 'TASK_LOST', automatic: true });
    expect(await shown(key)).toMatchObject(state === 'later' ? { later: { count: 1 } } : { lastTask: { id, state } });
  });

  it('shows the newest task when all are settled, of a held queue the one to decide about', async () => {
    const key = await session({ queueHeld: true });
    const lost = await task(key, { state: 'unknown', finishedAt: new Date() });
    const queued = await task(key);
    expect(await shown(key)).toMatchObject({ lastTask: { id: lost }, queue: { count: 1 } });
    await database.sql.execute`UPDATE tasks SET state = 'cancelled', finished_at = now() WHERE id = ${queued}`;
    expect(await carried(key)).toMatchObject({ id: queued });
    expect(await shown(key)).toMatchObject({ lastTask: { id: lost } });
    await database.sql.execute`UPDATE sessions SET queue_held = false WHERE key = ${key}`;
    expect(await shown(key)).toMatchObject({ lastTask: { id: queued } });
  });

  it('shows the task of the turn, not a message into it, also after the purge', async () => {
    const key = await session();
    const old = new Date('2020-01-01');
    await task(key, { state: 'completed', finishedAt: old });
    const turn = await task(key, { state: 'completed', finishedAt: old });
    const steer = await task(key, { kind: 'steer', state: 'completed', finishedAt: old });
    expect(await shown(key)).toMatchObject({ lastTask: { id: turn } });
    await purgeTasks(database);
    const left = await database.models.task.findMany({ where: { sessionKey: key }, orderBy: { seq: 'asc' } });
    expect(left.map(({ id }) => id)).toEqual([turn, steer]);
    expect(await shown(key)).toMatchObject({ lastTask: { id: turn } });
  });

  it('shows tasks that move to another session', async () => {
    const [from, into] = [await session(), await session()];
    const id = await task(from, { state: 'failed', finishedAt: new Date() });
    await database.sql.execute`UPDATE tasks SET session_key = ${into} WHERE session_key = ${from}`;
    expect(await carried(into)).toEqual({ id, state: 'failed' });
    await database.sql.execute`UPDATE tasks SET session_key = ${from}, state = 'queued' WHERE id = ${id}`;
    expect(await carried(from)).toBeNull();
  });

  it('shows whether it is watched, and its name in the list of watches', async () => {
    const key = await session();
    const named = (name: string) => expect.objectContaining({ sessionId: `d:claude:${name}` }) as unknown;
    await database.sql.transaction((tx) => watchSession(tx, 'user-1', key));
    expect(await listed(key)).toMatchObject({ watched: true });
    expect(await listWatches(database, 'user-1')).toEqual([named(`native-${key}`)]);
    await database.sql.execute`UPDATE sessions SET native_id = 'renamed' WHERE key = ${key}`;
    expect(await listWatches(database, 'user-1')).toEqual([named('renamed')]);
    await unwatchSession(database, 'user-1', key);
    expect(await listed(key)).toMatchObject({ watched: false });
  });

  it('counts the items of an inbox', async () => {
    const user = 'user-2';
    const counts = async () => {
      const { counts: here } = await inboxCounts(database, user);
      const [head] = await database.sql.query<{ same: boolean }>`
        SELECT counts IS NOT NULL AND (SELECT jsonb_object_agg(key, value) FROM jsonb_each(counts) WHERE value <> '0') IS NOT DISTINCT FROM
          NULLIF(relay_inbox_count(${user}), '{}') AS same FROM inbox_heads WHERE user_id = ${user}`;
      expect(head).toEqual({ same: true });
      await database.sql
        .transaction(async (tx) => {
          await tx.sql.execute`UPDATE inbox_heads SET counts = NULL WHERE user_id = ${user}`;
          expect((await inboxCounts(tx, user)).counts).toEqual(here);
          throw new Error('back');
        })
        .catch((error: Error) => expect(error.message).toBe('back'));
      return here;
    };
    await database.sql.execute`
      INSERT INTO inbox_items (id, user_id, kind, subject)
      SELECT 'i' || n, ${user}, CASE n % 3 WHEN 0 THEN 'question' WHEN 1 THEN 'failure' ELSE 'finished' END, n::text FROM generate_series(1, 9) n`;
    expect(await counts()).toMatchObject({ question: 3, failure: 3, finished: 3, snoozed: 0, total: 9, badge: 6 });
    await snoozeItem(database, user, 'i1', new Date(Date.now() + 60_000));
    expect(await counts()).toMatchObject({ failure: 2, snoozed: 1, total: 8 });
    await database.sql.transaction(async (tx) => {
      await tx.sql.execute`UPDATE inbox_items SET state = 'closed', version = 0 WHERE id IN ('i1', 'i2')`;
      await tx.sql.execute`UPDATE inbox_items SET state = 'open', version = 0 WHERE id = 'i2'`;
      await tx.sql.execute`DELETE FROM inbox_items WHERE id = 'i3'`;
      await tx.sql.execute`INSERT INTO inbox_items (id, user_id, kind, subject) VALUES ('new', ${user}, 'missed', '')`;
    });
    expect(await counts()).toMatchObject({
      question: 2,
      failure: 2,
      finished: 3,
      missed: 1,
      snoozed: 0,
      total: 8,
      badge: 4,
    });
  });
});
