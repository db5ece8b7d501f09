import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, end, messageIn, readSession, readTask, run, say, tick } from './conversation.ts';

describe('event WAIT_FOR_USER', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const said = async (id: string) =>
    messageIn(await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).role === 'AGENT'));

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('is a message with the full text, then the session, waiting, with the question', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'asks');
    const session = await end(daemon, app, taskId, 'WAIT_FOR_USER', {
      prompt: 'May I delete it?',
      result: 'I found a file. May I delete it?',
      options: [{ label: 'Yes', extra: 1 }, { label: 'No' }],
      permission_tool: 'rm',
    });
    expect(await said(id)).toMatchObject({ content: 'I found a file. May I delete it?' });
    expect(session).toMatchObject({
      id,
      status: 'waiting',
      lastMessage: 'I found a file. May I delete it?',
      prompt: {
        prompt: 'May I delete it?',
        result: 'I found a file. May I delete it?',
        options: [{ label: 'Yes' }, { label: 'No' }],
        at: expect.any(String),
      },
      lastTask: { id: taskId, state: 'waiting' },
    });
    expect(app.inbox.all.slice(-2).map((frame) => frame.type)).toEqual(['new_message', 'session_update']);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'waiting', finishedAt: expect.any(String) });
  });

  it('can lack result and options: then the question is the message', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'short');
    expect(await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Which one?' })).toMatchObject({
      prompt: { prompt: 'Which one?', result: '', options: [] },
    });
    expect(await said(id)).toMatchObject({ content: 'Which one?' });
  });

  it("F4: shows the question's context: to apps, in the message, and by REST", async () => {
    const { taskId, id } = await run(relay, daemon, app, 'about');
    const [prompt, context] = ['Permission required for: Bash', 'rm -rf ./build'];
    const shown = { prompt, context, result: `${prompt}\n\n${context}`, options: [] };
    expect(await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt, context })).toMatchObject({
      prompt: shown,
      lastMessage: shown.result,
    });
    expect(await said(id)).toMatchObject({ content: shown.result });
    expect(await readSession(relay, id)).toMatchObject({ prompt: shown });
    // A full text that has it already stays as it is.
    const second = await run(relay, daemon, app, 'about-in-full');
    const result = `May I run \`${context}\`?`;
    await end(daemon, app, second.taskId, 'WAIT_FOR_USER', { prompt, context, result });
    expect(await said(second.id)).toMatchObject({ content: result });
  });

  it('is answered by a new task, which removes the question', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'answered');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Yes?' });
    const answer = await say(relay, id, 'Yes');
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: answer, session_id: 'answered', message: 'Yes' });
    await tick(daemon, app);
    const session = await readSession(relay, id);
    expect(session).toMatchObject({ status: 'active', lastTask: { id: answer, state: 'sent' } });
    expect(session).not.toHaveProperty('prompt');
    expect(answer).not.toBe(taskId);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'waiting' });
  });

  it('waits on, even if status and reports omit it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'patient');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Still there?' });
    daemon.send({ type: 'status', running_tasks: [] });
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'patient', is_active: false }] });
    daemon.send({ type: 'session_activity', session_id: 'patient', last_message: 'Still there?', is_completion: true });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'waiting', prompt: { prompt: 'Still there?' } });
  });

  it('of a task that was cancelled is shown, and asks nothing', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled');
    await relay.call('cancelSession', { params: { id } });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Too late?' });
    expect(await said(id)).toMatchObject({ content: 'Too late?' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it('keeps a question of any size and spelling within bounds', async () => {
    const { taskId } = await run(relay, daemon, app, 'hostile');
    const { prompt } = await end(daemon, app, taskId, 'WAIT_FOR_USER', {
      prompt: 'p'.repeat(300_000),
      result: 'half a \ud83d pair and \u0000 nothing',
      options: Array.from({ length: 150 }, () => ({ label: 'l'.repeat(5000) })),
    });
    expect(prompt!.prompt).toHaveLength(256 * 1024);
    expect(prompt!.result).toBe('half a \ufffd pair and  nothing');
    expect(prompt!.options).toHaveLength(100);
    expect(prompt!.options[0]!.label).toHaveLength(4096);
  });

  it('with wrong fields is dropped and counted', async () => {
    const { taskId } = await run(relay, daemon, app, 'wrong');
    const before = await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' });
    daemon.event(taskId, 'WAIT_FOR_USER', { result: 'no prompt' });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'p', options: ['Yes'] });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'p', options: { label: 'Yes' } });
    await tick(daemon, app);
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' })).toBe(before + 3);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
  });
});
