import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Scene, begin, end, messageIn, openScene, readSession, readTask, run, say, tick } from './conversation.ts';

describe('event ERROR', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene()));
  afterAll(() => relay.stop());

  it('is a message of the system, then the session, failed', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'failed');
    const session = await end(daemon, app, taskId, 'ERROR', { error: 'no credit' });
    const said = await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).role !== 'USER');
    expect(messageIn(said)).toMatchObject({ role: 'SYSTEM', content: 'no credit' });
    expect(session).toMatchObject({
      status: 'failed',
      lastMessage: 'begin failed',
      lastTask: { id: taskId, state: 'failed', code: 'AGENT_ERROR' },
    });
    expect(app.inbox.all.slice(-2).map((frame) => frame.type)).toEqual(['new_message', 'session_update']);
    expect(await readTask(relay, taskId)).toMatchObject({
      state: 'failed',
      error: { code: 'AGENT_ERROR', error: 'no credit' },
    });
  });

  it('precedes the next queued message', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'goes-on');
    const next = await say(relay, id, 'try again');
    daemon.event(taskId, 'ERROR', { error: 'once' });
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: next, session_id: 'goes-on' });
  });

  it('before the session has a name leaves it failed, with nowhere to go', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const waiting = await say(relay, pendingId, 'and then?');
    daemon.event(taskId, 'ERROR', { error: 'no such agent' });
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'failed' });
    expect(await readSession(relay, pendingId)).toMatchObject({ status: 'failed' });
    expect(await readTask(relay, waiting)).toMatchObject({
      state: 'cancelled',
      error: { code: 'SESSION_NOT_RESOLVED' },
    });
    expect(await relay.call('sendMessage', { params: { id: pendingId }, body: { content: 'hello?' } })).toMatchObject({
      status: 409,
      body: { code: 'SESSION_NOT_RESOLVED' },
    });
  });

  it('after a cancel is shown and changes nothing', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled');
    await relay.call('cancelSession', { params: { id } });
    daemon.event(taskId, 'ERROR', { error: 'interrupted' });
    await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).content === 'interrupted');
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { state: 'cancelled' } });
  });

  it('K9: without a text fails the task all the same', async () => {
    for (const [n, fields] of [{}, { error: null }].entries()) {
      const { taskId } = await run(relay, daemon, app, `wordless-${n}`);
      expect(await end(daemon, app, taskId, 'ERROR', fields)).toMatchObject({ status: 'failed' });
      expect(await readTask(relay, taskId)).toMatchObject({ state: 'failed', error: { code: 'AGENT_ERROR' } });
    }
  });
});
