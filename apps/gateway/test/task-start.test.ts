import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSession, withDevice } from '@relay/database';
import { connectDaemon } from '@relay/testing';
import { type Scene, openScene } from './conversation.ts';

describe('task_start', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene()));
  afterAll(() => relay.stop());

  it('carries the first message of a new session to the daemon, and the conversation back to the app', async () => {
    const created = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'hello agent', projectPath: '/tmp' },
    });
    expect(created.status).toBe(201);
    const start = await daemon.next('task_start');
    expect(start).toEqual({
      type: 'task_start',
      task_id: created.body.taskId,
      instruction: 'hello agent',
      project_path: '/tmp',
    });
    daemon.send({ type: 'status', running_tasks: [start.task_id] });
    daemon.event(start.task_id as string, 'SESSION_STARTED', { session_id: 'native:1' });
    const named = await app.next('session_update', (frame) => frame.previousId !== undefined);
    expect(named.previousId).toBe(created.body.id);
    expect(named.session).toMatchObject({ id: `${daemon.deviceId}:scripted:native:1`, status: 'active' });
    daemon.event(start.task_id as string, 'PROGRESS', { action: 'Reading', target: 'a.ts' });
    expect(
      (await app.next('session_update', (frame) => (frame.session as { progress?: unknown }).progress !== undefined))
        .session,
    ).toMatchObject({ progress: { action: 'Reading', target: 'a.ts' } });
    daemon.event(start.task_id as string, 'TASK_COMPLETE', { result: 'done' });
    expect(
      await app.next('new_message', (frame) => (frame.message as { role: string }).role === 'AGENT'),
    ).toMatchObject({ message: { content: 'done' } });
    expect(
      await app.next('session_update', (frame) => (frame.session as { status: string }).status === 'idle'),
    ).toBeDefined();
    const read = relay.call('readSession', { params: { id: created.body.id } });
    const asked = await daemon.next('get_messages');
    daemon.send({
      type: 'messages',
      request_id: asked.request_id,
      session_id: 'native:1',
      messages: [{ uuid: 'u1', role: 'USER', content: 'hello agent', timestamp: '2026-01-01T00:00:00Z' }],
      has_more: false,
      oldest_uuid: 'u1',
      newest_uuid: 'u1',
    });
    expect((await read).body).toMatchObject({
      id: `${daemon.deviceId}:scripted:native:1`,
      messages: [{ uuid: 'u1' }],
      oldestUuid: 'u1',
    });
  });

  it('omits an unknown working directory', async () => {
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'anywhere' } });
    expect(await daemon.next('task_start')).toEqual({
      type: 'task_start',
      task_id: created.body.taskId,
      instruction: 'anywhere',
    });
  });

  it('comes in the order of acceptance for everything that waited, also when that is much', async () => {
    const away = await connectDaemon(relay);
    await away.close();
    const session = {
      ownerId: relay.issuer.userId('alice'),
      deviceId: away.deviceId,
      agentType: 'scripted',
      title: undefined,
      projectPath: '',
      ttlMs: 60_000,
    };
    const tasks = await withDevice(relay.database, away.deviceId, async (tx) => {
      const ids = [];
      for (let index = 0; index < 120; index += 1)
        ids.push((await createSession(tx, { ...session, message: `no. ${index}` })).taskId);
      return ids;
    });
    const back = await connectDaemon(relay, { registration: away.registration });
    for (let count = 0; count < 120; count += 1) await back.next('task_start');
    expect(
      back.inbox.all
        .filter((frame) => frame.type === 'task_start')
        .map((frame) => frame.task_id)
        .sort(),
    ).toEqual([...tasks].sort());
    // One claim takes a hundred; within it the order is that of acceptance.
    const position = new Map(tasks.map((id, index) => [id, index]));
    const first = back.inbox.all
      .filter((frame) => frame.type === 'task_start')
      .slice(0, 100)
      .map((frame) => position.get(frame.task_id as string)!);
    expect(first).toEqual([...first].sort((a, b) => a - b));
  });
});
