import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { begin, counted, end, idOf, messageIn, readTask, run, tick } from './conversation.ts';

describe('WARNING, and unknown events', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const ignored = (cause: string) => counted(relay, 'relay_daemon_frames_ignored_total', { cause });

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('F7: WARNING is a SYSTEM message of the session and confirms its task', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const warning = 'project path does not exist, running in home directory';
    daemon.event(taskId, 'WARNING', { warning });
    daemon.event(taskId, 'WARNING', { warning });
    await tick(daemon, app);
    const isWarning = (frame: Frame) => frame.sessionId === pendingId && messageIn(frame).role === 'SYSTEM';
    expect(messageIn(await app.next('new_message', isWarning)).content).toBe(warning);
    expect(app.inbox.count('new_message', isWarning)).toBe(1);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
  });

  it('F7: WARNING of a locally started session, or of a finished task, is shown too', async () => {
    daemon.event('', 'WARNING', { session_id: 'warned', warning: 'nearly out of credit' });
    const { taskId, id } = await run(relay, daemon, app, 'warned-late');
    await end(daemon, app, taskId);
    daemon.event(taskId, 'WARNING', { warning: 'nearly out of credit' });
    for (const sessionId of [idOf(daemon, 'warned'), id]) {
      const said = await app.next(
        'new_message',
        (frame) => frame.sessionId === sessionId && messageIn(frame).role === 'SYSTEM',
      );
      expect(messageIn(said).content).toBe('nearly out of credit');
    }
  });

  it('frame types of other releases are ignored and counted', async () => {
    const before = await ignored('unknown');
    for (const type of ['report_skills', 'memory_response', 'session_summary', 'session_status', 'x'.repeat(5000)])
      daemon.send({ type, session_id: 'any', commands: [] });
    // Frames that only the relay sends are unknown from a daemon.
    daemon.send({ type: 'task_start', task_id: 'mine', instruction: 'run it' });
    daemon.send({ type: 'ping' });
    await tick(daemon, app);
    expect(await ignored('unknown')).toBe(before + 7);
  });

  it('event types of other releases are ignored and counted, and name no session', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const before = await ignored('unknown');
    daemon.event(taskId, 'THINKING', { session_id: 'unnamed', thought: 'hm' });
    daemon.event(taskId, 'task_complete', { result: 'lower case' });
    await tick(daemon, app);
    expect(await ignored('unknown')).toBe(before + 2);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'sent', sessionId: pendingId });
  });

  it('fields of other releases are ignored', async () => {
    const { taskId } = await run(relay, daemon, app, 'fields');
    daemon.event(taskId, 'PROGRESS', {
      action: 'a',
      target: 't',
      tool: 'bash',
      arg_summary: 'ls',
      context: { used: 1 },
    });
    daemon.send({ type: 'status', running_tasks: [taskId], load: 0.5 });
    expect(await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'ok', cost: 1, context: null })).toMatchObject({
      status: 'idle',
    });
  });

  it('a text that a peer made up never becomes a name of a metric', async () => {
    const text = await relay.gateways[0]!.metrics.text();
    expect(text).not.toContain('report_skills');
    expect(text).not.toContain('xxxx');
  });
});
