import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon, registerDevice } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Begun, type Scene, begin, beginAndEnd, messageOf, openScene, report, updateOf } from '../scene.ts';

describe('POST /api/sessions/:id/cancel', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ config: { statusWaitMs: 100, daemonReplyTimeoutMs: 200, outcomeAskMs: 1 } });
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'cancelSession');

  const cancel = (id: string, user = 'alice') => scene.relay.call('cancelSession', { params: { id }, user });
  const cancelled = async (id: string) => expectSuccess('cancelSession', 202, await cancel(id)) as { taskId: string };
  const stateOf = async (taskId: string) =>
    (await scene.relay.call('readTask', { params: { id: taskId } })).body.state as string;
  const send = async (id: string, content: string) =>
    (await scene.relay.call('sendMessage', { params: { id }, body: { content } })).body.taskId;
  const create = async (deviceId: string, message = 'hello') =>
    (await scene.relay.call('createSession', { body: { deviceId, message } })).body as {
      id: string;
      taskId: string;
    };

  it('cancels a running task immediately and notifies the daemon; the session is idle', async () => {
    const begun = await begin(scene, 'running');
    expect(await cancelled(begun.id)).toEqual({ taskId: begun.taskId, state: 'cancelled' });
    await scene.daemon.next('task_cancel', (frame) => frame.task_id === begun.taskId);
    const update = await updateOf(scene.app, begun.id, ({ status }) => status === 'idle');
    expect(update.session).toMatchObject({ lastTask: { id: begun.taskId, state: 'cancelled' } });
    expect(await stateOf(begun.taskId)).toBe('cancelled');
  });

  it('cancels a task that was sent and not confirmed', async () => {
    const { id, taskId } = await create(scene.daemon.deviceId);
    await scene.daemon.next('task_start', (frame) => frame.task_id === taskId);
    expect(await cancelled(id)).toEqual({ taskId, state: 'cancelled' });
    // The cancel of an earlier task can arrive twice.
    await scene.daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    await updateOf(scene.app, id, ({ status }) => status === 'idle');
  });

  it('cancels a task that waits for its device, and never sends it to the device', async () => {
    const registration = await registerDevice(scene.relay);
    const { id, taskId } = await create(registration.deviceId, 'never mind');
    expect(await cancelled(id)).toEqual({ taskId, state: 'cancelled' });
    const daemon = await connectDaemon(scene.relay, { registration });
    const next = await create(registration.deviceId, 'this one');
    expect(await daemon.next('task_start')).toMatchObject({ task_id: next.taskId });
    expect(daemon.inbox.count('task_cancel')).toBe(0);
  });

  it('cancels the running task before queued ones, and then the oldest queued one', async () => {
    const begun = await begin(scene, 'ordered');
    const first = await send(begun.id, 'first');
    const second = await send(begun.id, 'second');
    expect((await cancelled(begun.id)).taskId).toBe(begun.taskId);
    // The queue continues after a cancel.
    await scene.daemon.next('task_resume', (frame) => frame.task_id === first);
    const third = await send(begun.id, 'third');
    expect((await cancelled(begun.id)).taskId).toBe(first);
    await scene.daemon.next('task_resume', (frame) => frame.task_id === second);
    expect((await cancelled(begun.id)).taskId).toBe(second);
    await scene.daemon.next('task_resume', (frame) => frame.task_id === third);
  });

  it('cancels the follow-ups of a first task that is cancelled before the daemon named the session', async () => {
    const { id, taskId } = await create(scene.daemon.deviceId);
    const behind = await send(id, 'behind it');
    expect((await cancelled(id)).taskId).toBe(taskId);
    expect((await scene.relay.call('readTask', { params: { id: behind } })).body).toMatchObject({
      state: 'cancelled',
      error: { code: 'SESSION_NOT_RESOLVED' },
    });
  });

  it('is final: apps get later output of the daemon, and the task stays cancelled', async () => {
    const begun = await begin(scene, 'late');
    await cancelled(begun.id);
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'finished all the same' });
    const said = await scene.app.next('new_message', (frame) => messageOf(frame).content === 'finished all the same');
    expect(said.sessionId).toBe(begun.id);
    expect(await stateOf(begun.taskId)).toBe('cancelled');
  });

  describe('K14: while the agent waits for an answer', () => {
    const waiting = async (native: string) => {
      const begun = await begin(scene, native);
      scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Well?' });
      await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
      return begun;
    };

    it('dismisses the question, sends the daemon the task that asked, and the queue continues', async () => {
      const begun = await begin(scene, 'dismissed');
      const behind = await send(begun.id, 'behind the question');
      scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Well?' });
      await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
      expect(await cancelled(begun.id)).toEqual({ taskId: begun.taskId, state: 'cancelled' });
      const { session } = await updateOf(scene.app, begun.id, ({ status }) => status !== 'waiting');
      expect(session).not.toHaveProperty('prompt');
      await scene.daemon.next('task_cancel', (frame) => frame.task_id === begun.taskId);
      await scene.daemon.next('task_resume', (frame) => frame.task_id === behind);
      expect(await stateOf(begun.taskId)).toBe('cancelled');
    });

    it('leaves the session idle without a prompt, and a late completion revives nothing', async () => {
      const begun = await waiting('left idle');
      await cancelled(begun.id);
      const { session } = await updateOf(scene.app, begun.id, ({ status }) => status === 'idle');
      expect(session).toMatchObject({ lastTask: { id: begun.taskId, state: 'cancelled' } });
      expect(session).not.toHaveProperty('prompt');
      expectRefusal(await cancel(begun.id), 'NO_RUNNING_TASK');
      scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'did it without an answer' });
      await scene.app.next('new_message', (frame) => messageOf(frame).content === 'did it without an answer');
      expect(await stateOf(begun.taskId)).toBe('cancelled');
    });

    it('withdraws a pending answer before the question', async () => {
      const registration = await registerDevice(scene.relay);
      const daemon = await connectDaemon(scene.relay, { registration });
      const begun = await begin({ ...scene, daemon }, 'answered');
      daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Well?' });
      await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
      await daemon.close();
      const answer = await send(begun.id, 'yes');
      expect((await cancelled(begun.id)).taskId).toBe(answer);
      expect((await scene.relay.call('readSession', { params: { id: begun.id } })).body).toMatchObject({
        status: 'waiting',
        prompt: { prompt: 'Well?' },
      });
      expect((await cancelled(begun.id)).taskId).toBe(begun.taskId);
      expect((await scene.relay.call('readSession', { params: { id: begun.id } })).body).toMatchObject({
        status: 'idle',
      });
    });
  });

  describe('is 409 without a running or queued task:', () => {
    const nothing = async (id: string) => expectRefusal(await cancel(id), 'NO_RUNNING_TASK');

    it('the task is completed', async () => nothing((await beginAndEnd(scene, 'done')).id));

    it('it was cancelled before', async () => {
      const { id } = await begin(scene, 'again');
      await cancelled(id);
      await nothing(id);
    });

    it('the session only ever ran locally', async () => nothing(await report(scene, 'desk', { is_active: true })));

    it('the task failed', async () => {
      const begun = await begin(scene, 'failed');
      scene.daemon.event(begun.taskId, 'ERROR', { error: 'no' });
      await updateOf(scene.app, begun.id, ({ status }) => status === 'failed');
      await nothing(begun.id);
    });

    it('the task expired', async () => {
      const { deviceId } = await registerDevice(scene.relay);
      const { body } = await scene.relay.call('createSession', {
        body: { deviceId, message: 'x', queueTtlSeconds: 1 },
      });
      await updateOf(scene.app, body.id, ({ status }) => status === 'failed');
      await nothing(body.id);
    });
  });

  it('releases a queue that an unknown delivery stopped', async () => {
    const registration = await registerDevice(scene.relay);
    const daemon = await connectDaemon(scene.relay, { registration });
    const begun: Begun = await beginAndEnd({ ...scene, daemon }, 'unknown');
    const lost = await send(begun.id, 'did it arrive?');
    await daemon.next('task_resume');
    await send(begun.id, 'dropped');
    const kept = await send(begun.id, 'kept');
    await daemon.drop();
    const again = await connectDaemon(scene.relay, { registration });
    await updateOf(scene.app, begun.id, ({ status }) => status === 'failed');
    expect((await scene.relay.call('readTask', { params: { id: lost } })).body).toMatchObject({
      state: 'unknown',
      error: { code: 'DELIVERY_UNKNOWN' },
    });
    const { body } = await scene.relay.call('readSession', { params: { id: begun.id } });
    expect(body).toMatchObject({ lastTask: { id: lost, state: 'unknown', code: 'DELIVERY_UNKNOWN' } });
    expect(again.inbox.count('task_resume')).toBe(0);
    await cancelled(begun.id);
    expect(await again.next('task_resume')).toMatchObject({ task_id: kept, message: 'kept' });
  });

  it('accepts the placeholder for the session', async () => {
    const begun = await begin(scene, 'a/b:c');
    expect((await cancelled(begun.placeholder)).taskId).toBe(begun.taskId);
  });

  it('returns 404 for a session that never existed or belongs to another user', async () => {
    const { id, taskId } = await begin(scene, 'mine');
    expectRefusal(await cancel(id, 'mallory'), 'SESSION_NOT_FOUND');
    expectRefusal(await cancel('x:scripted:y'), 'SESSION_NOT_FOUND');
    expect(await stateOf(taskId)).toBe('running');
  });
});
