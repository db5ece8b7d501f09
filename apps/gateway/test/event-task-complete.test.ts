import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, counted, end, messageIn, readSession, readTask, run, say, sessionIn, tick } from './conversation.ts';

describe('event TASK_COMPLETE', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const saidIn = (id: string) =>
    app.inbox.all
      .filter((frame) => frame.type === 'new_message' && frame.sessionId === id)
      .map((frame) => messageIn(frame))
      .filter(({ role }) => role !== 'USER');

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('is a message of the agent, then the session, idle', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'done');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'all **done**' });
    const said = await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).role === 'AGENT');
    expect(messageIn(said)).toEqual({
      uuid: expect.any(String),
      role: 'AGENT',
      content: 'all **done**',
      timestamp: expect.stringMatching(/Z$/),
    });
    const update = await app.next('session_update', (frame) => sessionIn(frame).status === 'idle');
    expect(update.session).toMatchObject({
      id,
      lastMessage: 'all **done**',
      messageCount: 2,
      lastTask: { id: taskId, state: 'completed' },
    });
    const order = app.inbox.all.slice(-2).map((frame) => frame.type);
    expect(order).toEqual(['new_message', 'session_update']);
  });

  it('keeps the result with the task', async () => {
    const { taskId } = await run(relay, daemon, app, 'kept');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'kept' });
    const task = await readTask(relay, taskId);
    expect(task).toMatchObject({ state: 'completed', result: 'kept', kind: 'start' });
    expect(Date.parse(task.finishedAt!)).toBeGreaterThanOrEqual(Date.parse(task.sentAt!));
    expect(task).not.toHaveProperty('error');
  });

  it('completes a task that was never confirmed', async () => {
    const { taskId } = await begin(relay, daemon);
    await end(daemon, app, taskId);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'completed' });
  });

  it('can be empty: then it adds no message', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'silent');
    expect(await end(daemon, app, taskId, 'TASK_COMPLETE', { result: '' })).toMatchObject({
      status: 'idle',
      lastMessage: 'begin silent',
      messageCount: 1,
    });
    expect(saidIn(id)).toEqual([]);
  });

  it('counts once when repeated', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'twice');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'first' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'first' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'in other words' });
    daemon.event(taskId, 'ERROR', { error: 'and failed' });
    await tick(daemon, app);
    expect(saidIn(id).map(({ content }) => content)).toEqual(['first']);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'completed', result: 'first' });
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', messageCount: 2 });
  });

  it('of a task that was cancelled is shown, and revives nothing', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled');
    await relay.call('cancelSession', { params: { id } });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'too late' });
    await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).content === 'too late');
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled' });
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { state: 'cancelled' } });
    // It counts once, however often it comes.
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'too late' });
    await tick(daemon, app);
    expect(saidIn(id).map(({ content }) => content)).toEqual(['too late']);
  });

  it('of a deleted session is not shown', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'deleted');
    await relay.call('deleteSession', { params: { id } });
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'unheard' });
    await tick(daemon, app);
    expect(saidIn(id)).toEqual([]);
    expect(await readSession(relay, id)).toBeUndefined();
  });

  it('for a foreign or unknown task is ignored and counted', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'mine');
    const other = await connectDaemon(relay);
    const before = await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'unknown task' });
    other.event(taskId, 'TASK_COMPLETE', { result: 'forged' });
    other.event('nobody', 'TASK_COMPLETE', { result: 'forged' });
    await tick(other, app);
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'unknown task' })).toBe(before + 2);
    expect(await readSession(relay, id)).toMatchObject({ status: 'active' });
  });

  it('is cut at 256 KiB with a mark; the last message of the session at 2 KiB', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'long');
    const session = await end(daemon, app, taskId, 'TASK_COMPLETE', { result: '語'.repeat(200_000) });
    const [message] = saidIn(id);
    expect(Buffer.byteLength(message!.content)).toBeGreaterThan(256 * 1024 - 3);
    expect(Buffer.byteLength(message!.content)).toBeLessThanOrEqual(256 * 1024);
    expect(message).toMatchObject({ truncated: true });
    expect(Buffer.byteLength(session.lastMessage)).toBeLessThanOrEqual(2048);
    expect((await readTask(relay, taskId)).result).toBe(message!.content);
  });

  it.each([{}, { result: null }, { result: { text: 'no' } }])(
    'K9: without a text (%j) ends the task all the same',
    async (fields) => {
      const { taskId, id } = await run(relay, daemon, app, `wordless-${JSON.stringify(fields)}`);
      expect(await end(daemon, app, taskId, 'TASK_COMPLETE', fields)).toMatchObject({ id, status: 'idle' });
      expect(saidIn(id)).toEqual([]);
      expect(await readTask(relay, taskId)).toMatchObject({ state: 'completed', result: '' });
    },
  );

  it('K1: answered locally after its question, is shown and settles the session', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'at-the-desk');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Shall I?', options: [{ label: 'Yes' }] });
    const queued = await say(relay, id, 'a hint');
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: queued });
    await end(daemon, app, queued, 'WAIT_FOR_USER', { prompt: 'Which?' });
    // The same text is the same news.
    daemon.event(queued, 'TASK_COMPLETE', { result: 'Which?\n' });
    daemon.event(queued, 'TASK_COMPLETE', { result: '' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'waiting', prompt: { prompt: 'Which?' } });
    // Completes the earlier question: the newer one still waits.
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'the first is done' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'waiting', lastTask: { id: queued } });
    daemon.event(queued, 'TASK_COMPLETE', { result: 'the second is done' });
    await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'idle');
    expect(await readSession(relay, id)).not.toHaveProperty('prompt');
    expect(await readSession(relay, id)).toMatchObject({ lastMessage: 'the second is done' });
    for (const settled of [taskId, queued])
      expect(await readTask(relay, settled)).toMatchObject({ state: 'completed', note: expect.any(String) });
    expect(saidIn(id).map(({ content }) => content)).toEqual([
      'Shall I?',
      'Which?',
      'the first is done',
      'the second is done',
    ]);
  });
});
