import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SentMessage } from '@relay/protocol';
import { connectDaemon } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, beginAndEnd, openScene, pathOf, report, updateOf } from '../scene.ts';

describe('POST /api/sessions/:id/messages', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'sendMessage', { body: { content: 'hi' } });

  const send = (id: string, body: Record<string, unknown>, user = 'alice') =>
    scene.relay.call('POST', pathOf(id, '/messages'), { user, body });
  const sent = async (id: string, content: string, more: Record<string, unknown> = {}) =>
    expectSuccess('sendMessage', 202, await send(id, { content, ...more })) as SentMessage;
  const resumed = (taskId: string) => scene.daemon.next('task_resume', (frame) => frame.task_id === taskId);

  it('accepts a follow-up without waiting for the agent, and the daemon gets it', async () => {
    const { id } = await beginAndEnd(scene, 'followed');
    const body = await sent(id, 'and now?');
    expect(body).toEqual({
      taskId: expect.stringMatching(/^[0-9A-Z]{26}$/),
      sessionId: id,
      state: 'queued',
      message: { uuid: expect.any(String), role: 'USER', content: 'and now?', timestamp: expect.any(String) },
    });
    expect(await resumed(body.taskId)).toEqual({
      type: 'task_resume',
      task_id: body.taskId,
      session_id: 'followed',
      message: 'and now?',
    });
    const active = await updateOf(scene.app, id, ({ status }) => status === 'active');
    expect(active.session).toMatchObject({ lastTask: { id: body.taskId }, lastMessage: 'and now?' });
  });

  it('continues a session that was started locally, in its folder', async () => {
    const id = await report(scene, 'desk', { project: '/home/alice/it' });
    const { taskId } = await sent(id, 'go on');
    expect(await resumed(taskId)).toMatchObject({ session_id: 'desk', project_path: '/home/alice/it' });
  });

  it('accepts every id the session ever had, and returns its present one', async () => {
    const begun = await beginAndEnd(scene, 'a/b:c d');
    for (const id of [begun.placeholder, begun.id]) {
      const { sessionId, taskId } = await sent(id, `to ${id}`);
      expect(sessionId).toBe(begun.id);
      expect(await resumed(taskId)).toMatchObject({ session_id: 'a/b:c d' });
      scene.daemon.event(taskId, 'TASK_COMPLETE', { result: `done ${id}` });
      await updateOf(scene.app, begun.id, ({ lastTask }) => lastTask?.id === taskId && lastTask.state === 'completed');
    }
  });

  it('queues behind the running task, in order', async () => {
    const begun = await begin(scene, 'busy');
    const first = await sent(begun.id, 'first');
    const second = await sent(begun.id, 'second');
    expect(scene.daemon.inbox.count('task_resume', ({ session_id }) => session_id === 'busy')).toBe(0);
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'ready' });
    expect(await resumed(first.taskId)).toMatchObject({ message: 'first' });
    scene.daemon.event(first.taskId, 'ERROR', { error: 'no' });
    expect(await resumed(second.taskId)).toMatchObject({ message: 'second' });
    expect(
      scene.daemon.inbox.all.filter(({ session_id, type }) => type === 'task_resume' && session_id === 'busy'),
    ).toHaveLength(2);
  });

  it('queues behind a first task without a session name', async () => {
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: scene.daemon.deviceId, message: 'hello' },
    });
    await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    const { taskId, sessionId } = await sent(body.id, 'at once');
    expect(sessionId).toBe(body.id);
    scene.daemon.event(body.taskId, 'TASK_COMPLETE', { session_id: 'named late', result: 'ok' });
    expect(await resumed(taskId)).toMatchObject({ session_id: 'named late', message: 'at once' });
  });

  it('answers a prompt only with a later message', async () => {
    const begun = await begin(scene, 'asking');
    const before = await sent(begun.id, 'yes, before it asked');
    scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Delete everything?' });
    await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
    const after = await sent(begun.id, 'no');
    expect(await resumed(after.taskId)).toMatchObject({ message: 'no' });
    expect(scene.daemon.inbox.count('task_resume', ({ task_id }) => task_id === before.taskId)).toBe(0);
    scene.daemon.event(after.taskId, 'TASK_COMPLETE', { result: 'left alone' });
    expect(await resumed(before.taskId)).toMatchObject({ message: 'yes, before it asked' });
  });

  it('refuses the twenty-first queued message', async () => {
    const begun = await begin(scene, 'crowded');
    for (let n = 0; n < 20; n += 1) await sent(begun.id, `number ${n}`);
    expectRefusal(await send(begun.id, { content: 'one too many' }), 'QUEUE_FULL', '20');
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'next' });
    // The daemon has the first of them: nineteen are queued.
    await scene.daemon.next('task_resume', (frame) => frame.message === 'number 0');
    expect((await send(begun.id, { content: 'there is room again' })).status).toBe(202);
  });

  it('fails for a device that is away if it must not wait', async () => {
    const daemon = await connectDaemon(scene.relay);
    const id = await report({ ...scene, daemon }, 'away');
    await daemon.close();
    expectRefusal(await send(id, { content: 'now or never', queueTtlSeconds: 0 }), 'DEVICE_OFFLINE');
    const { taskId } = await sent(id, 'whenever');
    expect((await scene.relay.call('readTask', { params: { id: taskId } })).body).toMatchObject({
      state: 'queued',
      kind: 'resume',
    });
  });

  it('fails when the first task completed without a session name', async () => {
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: scene.daemon.deviceId, message: 'hello' },
    });
    await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    const waiting = await sent(body.id, 'waits');
    scene.daemon.event(body.taskId, 'ERROR', { error: 'cannot start' });
    await updateOf(scene.app, body.id, ({ status }) => status === 'failed');
    expectRefusal(await send(body.id, { content: 'hello?' }), 'SESSION_NOT_RESOLVED');
    expect((await scene.relay.call('readTask', { params: { id: waiting.taskId } })).body).toMatchObject({
      state: 'cancelled',
      error: { code: 'SESSION_NOT_RESOLVED' },
    });
  });

  it('reaches all sockets of the user: the message, then the session', async () => {
    const { id } = await beginAndEnd(scene, 'heard');
    const { message } = await sent(id, 'everybody listen');
    expect(
      await scene.app.next(
        'new_message',
        (frame) => frame.sessionId === id && (frame.message as { content: string }).content === 'everybody listen',
      ),
    ).toEqual({ type: 'new_message', sessionId: id, message });
    await updateOf(scene.app, id, ({ lastMessage }) => lastMessage === 'everybody listen');
  });

  it('repeats an equal text that is sent twice', async () => {
    const begun = await begin(scene, 'twice');
    const bodies = [await sent(begun.id, 'again'), await sent(begun.id, 'again')];
    for (const { message } of bodies)
      await scene.app.next('new_message', (frame) => (frame.message as { uuid: string }).uuid === message.uuid);
    expect(bodies[0]!.taskId).not.toBe(bodies[1]!.taskId);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no content', {}, 'content'],
    ['empty content', { content: '' }, 'content'],
    ['blank content', { content: '\n ' }, 'content'],
    ['content that is not text', { content: ['a'] }, 'content'],
    ['an invalid time', { content: 'x', queueTtlSeconds: 'soon' }, 'queueTtlSeconds'],
    ['a negative time', { content: 'x', queueTtlSeconds: -1 }, 'queueTtlSeconds'],
    ['a time over a day', { content: 'x', queueTtlSeconds: 86_401 }, 'queueTtlSeconds'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    expectRefusal(await send('x:scripted:y', body), 'INVALID_REQUEST', field);
  });

  it('refuses more than 256 KiB', async () => {
    expectRefusal(await send('x:scripted:y', { content: 'x'.repeat(256 * 1024 + 1) }), 'PAYLOAD_TOO_LARGE', 'content');
  });

  it('returns 404 for a session that never existed, was deleted, or belongs to another user', async () => {
    const id = await report(scene, 'gone');
    expectRefusal(await send(id, { content: 'hi' }, 'mallory'), 'SESSION_NOT_FOUND');
    await scene.relay.call('deleteSession', { params: { id } });
    expectRefusal(await send(id, { content: 'hi' }), 'SESSION_NOT_FOUND');
    expectRefusal(await send('x:scripted:y', { content: 'hi' }), 'SESSION_NOT_FOUND');
  });
});
