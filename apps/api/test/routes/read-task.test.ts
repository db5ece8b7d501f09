import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Task } from '@relay/protocol';
import { connectDaemon, registerDevice } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, updateOf } from '../scene.ts';

describe('GET /api/tasks/:id', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'readTask');

  const read = (id: string, user = 'alice') => scene.relay.call('readTask', { params: { id }, user });
  const taskOf = async (id: string) => expectSuccess('readTask', 200, await read(id)) as Task;
  const create = async (body: Record<string, unknown>) =>
    (await scene.relay.call('POST', '/api/sessions', { body: { message: 'hello', ...body } })).body as {
      id: string;
      taskId: string;
    };

  it('follows a first task from the queue to its completion', async () => {
    const registration = await registerDevice(scene.relay);
    const { id, taskId } = await create({ deviceId: registration.deviceId });
    const queued = await taskOf(taskId);
    expect(queued).toEqual({
      id: taskId,
      sessionId: id,
      kind: 'start',
      state: 'queued',
      createdAt: expect.any(String),
    });
    const daemon = await connectDaemon(scene.relay, { registration });
    await daemon.next('task_start');
    const sent = await taskOf(taskId);
    expect(sent).toEqual({ ...queued, state: 'sent', sentAt: expect.any(String) });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'followed' });
    const named = `${registration.deviceId}:scripted:followed`;
    await updateOf(scene.app, named);
    expect(await taskOf(taskId)).toEqual({ ...sent, sessionId: named, state: 'running' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'it is done' });
    await updateOf(scene.app, named, ({ status }) => status === 'idle');
    const done = await taskOf(taskId);
    expect(done).toEqual({
      ...sent,
      sessionId: named,
      state: 'completed',
      finishedAt: expect.any(String),
      result: 'it is done',
    });
    const times = [done.createdAt, done.sentAt!, done.finishedAt!];
    expect(times).toEqual([...times].sort());
  });

  it('returns the error of a failed task, and its instruction', async () => {
    const begun = await begin(scene, 'failing');
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: '' });
    const { body } = await scene.relay.call('sendMessage', { params: { id: begun.id }, body: { content: 'more' } });
    // The relay ignores the outcome of a task that it has not delivered yet.
    await scene.daemon.next('task_resume', (frame) => frame.task_id === body.taskId);
    scene.daemon.event(body.taskId, 'ERROR', { error: 'out of memory' });
    await updateOf(scene.app, begun.id, ({ status }) => status === 'failed');
    expect(await taskOf(body.taskId)).toMatchObject({
      kind: 'resume',
      state: 'failed',
      error: { code: 'AGENT_ERROR', error: 'out of memory' },
    });
    expect(await taskOf(begun.taskId)).toMatchObject({ state: 'completed', result: '' });
  });

  it('returns the text of a prompt as the result of a waiting task', async () => {
    const begun = await begin(scene, 'waiting');
    scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Sure?', result: 'I would delete it.' });
    await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
    expect(await taskOf(begun.taskId)).toMatchObject({
      state: 'waiting',
      result: 'I would delete it.',
      finishedAt: expect.any(String),
    });
  });

  it('counts a task as expired from the moment its time is up, before any sweep', async () => {
    const { deviceId } = await registerDevice(scene.relay);
    const { id, taskId } = await create({ deviceId, queueTtlSeconds: 1 });
    const { createdAt } = await taskOf(taskId);
    await updateOf(scene.app, id, ({ status }) => status === 'failed');
    const task = await taskOf(taskId);
    expect(task).toMatchObject({ state: 'expired', error: { code: 'TASK_EXPIRED' } });
    expect(Date.parse(task.finishedAt!) - Date.parse(createdAt)).toBe(1000);
  });

  it('returns 404 for a task that never existed or belongs to another user', async () => {
    const { taskId } = await begin(scene, 'mine');
    expectRefusal(await read(taskId, 'mallory'), 'TASK_NOT_FOUND');
    for (const id of ['never', 'a/b:c', "'; --", 'x'.repeat(600)]) expectRefusal(await read(id), 'TASK_NOT_FOUND');
  });
});
