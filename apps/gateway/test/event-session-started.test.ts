import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import { type Scene, begin, counted, idOf, openScene, readTask, run, say, sessionIn, tick } from './conversation.ts';

describe('event SESSION_STARTED', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene()));
  afterAll(() => relay.stop());

  it('names the session, confirms the task, and sends apps the previous id', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native:with/colons' });
    const update = await app.next('session_update', (frame) => frame.previousId !== undefined);
    expect(update).toEqual({
      type: 'session_update',
      previousId: pendingId,
      session: expect.objectContaining({
        id: idOf(daemon, 'native:with/colons'),
        status: 'active',
        lastTask: { id: taskId, state: 'running' },
      }),
    });
    expect(await readTask(relay, taskId)).toMatchObject({
      state: 'running',
      sessionId: idOf(daemon, 'native:with/colons'),
    });
  });

  it('is ignored when repeated', async () => {
    const { taskId } = await run(relay, daemon, app, 'again');
    const before = app.inbox.count('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'again'));
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'again' });
    await tick(daemon, app);
    expect(app.inbox.count('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'again'))).toBe(before);
  });

  it('releases follow-ups accepted before the session had a name, once its task has completed', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const followUp = await say(relay, pendingId, 'and then?');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'follow' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    expect(await daemon.next('task_resume')).toEqual({
      type: 'task_resume',
      task_id: followUp,
      session_id: 'follow',
      message: 'and then?',
    });
  });

  it('for a foreign or unknown task is ignored and counted', async () => {
    const other = await connectDaemon(relay);
    const { taskId } = await begin(relay, other);
    const ignored = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'unknown task' });
    const before = await ignored();
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'stolen' });
    daemon.event('nobody', 'SESSION_STARTED', { session_id: 'stolen' });
    await tick(daemon, app);
    expect(await ignored()).toBe(before + 2);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'sent' });
  });

  it('with an id that no session can have names nothing', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const { pendingId: another } = await begin(relay, daemon);
    const invalid = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' });
    const before = await invalid();
    daemon.event(taskId, 'SESSION_STARTED');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: '' });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'x'.repeat(513) });
    // The placeholders are ours: neither its own nor that of another session.
    daemon.event(taskId, 'SESSION_STARTED', { session_id: pendingId.split(':')[2] });
    daemon.event(taskId, 'OUTPUT', { output: '', session_id: another.split(':')[2] });
    daemon.event(taskId, 'OUTPUT', { output: '', session_id: 'x'.repeat(513) });
    await tick(daemon, app);
    expect(await invalid()).toBe(before + 3);
    expect((await readTask(relay, taskId)).sessionId).toBe(pendingId);
    expect((await relay.call('readSession', { params: { id: another } })).body.id).toBe(another);
  });
});
