import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, end, idOf, messageIn, readSession, readTask, run, say, sessionIn, tick } from './conversation.ts';

describe('resolving a placeholder', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const report = async (nativeId: string, fields: Record<string, unknown> = {}) => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId, ...fields }] });
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, nativeId));
  };
  const renamed = async (previousId: string) =>
    sessionIn(await app.next('session_update', (frame) => frame.previousId === previousId));
  /** The answer of a route that accepts any id of a session. */
  const canonical = async (id: string) => {
    const { status, body } = await relay.call('updateSession', { params: { id }, body: { archived: false } });
    return status === 200 ? body.id : status;
  };
  const ids = async () => ((await relay.call('listSessions')).body.sessions as { id: string }[]).map(({ id }) => id);

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('begins with a recognisable id', async () => {
    const { pendingId } = await begin(relay, daemon);
    expect(pendingId).toMatch(new RegExp(`^${daemon.deviceId}:scripted:PENDING-[0-9A-HJKMNP-TV-Z]{26}$`));
  });

  it.each([
    ['OUTPUT', { output: 'x' }],
    ['PROGRESS', { action: 'x' }],
    ['WARNING', { warning: 'x' }],
    ['AGENT_RESPONSE', { content: 'x' }],
    ['USER_MESSAGE', { content: 'x' }],
    ['VERBOSE', { content: 'x' }],
    ['TASK_COMPLETE', { result: 'x' }],
    ['WAIT_FOR_USER', { prompt: 'x' }],
    ['ERROR', { error: 'x' }],
  ])('happens with any event that carries a session id: %s', async (eventType, fields) => {
    const { taskId, pendingId } = await begin(relay, daemon);
    daemon.event(taskId, eventType, { ...fields, session_id: `by-${eventType}` });
    expect(await renamed(pendingId)).toMatchObject({ id: idOf(daemon, `by-${eventType}`) });
    const followUp = await say(relay, pendingId, 'go on');
    if (!['TASK_COMPLETE', 'WAIT_FOR_USER', 'ERROR'].includes(eventType))
      daemon.event(taskId, 'TASK_COMPLETE', { result: '' });
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: followUp, session_id: `by-${eventType}` });
  });

  it("is announced before the event's content, under the new id", async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    const from = app.inbox.all.length;
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'the only event', session_id: 'only-event' });
    await app.next('new_message', (frame) => messageIn(frame).content === 'the only event');
    await tick(daemon, app);
    const frames = app.inbox.all.slice(from).filter((frame) => JSON.stringify(frame).includes('only-event'));
    expect(frames.map((frame) => [frame.type, frame.previousId ?? frame.sessionId])).toEqual([
      ['session_update', pendingId],
      ['new_message', idOf(daemon, 'only-event')],
      ['session_update', undefined],
    ]);
  });

  it('keeps the placeholder as an alias for ever, on every route', async () => {
    const { taskId, pendingId, id } = await run(relay, daemon, app, 'alias');
    await end(daemon, app, taskId);
    expect(await canonical(pendingId)).toBe(id);
    const watched = await relay.call('watch', { body: { sessionId: pendingId } });
    expect(watched.body).toEqual({ sessionId: id, watched: true });
    const sent = await relay.call('sendMessage', { params: { id: pendingId }, body: { content: 'by the old id' } });
    expect(sent.body).toMatchObject({ sessionId: id });
    await daemon.next('task_resume', (frame) => frame.session_id === 'alias');
    expect((await relay.call('cancelSession', { params: { id: pendingId } })).body).toMatchObject({
      taskId: sent.body.taskId,
    });
    expect(await ids()).toContain(id);
    expect(await ids()).not.toContain(pendingId);
  });

  it('merges into a previously reported session, keeping the data of both', async () => {
    const old = '2026-01-01T00:00:00.000Z';
    await report('reported', {
      title: 'By the daemon',
      project: '/reported',
      file_path: 'r.jsonl',
      message_count: 9,
      last_activity: old,
    });
    const { taskId, pendingId } = await begin(relay, daemon, { message: 'take it up' });
    await relay.call('watch', { body: { sessionId: pendingId } });
    const followUp = await say(relay, pendingId, 'and then');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'reported' });
    const id = idOf(daemon, 'reported');
    expect(await renamed(pendingId)).toMatchObject({
      id,
      createdAt: old,
      title: 'By the daemon',
      projectPath: '/reported',
      status: 'active',
      watched: true,
      messageCount: 9,
      lastMessage: 'and then',
    });
    // The watch moved, and the daemon gets it.
    expect(await daemon.next('watch_session', (frame) => frame.session_id === 'reported')).toMatchObject({
      file_path: 'r.jsonl',
    });
    expect((await relay.call('listWatched')).body.sessionIds).toContain(id);
    // The tasks moved.
    expect(await readTask(relay, taskId)).toMatchObject({ sessionId: id, state: 'running' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'merged' });
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: followUp, session_id: 'reported' });
    // One session is left.
    expect((await ids()).filter((other) => other === id || other === pendingId)).toEqual([id]);
    expect(await canonical(pendingId)).toBe(id);
  });

  it('keeps a title that the user chose through a merge', async () => {
    await report('titled', { title: 'By the daemon' });
    const { taskId, pendingId } = await begin(relay, daemon, { title: 'By Alice' });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'titled' });
    expect(await renamed(pendingId)).toMatchObject({ title: 'By Alice' });
  });

  it('continues after a merge: progress and completion reach the remaining session', async () => {
    await report('left');
    const { taskId, pendingId } = await begin(relay, daemon);
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'left' });
    await renamed(pendingId);
    daemon.event(taskId, 'PROGRESS', { action: 'Merged' });
    const shown = await app.next('session_update', (frame) => sessionIn(frame).progress?.action === 'Merged');
    expect(shown.session).toMatchObject({ id: idOf(daemon, 'left') });
    expect(await end(daemon, app, taskId)).toMatchObject({ id: idOf(daemon, 'left'), status: 'idle' });
  });

  it('happens again with a second SESSION_STARTED: every id the session had remains', async () => {
    const { taskId, pendingId, id } = await run(relay, daemon, app, 'name-1');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'name-2' });
    expect(await renamed(id)).toMatchObject({ id: idOf(daemon, 'name-2') });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'name-3' });
    expect(await renamed(idOf(daemon, 'name-2'))).toMatchObject({ id: idOf(daemon, 'name-3') });
    for (const old of [pendingId, id, idOf(daemon, 'name-2')])
      expect(await canonical(old)).toBe(idOf(daemon, 'name-3'));
    // And back again.
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'name-1' });
    expect(await renamed(idOf(daemon, 'name-3'))).toMatchObject({ id });
    for (const old of [pendingId, idOf(daemon, 'name-2'), idOf(daemon, 'name-3')])
      expect(await canonical(old)).toBe(id);
    await end(daemon, app, taskId);
  });

  it("stops at the thousandth former id: later events show under the session's current id", async () => {
    const { taskId, id } = await run(relay, daemon, app, 'many-0');
    const [{ key }] = (await relay.database.sql.query<{ key: string }>`
      SELECT key FROM sessions WHERE native_id = 'many-0'`) as [{ key: string }];
    await relay.database.sql.execute`
      INSERT INTO session_aliases (device_id, agent_type, native_id, session_key)
      SELECT ${daemon.deviceId}, ${daemon.registration.agentType}, 'former-' || n, ${key} FROM generate_series(1, 998) n`;
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'many-1' });
    expect(await renamed(id)).toMatchObject({ id: idOf(daemon, 'many-1') });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'many-2' });
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'many-3', content: 'the many-named' });
    const said = await app.next('new_message', (frame) => messageIn(frame).content === 'the many-named');
    expect(said.sessionId).toBe(idOf(daemon, 'many-1'));
    expect(await canonical(idOf(daemon, 'many-2'))).toBe(404);
    // Back to a former id, which adds no row.
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'many-0' });
    expect(await renamed(idOf(daemon, 'many-1'))).toMatchObject({ id });
    await end(daemon, app, taskId);
  });

  it('is not undone by an event that carries an id the session once had', async () => {
    const { taskId } = await run(relay, daemon, app, 'once-1');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'once-2' });
    daemon.event(taskId, 'PROGRESS', { action: 'x', session_id: 'once-1' });
    expect(await end(daemon, app, taskId, 'TASK_COMPLETE', { result: '', session_id: 'once-1' })).toMatchObject({
      id: idOf(daemon, 'once-2'),
    });
  });

  it('is not undone by a report with an id the session once had', async () => {
    const { taskId } = await run(relay, daemon, app, 'reported-1');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'reported-2' });
    await end(daemon, app, taskId);
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'reported-1', title: 'A ghost' }] });
    await tick(daemon, app);
    expect(await ids()).not.toContain(idOf(daemon, 'reported-1'));
    expect((await readSession(relay, idOf(daemon, 'reported-2')))?.title).not.toBe('A ghost');
  });

  it('also happens after the task has completed without a name', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'first the result' });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'then-the-name' });
    expect(await renamed(pendingId)).toMatchObject({ id: idOf(daemon, 'then-the-name'), status: 'idle' });
    await say(relay, pendingId, 'now it has one');
    await daemon.next('task_resume', (frame) => frame.session_id === 'then-the-name');
  });

  it('keeps devices apart: the same native id on two of them is two sessions', async () => {
    const other = await connectDaemon(relay);
    const mine = await run(relay, daemon, app, 'same-name');
    const theirs = await run(relay, other, app, 'same-name');
    expect(mine.id).not.toBe(theirs.id);
    expect(await ids()).toEqual(expect.arrayContaining([mine.id, theirs.id]));
  });

  it('brings a conversation together that was started twice', async () => {
    const one = await run(relay, daemon, app, 'joined');
    await end(daemon, app, one.taskId);
    const two = await begin(relay, daemon);
    daemon.event(two.taskId, 'SESSION_STARTED', { session_id: 'joined' });
    expect(await renamed(two.pendingId)).toMatchObject({ id: one.id, status: 'active' });
    for (const id of [one.pendingId, two.pendingId]) expect(await canonical(id)).toBe(one.id);
    expect((await readTask(relay, one.taskId)).sessionId).toBe(one.id);
  });
});
