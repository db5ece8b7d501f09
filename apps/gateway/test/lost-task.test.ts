import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, connectDaemon } from '@relay/testing';
import {
  type Scene,
  counted,
  end,
  idOf,
  messageIn,
  openScene,
  readSession,
  readTask,
  run,
  say,
  tick,
} from './conversation.ts';

/** Promise: events of a task that the database lost still count: their texts go to their session. */
describe('a task that the database lost while its daemon runs it', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene()));
  afterAll(() => relay.stop());

  const loseTask = (id: string) => relay.database.models.task.delete({ where: { id } });
  const loseSession = (nativeId: string) => relay.database.models.session.deleteMany({ where: { nativeId } });
  const saidIn = (nativeId: string, of: TestApp = app) =>
    of.inbox.all
      .filter((frame) => frame.type === 'new_message' && frame.sessionId === idOf(daemon, nativeId))
      .map((frame) => messageIn(frame))
      .filter(({ role }) => role !== 'USER')
      .map(({ content }) => content);

  it('R11: shows its texts, and its outcome, in the remaining session', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'left');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'the first', session_id: 'left' });
    const followUp = await say(relay, id, 'go on');
    await daemon.next('task_resume');
    await loseTask(followUp);
    daemon.event(followUp, 'AGENT_RESPONSE', { session_id: 'left', uuid: 'lost-1', content: 'half way' });
    daemon.event(followUp, 'TASK_COMPLETE', { session_id: 'left', result: 'the second' });
    daemon.event(followUp, 'TASK_COMPLETE', { session_id: 'left', result: 'the second' });
    await tick(daemon, app);
    expect(saidIn('left')).toEqual(['the first', 'half way', 'the second']);
    expect(await readTask(relay, followUp)).toMatchObject({ code: 'TASK_NOT_FOUND' });
  });

  it('R11: its events restore a session that was lost with it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'gone');
    await loseSession('gone');
    daemon.event(taskId, 'PROGRESS', { session_id: 'gone', action: 'reads', target: 'a file' });
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'gone', uuid: 'lost-2', content: 'still here' });
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'gone', result: 'done' });
    await tick(daemon, app);
    expect(saidIn('gone')).toEqual(['still here', 'done']);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it.each([
    ['TASK_COMPLETE', { result: 'done' }, 'done'],
    ['ERROR', { error: 'out of credit' }, 'out of credit'],
    ['WAIT_FOR_USER', { prompt: 'Which one?' }, 'Which one?'],
  ])('R11: after a reconnect its %s is shown, once', async (type, fields, words) => {
    const nativeId = `again-${type}`;
    const { taskId } = await run(relay, daemon, app, nativeId);
    await loseSession(nativeId);
    const { registration } = daemon;
    await daemon.close();
    daemon = await connectDaemon(relay, { registration });
    daemon.event(taskId, type, { session_id: nativeId, ...fields });
    daemon.event(taskId, type, { session_id: nativeId, ...fields });
    await tick(daemon, app);
    expect(saidIn(nativeId)).toEqual([words]);
  });

  it('R11: of a session that was deleted nothing is shown, and without a session it is ignored and counted', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'erased');
    await relay.call('deleteSession', { params: { id } });
    await loseTask(taskId);
    const ignored = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'unknown task' });
    const before = await ignored();
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'erased', uuid: 'lost-3', content: 'unheard' });
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'erased', result: 'unheard' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'unheard' });
    await tick(daemon, app);
    expect(saidIn('erased')).toEqual([]);
    expect(await readSession(relay, id)).toBeUndefined();
    expect(await ignored()).toBe(before + 2);
  });
});
