import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, end, idOf, messageIn, readSession, run, sessionIn, tick } from './conversation.ts';

describe('events AGENT_RESPONSE and USER_MESSAGE', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const transcript = (eventType: string, fields: Record<string, unknown>) => daemon.event('', eventType, fields);
  const saidIn = (id: string) =>
    app.inbox.all
      .filter((frame) => frame.type === 'new_message' && frame.sessionId === id)
      .map((frame) => messageIn(frame));

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('without a task are the live transcript of a locally started session', async () => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'desk', title: 'At the desk' }] });
    transcript('USER_MESSAGE', { session_id: 'desk', uuid: 'u1', content: 'hello', timestamp: '2026-01-01T00:00:00Z' });
    transcript('AGENT_RESPONSE', {
      session_id: 'desk',
      uuid: 'u2',
      content: 'hi',
      timestamp: '2026-01-01T00:00:01+01:00',
    });
    await tick(daemon, app);
    expect(saidIn(idOf(daemon, 'desk'))).toEqual([
      { uuid: 'u1', role: 'USER', content: 'hello', timestamp: '2026-01-01T00:00:00.000Z' },
      { uuid: 'u2', role: 'AGENT', content: 'hi', timestamp: '2025-12-31T23:00:01.000Z' },
    ]);
  });

  it('can lack task_id, uuid and timestamp', async () => {
    daemon.send({ type: 'event', event_type: 'AGENT_RESPONSE', session_id: 'bare', content: 'just text' });
    daemon.send({
      type: 'event',
      event_type: 'USER_MESSAGE',
      task_id: null,
      session_id: 'bare',
      content: 'you?',
      uuid: null,
    });
    await tick(daemon, app);
    expect(saidIn(idOf(daemon, 'bare'))).toMatchObject([
      { uuid: expect.any(String), role: 'AGENT', content: 'just text', timestamp: expect.stringMatching(/Z$/) },
      { uuid: expect.any(String), role: 'USER', content: 'you?' },
    ]);
  });

  it('make an unknown session known: apps get it before its first message', async () => {
    transcript('USER_MESSAGE', { session_id: 'new', uuid: 'n1', content: 'first words' });
    await tick(daemon, app);
    const id = idOf(daemon, 'new');
    const order = app.inbox.all.filter(
      (frame) => frame.sessionId === id || (frame.session as { id?: string } | undefined)?.id === id,
    );
    expect(order.map((frame) => frame.type)).toEqual(['session_update', 'new_message']);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it('of a task belong to its session', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'task');
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'task', uuid: 't1', content: 'on my way' });
    daemon.event(taskId, 'USER_MESSAGE', { session_id: 'task', uuid: 't2', content: 'typed locally meanwhile' });
    await tick(daemon, app);
    expect(saidIn(id).map(({ uuid }) => uuid)).toEqual(['t1', 't2']);
    await end(daemon, app, taskId);
    // Apps also get an agent's text after its task has completed.
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'task', uuid: 't3', content: 'one more thing' });
    await tick(daemon, app);
    expect(saidIn(id).at(-1)).toMatchObject({ uuid: 't3' });
  });

  it('reach a session by an id it once had', async () => {
    const { taskId } = await run(relay, daemon, app, 'old-name');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'new-name' });
    await end(daemon, app, taskId);
    transcript('AGENT_RESPONSE', { session_id: 'old-name', uuid: 'o1', content: 'same session' });
    await tick(daemon, app);
    expect(saidIn(idOf(daemon, 'new-name')).map(({ uuid }) => uuid)).toContain('o1');
    expect(await readSession(relay, idOf(daemon, 'old-name'))).toBeUndefined();
  });

  it('of a deleted session are not shown', async () => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'deleted' }] });
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'deleted'));
    await relay.call('deleteSession', { params: { id: idOf(daemon, 'deleted') } });
    transcript('AGENT_RESPONSE', { session_id: 'deleted', uuid: 'd1', content: 'unheard' });
    await tick(daemon, app);
    expect(saidIn(idOf(daemon, 'deleted'))).toEqual([]);
  });

  it('carry text within bounds', async () => {
    transcript('AGENT_RESPONSE', { session_id: 'desk', uuid: 'long', content: 'x'.repeat(300_000) });
    transcript('AGENT_RESPONSE', { session_id: 'desk', uuid: 'odd', content: 'half \udc00 and \u0000' });
    transcript('AGENT_RESPONSE', { session_id: 'desk', uuid: 'empty', content: '' });
    await tick(daemon, app);
    const said = new Map(saidIn(idOf(daemon, 'desk')).map((message) => [message.uuid, message]));
    expect(said.get('long')).toMatchObject({ truncated: true });
    expect(said.get('long')!.content).toHaveLength(256 * 1024);
    expect(said.get('odd')!.content).toBe('half \ufffd and ');
    expect(said.has('empty')).toBe(false);
  });

  it('with wrong fields, or of no session, are dropped and counted', async () => {
    const ignored = (cause: string) => counted(relay, 'relay_daemon_frames_ignored_total', { cause });
    const before = [await ignored('invalid'), await ignored('unknown session')];
    transcript('AGENT_RESPONSE', { content: 'of no session' });
    transcript('AGENT_RESPONSE', { session_id: '', content: 'of no session' });
    transcript('AGENT_RESPONSE', { session_id: 'desk' });
    transcript('USER_MESSAGE', { session_id: 'x'.repeat(513), content: 'name too long' });
    transcript('USER_MESSAGE', { session_id: 'PENDING-1', content: 'a placeholder' });
    await tick(daemon, app);
    expect([await ignored('invalid'), await ignored('unknown session')]).toEqual([before[0]! + 4, before[1]! + 1]);
  });
});
