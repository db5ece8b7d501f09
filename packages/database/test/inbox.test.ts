/**
 * The inbox (rules, 14.16): each cause opens its item in its own transaction, each resolution closes it, and versions
 * order all of it.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import type { InboxKind } from '@relay/protocol';
import {
  type Database,
  type Db,
  ackItem,
  ackItems,
  addNotification,
  cancelTask,
  claimTasks,
  closePrompt,
  createSession,
  endExpiredItems,
  endSnoozes,
  endTask,
  enqueueMessage,
  eraseSession,
  expireTasks,
  inboxCounts,
  inboxNews,
  markInboxPublished,
  markLost,
  markUnknown,
  openBeside,
  readInbox,
  resolveSession,
  snoozeItem,
  startRunning,
  sweepDeviceItems,
  unpublishedInboxes,
  watchSession,
  withDevice,
} from '../src/index.ts';
import { onBoth } from './databases.ts';

onBoth('the inbox', (open) => {
  let database: Database;
  let deviceId: string;
  let userId: string;
  let raised: string[] = [];

  beforeAll(async () => {
    database = await open();
    database.watchInboxes((people) => raised.push(...people));
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    raised = [];
    userId = ulid();
    deviceId = ulid();
    await database.models.device.create({
      data: { id: deviceId, ownerId: userId, agentType: 'scripted', name: 'laptop', hostname: 'h', tokenHash: ulid() },
    });
  });

  const inside = <T>(work: (tx: Db) => Promise<T>) => withDevice(database, deviceId, work);
  /** A session with a name whose first task runs. */
  const running = (ttlMs = 60_000) =>
    inside(async (tx) => {
      const { key, taskId } = await createSession(tx, {
        ownerId: userId,
        deviceId,
        agentType: 'scripted',
        message: 'go',
        title: undefined,
        projectPath: '/p',
        ttlMs,
      });
      if (ttlMs < 0) return { key, taskId };
      await claimTasks(tx, deviceId, 1);
      await startRunning(tx, taskId);
      await resolveSession(tx, deviceId, key, ulid(), true);
      return { key, taskId };
    });
  const say = (key: string, answers?: { uuid: string; option?: string } | null) =>
    inside((tx) =>
      enqueueMessage(tx, {
        key,
        deviceId,
        ownerId: userId,
        content: 'x',
        ttlMs: 60_000,
        queueLimit: 20,
        ...(answers === undefined ? {} : { answers }),
      }),
    );
  const prompt = (id: string | undefined) => ({
    kind: 'question' as const,
    prompt: 'May I?',
    options: [],
    ...(id === undefined ? {} : { id }),
  });
  const ask = (taskId: string, id?: string) =>
    inside((tx) => endTask(tx, taskId, { kind: 'waiting', prompt: prompt(id) as never, alone: false }));
  const kinds = async (): Promise<InboxKind[]> =>
    (await readInbox(database, userId, { limit: 10 })).items.map(({ kind }) => kind);
  const items = async () => (await readInbox(database, userId, { limit: 10 })).items;

  it('has a question from the moment it is asked until it is answered, and again when its answer is taken back', async () => {
    const { key, taskId } = await running();
    await ask(taskId, 'q1');
    const [item] = await items();
    expect(item).toMatchObject({
      kind: 'question',
      prompt: { id: 'q1', prompt: 'May I?' },
      title: 'go',
      deviceName: 'laptop',
    });
    await say(key, { uuid: 'q1' });
    expect(await kinds()).toEqual([]);
    await inside((tx) => cancelTask(tx, key));
    expect(await inboxCounts(database, userId)).toMatchObject({ version: 3, counts: { question: 1 } });
  });

  it('has a question without a name until the next message, and again when that message is withdrawn', async () => {
    const { key, taskId } = await running();
    await ask(taskId);
    expect(await items()).toMatchObject([{ kind: 'question', prompt: { prompt: 'May I?' } }]);
    await say(key);
    expect(await kinds()).toEqual([]);
    await inside(
      async (tx) =>
        tx.sql.execute`UPDATE tasks SET state = 'cancelled' WHERE session_key = ${key} AND state = 'queued'`,
    );
    expect(await kinds()).toEqual(['question']);
    await inside((tx) => cancelTask(tx, key));
    expect(await kinds()).toEqual([]);
  });

  it('keeps questions apart that are asked beside each other, and closes them when the daemon takes them back or time is over', async () => {
    const { key, taskId } = await running();
    await ask(taskId, 'a');
    await inside((tx) => openBeside(tx, key, prompt('b') as never));
    expect((await inboxCounts(database, userId)).counts).toMatchObject({ question: 2, total: 2, badge: 2 });
    await inside((tx) => closePrompt(tx, key, { uuid: 'a', state: 'superseded' }));
    expect(await items()).toMatchObject([{ prompt: { id: 'b' } }]);
    await database.sql.execute`UPDATE inbox_items SET expires_at = now() - interval '1 second' WHERE subject = 'b'`;
    await endExpiredItems(database);
    expect(await kinds()).toEqual([]);
  });

  it('has a failed, a lost and an expired task until its person has seen it or sends another message there', async () => {
    const failed = await running();
    await inside((tx) => endTask(tx, failed.taskId, { kind: 'failed', code: 'AGENT_ERROR', error: 'no disk' }));
    const lost = await running();
    await inside((tx) => markLost(tx, [lost.taskId]));
    await running(-1);
    await inside((tx) => expireTasks(tx, deviceId));
    const [late, gone, first] = await items();
    expect([late, gone, first]).toMatchObject([
      { kind: 'failure', reason: 'TASK_EXPIRED' },
      { kind: 'failure', reason: 'TASK_LOST', taskId: lost.taskId },
      { kind: 'failure', reason: 'AGENT_ERROR', error: 'no disk' },
    ]);
    expect(await ackItem(database, userId, gone!.id)).toBe('changed');
    await say(failed.key);
    expect(await items()).toMatchObject([{ id: late!.id }]);
    expect((await inboxCounts(database, userId)).counts).toMatchObject({ failure: 1, badge: 1 });
  });

  it('has a message of unknown delivery until its person sends, cancels or has seen it', async () => {
    for (const end of [(key: string) => say(key), (key: string) => inside((tx) => cancelTask(tx, key))]) {
      const { key } = await running();
      await database.sql.execute`UPDATE tasks SET state = 'sent' WHERE session_key = ${key}`;
      const [task] = await database.sql.query<{ id: string }>`SELECT id FROM tasks WHERE session_key = ${key}`;
      await inside((tx) => markUnknown(tx, [task!.id]));
      expect(await items()).toMatchObject([{ kind: 'unknown', taskId: task!.id, reason: 'DELIVERY_UNKNOWN' }]);
      await end(key);
      expect(await kinds()).toEqual([]);
    }
  });

  it('has the newest outcome of a watched session once, also for one started on the machine, and skips other sessions', async () => {
    const { key, taskId } = await running();
    await inside((tx) => endTask(tx, taskId, { kind: 'completed', result: 'one' }));
    expect(await kinds()).toEqual([]);
    await watchSession(database, userId, key);
    for (const result of ['two', 'three']) {
      await say(key);
      const [task] = await inside((tx) => claimTasks(tx, deviceId, 1));
      await inside((tx) => endTask(tx, task!.id, { kind: 'completed', result }));
      expect(await items()).toMatchObject([{ kind: 'finished', lastMessage: result }]);
    }
    expect((await inboxCounts(database, userId)).counts).toMatchObject({ finished: 1, total: 1, badge: 0 });
    const { version } = await inboxCounts(database, userId);
    await ackItems(database, userId, { upToVersion: version });
    expect(await kinds()).toEqual([]);
    await inside((tx) => addNotification(tx, { sessionKey: key, cause: 'done', windowMs: 0 }));
    expect(await kinds()).toEqual(['finished']);
  });

  it('has an offline machine while work waits, until it is back, and a registration that two machines use', async () => {
    const { key } = await running();
    await say(key);
    await database.sql.execute`UPDATE devices SET last_seen_at = now() - interval '6 minutes' WHERE id = ${deviceId}`;
    await sweepDeviceItems(database, 300_000);
    expect(await items()).toMatchObject([{ kind: 'device', reason: 'offline', deviceId, deviceName: 'laptop' }]);
    await sweepDeviceItems(database, 300_000);
    const { version } = await inboxCounts(database, userId);
    await database.sql.transaction((tx) => tx.sql.execute`UPDATE devices SET status = 'online' WHERE id = ${deviceId}`);
    expect(await inboxCounts(database, userId)).toMatchObject({ version: version + 1, counts: { total: 0 } });
    const until = new Date(Date.now() + 60_000).toISOString();
    await database.sql.transaction(
      (tx) => tx.sql.execute`UPDATE devices SET conflict = ${JSON.stringify({ until })}::jsonb WHERE id = ${deviceId}`,
    );
    expect(await items()).toMatchObject([{ kind: 'device', reason: 'conflict', expiresAt: until }]);
  });

  it('raises the version once for each transaction that changes it, with its owner, and not for other transactions', async () => {
    const { key, taskId } = await running();
    expect(raised).toEqual([]);
    await inside(async (tx) => {
      await endTask(tx, taskId, { kind: 'waiting', prompt: prompt('a') as never, alone: false });
      await openBeside(tx, key, prompt('b') as never);
    });
    expect(raised).toEqual([userId]);
    expect(await inboxCounts(database, userId)).toMatchObject({ version: 1, counts: { question: 2 } });
    expect((await items()).map(({ version }) => version)).toEqual([1, 1]);
    await inside((tx) => tx.sql.execute`UPDATE sessions SET title = 'other' WHERE key = ${key}`);
    expect(raised).toEqual([userId]);
    await inside((tx) => eraseSession(tx, key));
    expect(await inboxCounts(database, userId)).toMatchObject({ version: 2, counts: { total: 0 } });
  });

  it('raises nothing when the transaction is rolled back', async () => {
    const { taskId } = await running();
    const failing = inside(async (tx) => {
      await endTask(tx, taskId, { kind: 'waiting', prompt: prompt('a') as never, alone: false });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect([await inboxCounts(database, userId), raised]).toMatchObject([{ version: 0, counts: { total: 0 } }, []]);
  });

  it('refuses to close a question unseen, hides it for a while, and shows it again by the sweep', async () => {
    const { key, taskId } = await running();
    await watchSession(database, userId, key);
    await ask(taskId, 'q');
    const [item] = await items();
    expect(await ackItem(database, userId, item!.id)).toBe('needsAnswer');
    expect(await ackItem(database, 'another', item!.id)).toBe('missing');
    expect(await snoozeItem(database, userId, item!.id, new Date(Date.now() + 60_000))).toBe(true);
    expect((await inboxCounts(database, userId)).counts).toMatchObject({ question: 0, badge: 0, snoozed: 1 });
    expect(await endSnoozes(database)).toBe(0);
    await database.sql
      .execute`UPDATE inbox_items SET snoozed_until = now() - interval '1 second' WHERE id = ${item!.id}`;
    expect(await endSnoozes(database)).toBe(1);
    expect((await inboxCounts(database, userId)).counts).toMatchObject({ question: 1, snoozed: 0 });
    const notified = await database.models.notification.findMany({ where: { sessionKey: key, cause: 'needs_you' } });
    expect(notified).toHaveLength(1);
  });

  it('closes with one call nothing that changed after the version that its person saw', async () => {
    const end = async () => {
      const { taskId } = await running();
      await inside((tx) => endTask(tx, taskId, { kind: 'failed', code: 'AGENT_ERROR', error: 'x' }));
    };
    await end();
    const { version } = await inboxCounts(database, userId);
    await end();
    await ackItems(database, userId, { kind: 'failure', upToVersion: version });
    expect((await inboxCounts(database, userId)).counts).toMatchObject({ failure: 1 });
  });

  it('returns the changes since the newest publication, and the owners without any', async () => {
    const { key, taskId } = await running();
    await ask(taskId, 'q');
    expect(await inboxNews(database, userId)).toMatchObject({
      version: 1,
      published: 0,
      changed: [{ prompt: { id: 'q' } }],
      removed: [],
    });
    expect(await unpublishedInboxes(database, 0)).toContain(userId);
    await markInboxPublished(database, userId, 1);
    expect(await unpublishedInboxes(database, 0)).not.toContain(userId);
    const [item] = await items();
    await say(key, { uuid: 'q' });
    expect(await inboxNews(database, userId)).toMatchObject({
      version: 2,
      published: 1,
      changed: [],
      removed: [item!.id],
    });
  });
});
