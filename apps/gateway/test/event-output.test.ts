import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '@relay/protocol';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, end, idOf, run, sessionIn, tick } from './conversation.ts';

describe('events OUTPUT and VERBOSE', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let listener: TestApp;

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
    listener = await connectApp(relay, { output: true });
  });
  afterAll(() => relay.stop());

  it('reach only the apps that asked for output, in order', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'out');
    for (const output of ['one', 'two', 'three']) daemon.event(taskId, 'OUTPUT', { output });
    await tick(daemon, listener);
    const frames = listener.inbox.all.filter((frame) => frame.type === 'task_output');
    expect(frames).toEqual(
      ['one', 'two', 'three'].map((output, n) => ({
        type: 'task_output',
        sessionId: id,
        taskId,
        output,
        sequence: n + 1,
      })),
    );
    expect(app.inbox.count('task_output')).toBe(0);
  });

  it('keep their order with the progress and the messages between them', async () => {
    const { taskId, id } = await run(relay, daemon, listener, 'mixed');
    // The first one reads the session again, the others find it in memory.
    for (const round of ['first', 'second']) {
      daemon.event(taskId, 'OUTPUT', { output: `${round} line` });
      daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'mixed', uuid: round, content: `${round} words` });
      daemon.event(taskId, 'OUTPUT', { output: `${round} end` });
    }
    daemon.event(taskId, 'PROGRESS', { action: 'Reading' });
    daemon.event(taskId, 'OUTPUT', { output: 'last line' });
    await listener.next('task_output', (frame) => frame.output === 'last line');
    const order = listener.inbox.all.flatMap((frame) => {
      if (frame.type === 'task_output') return frame.sessionId === id ? frame.output : [];
      if (frame.type === 'new_message') return frame.sessionId === id ? (frame.message as Message).content : [];
      return frame.type === 'session_update' && sessionIn(frame).id === id
        ? (sessionIn(frame).progress?.action ?? [])
        : [];
    });
    expect(order.slice(order.indexOf('first line'))).toEqual([
      'first line',
      'first words',
      'first end',
      'second line',
      'second words',
      'second end',
      'Reading',
      'last line',
    ]);
  });

  it('R5: are numbered per task and connection, so that an app detects a gap', async () => {
    const first = await run(relay, daemon, app, 'first');
    const second = await run(relay, daemon, app, 'second');
    const say = async (taskId: string, output: string) => {
      daemon.event(taskId, 'OUTPUT', { output });
      return (await listener.next('task_output', (frame) => frame.output === output)).sequence;
    };
    expect(await say(first.taskId, 'a')).toBe(1);
    expect(await say(second.taskId, 'b')).toBe(1);
    // Long output passes as it was written.
    expect(await say(first.taskId, 'c'.repeat(5000))).toBe(2);
    const late = await connectApp(relay, { output: true });
    expect(await say(first.taskId, 'd')).toBe(3);
    expect(await late.next('task_output')).toMatchObject({ taskId: first.taskId, output: 'd', sequence: 3 });
    await late.close();
  });

  it('VERBOSE is treated like OUTPUT, whether it calls its text output or content', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'verbose');
    daemon.event(taskId, 'VERBOSE', { output: 'as output', uuid: 'v1', timestamp: '2026-01-01T00:00:00Z' });
    daemon.event(taskId, 'VERBOSE', { content: 'as content', session_id: 'verbose' });
    for (const output of ['as output', 'as content'])
      expect(await listener.next('task_output', (frame) => frame.output === output)).toMatchObject({
        sessionId: id,
        taskId,
      });
  });

  it('without a task belong to the locally started session that they name', async () => {
    daemon.event('', 'VERBOSE', { session_id: 'desk', content: 'typed locally' });
    expect(await listener.next('task_output', (frame) => frame.output === 'typed locally')).toEqual({
      type: 'task_output',
      sessionId: idOf(daemon, 'desk'),
      output: 'typed locally',
    });
  });

  it('are cut at 256 KiB', async () => {
    const { taskId } = await run(relay, daemon, app, 'long');
    daemon.event(taskId, 'OUTPUT', { output: 'x'.repeat(300_000) });
    const { output } = await listener.next('task_output', (frame) => String(frame.output).startsWith('xxx'));
    expect(String(output)).toHaveLength(256 * 1024);
  });

  it('of a finished task, or without any text, are not shown', async () => {
    const { taskId } = await run(relay, daemon, app, 'over');
    await end(daemon, app, taskId);
    daemon.event(taskId, 'OUTPUT', { output: 'too late' });
    daemon.event('', 'OUTPUT', { output: 'nothing' });
    daemon.send({ type: 'event', event_type: 'OUTPUT', output: 'nothing' });
    daemon.event('', 'OUTPUT', { output: 'no such name', session_id: 'x'.repeat(600) });
    daemon.event(taskId, 'OUTPUT', {});
    await tick(daemon, listener);
    expect(listener.inbox.count('task_output', (frame) => /late|nothing|name/.test(String(frame.output)))).toBe(0);
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'event of nothing' })).toBe(3);
  });
});
