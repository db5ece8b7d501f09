/** The number of statements per task, on the path of every message (see docs/internals.md, "The cost of each frame"). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import {
  type Database,
  claimTasks,
  createSession,
  endTask,
  enqueueMessage,
  resolveSession,
  startRunning,
  withDevice,
} from '../src/index.ts';
import { onBoth } from './databases.ts';

onBoth('the statements of a task', (open) => {
  let database: Database;
  let kinds: string[] = [];

  beforeAll(async () => {
    database = await open({
      onStatement: (kind) => void (kind === 'query' || kind === 'execute' ? kinds.push(kind) : 0),
    });
  });
  afterAll(() => database.close());

  it('are one to accept it and read its session, one to claim it, one to confirm it and two to complete it', async () => {
    const device = { id: ulid(), ownerId: 'alice', agentType: 'scripted' };
    await database.models.device.create({ data: { ...device, name: 'd', hostname: 'h', tokenHash: ulid() } });
    const { id: deviceId, ownerId, agentType } = device;
    await withDevice(database, deviceId, async (tx) => {
      const cost = async <T>(work: () => Promise<T>) => {
        kinds = [];
        return { made: await work(), statements: kinds.length };
      };
      const of = { ownerId, deviceId, ttlMs: 60_000 };
      const { key, taskId } = await createSession(tx, {
        ...of,
        agentType,
        message: 'a',
        title: undefined,
        projectPath: '',
      });
      await claimTasks(tx, deviceId, 1);
      await resolveSession(tx, deviceId, key, ulid(), true);
      await endTask(tx, taskId, { kind: 'completed', result: 'done' });

      const accepted = await cost(() => enqueueMessage(tx, { ...of, key, content: 'b', queueLimit: 5 }));
      const claimed = await cost(() => claimTasks(tx, deviceId, 1));
      const [task] = claimed.made;
      const confirmed = await cost(() => startRunning(tx, task!.id));
      const ended = await cost(() => endTask(tx, task!.id, { kind: 'completed', result: 'done again' }));
      expect([accepted, claimed, confirmed, ended].map(({ statements }) => statements)).toEqual([1, 1, 1, 2]);
      expect(ended.made).toBe('ended');
    });
  });
});
