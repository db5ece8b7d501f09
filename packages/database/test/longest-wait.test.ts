/** Promise: a message counts as waiting for the relay from the moment that it waits for nothing else. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import {
  type Database,
  claimTasks,
  createSession,
  endTask,
  enqueueMessage,
  longestWait,
  resolveSession,
  withDevice,
} from '../src/index.ts';
import { onBoth } from './databases.ts';

onBoth('the longest wait', (open) => {
  let database: Database;
  const device = { id: ulid(), ownerId: 'alice', agentType: 'scripted' };
  const { id: deviceId, ownerId, agentType } = device;
  const of = { ownerId, deviceId, ttlMs: 86_400_000 };

  beforeAll(async () => {
    database = await open();
    await database.models.device.create({
      data: { ...device, name: 'd', hostname: 'h', tokenHash: ulid(), status: 'online' },
    });
  });
  afterAll(() => database.close());

  /** Makes everything that happened look an hour older. */
  const anHourLater = async () => {
    await database.sql.execute`UPDATE tasks SET created_at = created_at - interval '1 hour'`;
    // Times of sessions never go back by themselves.
    await database.sql.execute`ALTER TABLE sessions DISABLE TRIGGER relay_session_version`;
    await database.sql.execute`UPDATE sessions SET updated_at = updated_at - interval '1 hour'`;
    await database.sql.execute`ALTER TABLE sessions ENABLE TRIGGER relay_session_version`;
    await database.sql.execute`UPDATE device_connections SET connected_at = connected_at - interval '1 hour'`;
  };
  const minutes = async () => Math.round((await longestWait(database)) / 60);

  it('covers a message whose device is online and whose session is idle', async () => {
    expect(await minutes()).toBe(0);
    const { key, taskId } = await withDevice(database, deviceId, (tx) =>
      createSession(tx, { ...of, agentType, message: 'a', title: undefined, projectPath: '' }),
    );
    expect(await minutes()).toBe(0);
    await anHourLater();
    expect(await minutes()).toBe(60);

    // A turn: queued messages wait for the agent.
    await withDevice(database, deviceId, async (tx) => {
      await claimTasks(tx, deviceId, 1);
      await resolveSession(tx, deviceId, key, ulid(), true);
      await enqueueMessage(tx, { ...of, key, content: 'b', queueLimit: 5 });
    });
    await anHourLater();
    expect(await minutes()).toBe(0);

    // It waits for the relay from the completion of that turn on, not from its acceptance.
    await withDevice(database, deviceId, (tx) => endTask(tx, taskId, { kind: 'completed', result: 'done' }));
    expect(await minutes()).toBe(0);
    await anHourLater();
    expect(await minutes()).toBe(60);

    // An offline device, and a device that has just come back.
    await database.sql.execute`UPDATE devices SET status = 'offline'`;
    expect(await minutes()).toBe(0);
    await database.sql.execute`UPDATE devices SET status = 'online'`;
    await database.sql.execute`
      INSERT INTO device_connections (id, device_id, fence, instance) VALUES ('c', ${deviceId}, 1, 'gateway')`;
    expect(await minutes()).toBe(0);
    await anHourLater();
    expect(await minutes()).toBe(60);
  });
});
