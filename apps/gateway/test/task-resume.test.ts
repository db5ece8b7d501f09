import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Scene, end, idOf, idleSession, openScene, readTask, run, say, sessionIn } from './conversation.ts';

describe('task_resume', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene()));
  afterAll(() => relay.stop());

  it('carries a follow-up to the native session, as a task of its own', async () => {
    const id = await idleSession(relay, daemon, app, 'native:1');
    const sent = await relay.call('sendMessage', { params: { id }, body: { content: 'and now?' } });
    expect(sent.body).toMatchObject({ sessionId: id, state: 'queued', message: { role: 'USER', content: 'and now?' } });
    expect(await daemon.next('task_resume')).toEqual({
      type: 'task_resume',
      task_id: sent.body.taskId,
      session_id: 'native:1',
      message: 'and now?',
    });
    expect(await readTask(relay, sent.body.taskId)).toMatchObject({ kind: 'resume', state: 'sent', sessionId: id });
    expect(await end(daemon, app, sent.body.taskId)).toMatchObject({ status: 'idle' });
  });

  it('carries the working directory where there is one', async () => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'desk', project: '/home/alice/work' }] });
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'desk'));
    const taskId = await say(relay, idOf(daemon, 'desk'), 'from afar');
    expect(await daemon.next('task_resume')).toEqual({
      type: 'task_resume',
      task_id: taskId,
      session_id: 'desk',
      message: 'from afar',
      project_path: '/home/alice/work',
    });
  });

  it("names the session by the daemon's current id, for any id of the request", async () => {
    const { taskId, pendingId } = await run(relay, daemon, app, 'first-name');
    await end(daemon, app, taskId);
    const second = await say(relay, pendingId, 'hello again');
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: second, session_id: 'first-name' });
    daemon.event(second, 'SESSION_STARTED', { session_id: 'second-name' });
    await end(daemon, app, second);
    const third = await say(relay, idOf(daemon, 'first-name'), 'and again');
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: third, session_id: 'second-name' });
  });

  it('carries text as it is', async () => {
    const id = await idleSession(relay, daemon, app, 'text');
    const content = 'é\n\t"quoted" \\ 語 🦀 '.repeat(1000);
    await say(relay, id, content);
    expect(await daemon.next('task_resume')).toMatchObject({ message: content });
  });

  it('shows apps that the message is with the daemon', async () => {
    const id = await idleSession(relay, daemon, app, 'told');
    const taskId = await say(relay, id, 'go on');
    const update = await app.next(
      'session_update',
      (frame) => sessionIn(frame).lastTask?.id === taskId && sessionIn(frame).lastTask?.state === 'sent',
    );
    expect(update.session).toMatchObject({ status: 'active', lastMessage: 'go on' });
  });
});
