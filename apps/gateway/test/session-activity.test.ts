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
import { counted, end, idOf, messageIn, readSession, run, sessionIn, tick } from './conversation.ts';

describe('session_activity', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const activity = (nativeId: string, fields: Record<string, unknown>) =>
    daemon.send({ type: 'session_activity', session_id: nativeId, ...fields });
  const updateOf = async (nativeId: string) =>
    sessionIn(await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, nativeId)));
  const desk = async (nativeId: string, fields: Record<string, unknown> = {}) => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId, message_count: 4, ...fields }] });
    return updateOf(nativeId);
  };

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('updates the session', async () => {
    await desk('a');
    activity('a', {
      last_message: 'look',
      message_count: 5,
      is_completion: false,
      last_activity: '2999-01-01T00:00:00Z',
    });
    expect(await updateOf('a')).toMatchObject({ lastMessage: 'look', messageCount: 5 });
    expect(await readSession(relay, idOf(daemon, 'a'))).toMatchObject({ lastMessage: 'look', messageCount: 5 });
  });

  it('without changes sends no frame', async () => {
    await desk('quiet', { last_message: 'same' });
    activity('quiet', { last_message: 'same', message_count: 4 });
    activity('quiet', {});
    await tick(daemon, app);
    expect(app.inbox.count('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'quiet'))).toBe(1);
  });

  it('that completes a local turn is a message of the agent first, then the session, idle', async () => {
    await desk('done', { is_active: true });
    activity('done', {
      last_message: 'the answer',
      message_count: 0,
      is_completion: true,
      last_activity: '2026-02-03T04:05:06Z',
    });
    const said = await app.next('new_message', (frame) => frame.sessionId === idOf(daemon, 'done'));
    expect(messageIn(said)).toMatchObject({
      role: 'AGENT',
      content: 'the answer',
      timestamp: '2026-02-03T04:05:06.000Z',
    });
    expect(await updateOf('done')).toMatchObject({ status: 'idle', lastMessage: 'the answer', messageCount: 4 });
    const frames = app.inbox.all.filter(
      (frame) =>
        frame.sessionId === idOf(daemon, 'done') ||
        (frame.session as { status?: string } | undefined)?.status === 'idle',
    );
    expect(frames.map((frame) => frame.type).slice(-2)).toEqual(['new_message', 'session_update']);
  });

  it('that completes a turn of the relay adds no second message', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'relayed');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'said once' });
    activity('relayed', { last_message: 'said once, in other words', message_count: 0, is_completion: true });
    await tick(daemon, app);
    const agent = (frame: Frame) => frame.sessionId === id && messageIn(frame).role === 'AGENT';
    expect(app.inbox.count('new_message', agent)).toBe(1);
    // The user's message and the agent's.
    expect(await readSession(relay, id)).toMatchObject({ messageCount: 2, status: 'idle' });
  });

  it('does not complete a running task', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'running');
    activity('running', { last_message: 'half-way', is_completion: true });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({
      status: 'active',
      lastTask: { id: taskId, state: 'running' },
    });
  });

  it('of an unknown session is ignored and counted', async () => {
    const unknown = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'unknown session' });
    const before = await unknown();
    const { pendingId } = await run(relay, daemon, app, 'placeholder');
    activity('nobody', { last_message: 'hello' });
    activity(pendingId.split(':')[2]!, { last_message: 'a placeholder is no session of a daemon' });
    await tick(daemon, app);
    expect(await unknown()).toBe(before + 2);
    expect(await readSession(relay, idOf(daemon, 'nobody'))).toBeUndefined();
  });

  it('reaches a session by an id it once had', async () => {
    const { taskId } = await run(relay, daemon, app, 'before');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'after' });
    await updateOf('after');
    await end(daemon, app, taskId);
    activity('before', { last_message: 'under the old name' });
    expect(
      await app.next('session_update', (frame) => sessionIn(frame).lastMessage === 'under the old name'),
    ).toMatchObject({
      session: { id: idOf(daemon, 'after') },
    });
  });

  it('with wrong fields is dropped and counted', async () => {
    const invalid = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' });
    const before = await invalid();
    daemon.send({ type: 'session_activity' });
    activity('a', { message_count: -1 });
    activity('a', { is_completion: 'yes' });
    await tick(daemon, app);
    expect(await invalid()).toBe(before + 3);
  });
});
