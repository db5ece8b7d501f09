import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { connectApp } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report, sessionOf, updateOf } from '../scene.ts';

describe('DELETE /api/sessions/:id', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'deleteSession');

  const remove = (id: string, user = 'alice') => scene.relay.call('deleteSession', { params: { id }, user });
  const removed = async (id: string) => expectSuccess('deleteSession', 204, await remove(id));
  const listed = async () =>
    ((await scene.relay.call('listSessions', { query: { archived: 'all' } })).body.sessions as Session[]).map(
      ({ id }) => id,
    );
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

  it('hides the session from every route', async () => {
    const id = await report(scene, 'forgotten');
    await removed(id);
    expect(await listed()).not.toContain(id);
    expectRefusal(await scene.relay.call('readSession', { params: { id } }), 'SESSION_NOT_FOUND');
    expectRefusal(await scene.relay.call('cancelSession', { params: { id } }), 'SESSION_NOT_FOUND');
    expectRefusal(await remove(id), 'SESSION_NOT_FOUND');
  });

  it('reaches apps that understand it, and no others', async () => {
    const modern = await connectApp(scene.relay, { since: '' });
    const id = await report(scene, 'announced');
    await removed(id);
    expect(await modern.next('session_removed')).toEqual({
      type: 'session_removed',
      sessionId: id,
      offset: expect.any(String),
    });
    await report(scene, 'after it');
    expect(scene.app.inbox.count('session_removed')).toBe(0);
    await modern.close();
  });

  it('cancels running and queued tasks, and notifies the daemon', async () => {
    const begun = await begin(scene, 'running');
    const { body } = await scene.relay.call('sendMessage', { params: { id: begun.id }, body: { content: 'next' } });
    await removed(begun.id);
    await scene.daemon.next('task_cancel', (frame) => frame.task_id === begun.taskId);
    for (const taskId of [begun.taskId, body.taskId])
      expect((await scene.relay.call('readTask', { params: { id: taskId } })).body.state).toBe('cancelled');
  });

  describe('while its agent waits for an answer', () => {
    const waiting = async (nativeId: string) => {
      const begun = await begin(scene, nativeId);
      scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Well?' });
      const { session } = await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
      return { ...begun, uuid: (session as Session).prompt!.id };
    };
    const cancelled = async ({ taskId }: { taskId: string }) => {
      await scene.daemon.next('task_cancel', (frame) => frame.task_id === taskId);
      expect((await scene.relay.call('readTask', { params: { id: taskId } })).body.state).toBe('cancelled');
    };

    it('sends the daemon the task that asked', async () => {
      const begun = await waiting('asks');
      await removed(begun.id);
      await cancelled(begun);
    });

    it('sends it also after the turn continued without its question', async () => {
      const begun = await waiting('asks no more');
      const gone = { session_id: begun.nativeId, uuid: begun.uuid, state: 'superseded' };
      scene.daemon.event(begun.taskId, 'PROMPT_CLOSED', gone);
      await updateOf(scene.app, begun.id, ({ status }) => status === 'active');
      await removed(begun.id);
      await cancelled(begun);
    });

    it('sends it for each session of a bulk deletion', async () => {
      const begun = [await waiting('asks first'), await waiting('asks second')];
      const ids = begun.map(({ id }) => id);
      const { body } = await scene.relay.call('changeSessions', { body: { action: 'delete', filter: { ids } } });
      expect(body).toEqual({ changed: 2, more: false });
      for (const one of begun) await cancelled(one);
    });
  });

  it('removes the watch', async () => {
    const id = await report(scene, 'watched');
    await scene.relay.call('watch', { body: { sessionId: id } });
    await scene.daemon.next('watch_session');
    await removed(id);
    expect(await scene.daemon.next('unwatch_session')).toEqual({ type: 'unwatch_session', session_id: 'watched' });
    expect((await scene.relay.call('listWatched')).body.sessionIds).toEqual([]);
  });

  it('holds while the daemon reports nothing newer, and is undone by later activity', async () => {
    const id = await report(scene, 'returning', { last_activity: inMinutes(-10), message_count: 1 });
    await removed(id);
    const again = (fields: Record<string, unknown>) =>
      scene.daemon.send({
        type: 'report_sessions',
        sessions: [{ session_id: 'returning', ...fields }, { session_id: `marker ${fields.message_count as number}` }],
      });
    again({ last_activity: inMinutes(-5), message_count: 2 });
    await updateOf(scene.app, `${scene.daemon.deviceId}:scripted:marker 2`);
    // The report has no time, so it proves no activity either.
    again({ message_count: 3 });
    await updateOf(scene.app, `${scene.daemon.deviceId}:scripted:marker 3`);
    expect(await listed()).not.toContain(id);
    expect(
      scene.app.inbox.all.filter((frame) => frame.type === 'session_update' && sessionOf(frame).id === id),
    ).toHaveLength(1);
    again({ last_activity: inMinutes(5), message_count: 4 });
    expect((await updateOf(scene.app, id)).session).toMatchObject({ messageCount: 4, watched: false, status: 'idle' });
    expect(await listed()).toContain(id);
  });

  it('of a session without a name keeps it hidden when the daemon names it', async () => {
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: scene.daemon.deviceId, message: 'hello' },
    });
    await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    await removed(body.id);
    scene.daemon.event(body.taskId, 'SESSION_STARTED', { session_id: 'too late' });
    await report(scene, 'after that');
    expect((await listed()).filter((id) => id.includes('too late'))).toEqual([]);
  });

  it('accepts the placeholder for the session', async () => {
    const begun = await begin(scene, 'a/b:c');
    await removed(begun.placeholder);
    expect(await listed()).not.toContain(begun.id);
  });

  it('returns 404 for a session that never existed or belongs to another user', async () => {
    const id = await report(scene, 'mine');
    expectRefusal(await remove(id, 'mallory'), 'SESSION_NOT_FOUND');
    expectRefusal(await remove('x:scripted:y'), 'SESSION_NOT_FOUND');
    expect(await listed()).toContain(id);
  });
});
