import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, end, idOf, readSession, run, sessionIn, until } from './conversation.ts';

describe('watch_session and unwatch_session', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const watch = (id: string) => relay.call('watch', { body: { sessionId: id } });
  const unwatch = (id: string) => relay.call('unwatch', { body: { sessionId: id } });
  const desk = async (nativeId: string, filePath?: string) => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId, file_path: filePath }] });
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, nativeId));
    return idOf(daemon, nativeId);
  };
  const watched = (nativeId: string) => daemon.next('watch_session', (frame) => frame.session_id === nativeId);

  beforeAll(async () => {
    relay = await startRelay({ config: { openSessionMs: 700 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('inform the daemon when a user begins and stops watching', async () => {
    const id = await desk('a', '/home/alice/.agent/a.jsonl');
    expect((await watch(id)).status).toBe(201);
    expect(await watched('a')).toEqual({
      type: 'watch_session',
      session_id: 'a',
      file_path: '/home/alice/.agent/a.jsonl',
    });
    expect((await watch(id)).status).toBe(200);
    expect((await unwatch(id)).status).toBe(200);
    expect(await daemon.next('unwatch_session')).toEqual({ type: 'unwatch_session', session_id: 'a' });
    expect(daemon.inbox.count('watch_session', (frame) => frame.session_id === 'a')).toBe(1);
  });

  it('F10: carry an empty file path while it is unknown; a corrected one follows after closing the first watch', async () => {
    const id = await desk('b');
    await watch(id);
    expect(await watched('b')).toEqual({ type: 'watch_session', session_id: 'b', file_path: '' });
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'b', file_path: 'b.jsonl' }] });
    expect(await watched('b')).toEqual({ type: 'watch_session', session_id: 'b', file_path: 'b.jsonl' });
    const order = daemon.inbox.all.filter((frame) => frame.session_id === 'b').map(({ type }) => type);
    expect(order).toEqual(['watch_session', 'unwatch_session', 'watch_session']);
  });

  it('F10: carry the file path that came with session_activity', async () => {
    const id = await desk('activity');
    const activity = (filePath: string) =>
      daemon.send({ type: 'session_activity', session_id: 'activity', last_message: filePath, file_path: filePath });
    activity('first.jsonl');
    await app.next('session_update', (frame) => sessionIn(frame).lastMessage === 'first.jsonl');
    await watch(id);
    expect(await watched('activity')).toMatchObject({ file_path: 'first.jsonl' });
    activity('second.jsonl');
    expect(await watched('activity')).toMatchObject({ file_path: 'second.jsonl' });
    daemon.send({ type: 'session_activity', session_id: 'activity', last_message: 'no path' });
    await app.next('session_update', (frame) => sessionIn(frame).lastMessage === 'no path');
    await watch(await desk('after the activity'));
    await watched('after the activity');
    expect(daemon.inbox.count('watch_session', (frame) => frame.session_id === 'activity')).toBe(2);
  });

  it('come after every connect for all that is watched, also without a status', async () => {
    const ids = [await desk('c'), await desk('d', 'd.jsonl')];
    for (const id of ids) await watch(id);
    await daemon.close();
    daemon = await connectDaemon(relay, { registration: daemon.registration, hello: [] });
    expect(await watched('c')).toMatchObject({ file_path: '' });
    expect(await watched('d')).toMatchObject({ file_path: 'd.jsonl' });
    daemon.send({ type: 'status', running_tasks: [] });
  });

  it('wait for the name of an unnamed session', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    await watch(pendingId);
    // The command has arrived when the next one has: a session that has a name.
    await watch(await desk('e'));
    await watched('e');
    expect(daemon.inbox.count('watch_session', (frame) => String(frame.session_id).startsWith('PENDING-'))).toBe(0);
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'now-named' });
    expect(await watched('now-named')).toBeDefined();
    await end(daemon, app, taskId);
  });

  it('follow a session whose native id changes', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'before');
    await watch(id);
    await watched('before');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'after' });
    expect(await watched('after')).toBeDefined();
    expect(await daemon.next('unwatch_session', (frame) => frame.session_id === 'before')).toBeDefined();
  });

  it('are sent for a session that a client has open, for a while', async () => {
    const id = await desk('open');
    const answer = relay.call('readSession', { params: { id } });
    const asked = await daemon.next('get_messages');
    daemon.send({ type: 'messages', request_id: asked.request_id, messages: [] });
    await answer;
    await watched('open');
    expect(await daemon.next('unwatch_session', (frame) => frame.session_id === 'open')).toBeDefined();
  });

  it('stop with the session, and continue if it is opened while it is watched', async () => {
    const id = await desk('both');
    await watch(id);
    await watched('both');
    const answer = relay.call('readSession', { params: { id } });
    const asked = await daemon.next('get_messages');
    daemon.send({ type: 'messages', request_id: asked.request_id, messages: [] });
    await answer;
    await relay.call('deleteSession', { params: { id } });
    // Once: the open one closes later and has nothing left to send.
    await daemon.next('unwatch_session', (frame) => frame.session_id === 'both');
    const clock = await desk('open-clock');
    const second = relay.call('readSession', { params: { id: clock } });
    daemon.send({ type: 'messages', request_id: (await daemon.next('get_messages')).request_id, messages: [] });
    await second;
    await daemon.next('unwatch_session', (frame) => frame.session_id === 'open-clock');
    expect(daemon.inbox.count('unwatch_session', (frame) => frame.session_id === 'both')).toBe(1);
    expect(daemon.inbox.count('watch_session', (frame) => frame.session_id === 'both')).toBe(1);
  });

  it('K3: return for a session that a client has open when its daemon reconnects, on any gateway', async () => {
    const two = await startRelay({ gateways: 2 });
    try {
      const listener = await connectApp(two);
      let moving = await connectDaemon(two);
      const { registration } = moving;
      moving.send({
        type: 'report_sessions',
        sessions: [{ session_id: 'open', file_path: 'o' }, { session_id: 'shut' }],
      });
      await listener.next('session_update', (frame) => sessionIn(frame).id === idOf(moving, 'shut'));
      const answer = two.call('readSession', { params: { id: idOf(moving, 'open') } });
      const asked = await moving.next('get_messages');
      moving.send({ type: 'messages', request_id: asked.request_id, messages: [] });
      await answer;
      await moving.next('watch_session');
      for (const gateway of [1, 1, 0]) {
        await moving.close();
        moving = await connectDaemon(two, { registration, gateway });
        expect(await moving.next('watch_session')).toMatchObject({ session_id: 'open', file_path: 'o' });
      }
      await two.call('watch', { body: { sessionId: idOf(moving, 'shut') } });
      await moving.next('watch_session', (frame) => frame.session_id === 'shut');
      expect(moving.inbox.count('watch_session')).toBe(2);
    } finally {
      await two.stop();
    }
  });

  it('D1: unwatch_session is sent at once while an app has the session open, and the next reading watches again', async () => {
    const patient = await startRelay();
    try {
      const listener = await connectApp(patient);
      const desktop = await connectDaemon(patient);
      const id = idOf(desktop, 'open');
      const read = async () => {
        const answer = patient.call('readSession', { params: { id } });
        const { request_id } = await desktop.next('get_messages');
        desktop.send({ type: 'messages', request_id, messages: [] });
        await answer;
      };
      desktop.send({ type: 'report_sessions', sessions: [{ session_id: 'open', file_path: 'o' }] });
      await listener.next('session_update', (frame) => sessionIn(frame).id === id);
      await read();
      await desktop.next('watch_session');
      await patient.call('watch', { body: { sessionId: id } });
      await listener.next('session_update', (frame) => sessionIn(frame).watched);
      await patient.call('unwatch', { body: { sessionId: id } });
      expect(await desktop.next('unwatch_session')).toEqual({ type: 'unwatch_session', session_id: 'open' });
      await read();
      expect(await desktop.next('watch_session')).toMatchObject({ session_id: 'open' });
    } finally {
      await patient.stop();
    }
  });

  it('are not sent for a session whose reader does not subscribe', async () => {
    const bob = await connectDaemon(relay, { user: 'bob' });
    bob.send({ type: 'report_sessions', sessions: [{ session_id: 'unheard' }, { session_id: 'watched' }] });
    await until(async () => (await readSession(relay, idOf(bob, 'unheard'), 'bob')) !== undefined);
    const answer = relay.call('readSession', { params: { id: idOf(bob, 'unheard') }, user: 'bob' });
    bob.send({ type: 'messages', request_id: (await bob.next('get_messages')).request_id, messages: [] });
    expect((await answer).status).toBe(200);
    await relay.call('watch', { user: 'bob', body: { sessionId: idOf(bob, 'watched') } });
    await bob.next('watch_session', (frame) => frame.session_id === 'watched');
    expect(bob.inbox.count('watch_session')).toBe(1);
  });
});
