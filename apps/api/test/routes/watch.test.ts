import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report, updateOf } from '../scene.ts';

describe('POST /api/watched-sessions', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'watch', { body: { sessionId: 'x:scripted:y' } });

  const watch = (body: Record<string, unknown>, user = 'alice') =>
    scene.relay.call('POST', '/api/watched-sessions', { user, body });

  it('is 201 the first time and 200 after, and the daemon gets it once, with the path that it reported', async () => {
    const id = await report(scene, 'watched', { file_path: 'C:\\sessions\\a b.jsonl' });
    const first = await watch({ sessionId: id });
    expect(expectSuccess('watch', 201, first)).toEqual({ sessionId: id, watched: true });
    expect(expectSuccess('watch', 200, await watch({ sessionId: id }))).toEqual({ sessionId: id, watched: true });
    expect(await scene.daemon.next('watch_session')).toEqual({
      type: 'watch_session',
      session_id: 'watched',
      file_path: 'C:\\sessions\\a b.jsonl',
    });
    const other = await report(scene, 'marker');
    await watch({ sessionId: other });
    expect(await scene.daemon.next('watch_session')).toMatchObject({ session_id: 'marker', file_path: '' });
  });

  it('appears in the session and notifies the apps', async () => {
    const id = await report(scene, 'shown');
    await watch({ sessionId: id });
    await updateOf(scene.app, id, ({ watched }) => watched);
    const { body } = await scene.relay.call('listSessions');
    expect(body.sessions).toContainEqual(expect.objectContaining({ id, watched: true }));
  });

  it('accepts a session without a name; the daemon gets the watch after it named the session', async () => {
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: scene.daemon.deviceId, message: 'hello' },
    });
    await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    expectSuccess('watch', 201, await watch({ sessionId: body.id }));
    scene.daemon.event(body.taskId, 'SESSION_STARTED', { session_id: 'named' });
    await scene.daemon.next('watch_session', (frame) => frame.session_id === 'named');
    expect((await scene.relay.call('listWatched')).body.sessionIds).toContain(
      `${scene.daemon.deviceId}:scripted:named`,
    );
  });

  it('accepts every id the session ever had, and returns its present one', async () => {
    const begun = await begin(scene, 'a/b:c');
    expect((await watch({ sessionId: begun.placeholder })).body).toEqual({ sessionId: begun.id, watched: true });
    expect((await watch({ sessionId: begun.id })).status).toBe(200);
  });

  it('accepts a session with a native id of the maximum length', async () => {
    const id = await report(scene, 'n'.repeat(512));
    expectSuccess('watch', 201, await watch({ sessionId: id }));
    expectSuccess('listWatched', 200, await scene.relay.call('listWatched'));
  });

  it.each<[string, Record<string, unknown>]>([
    ['a missing id', {}],
    ['an empty id', { sessionId: '' }],
    ['an id that is not text', { sessionId: ['x'] }],
    ['an id over the limit', { sessionId: `x:y:${'z'.repeat(5000)}` }],
  ])('refuses %s', async (_what, body) => {
    expectRefusal(await watch(body), 'INVALID_REQUEST', 'sessionId');
  });

  it('returns 404 for a session that never existed, was deleted, or belongs to another user', async () => {
    const id = await report(scene, 'mine');
    expectRefusal(await watch({ sessionId: id }, 'mallory'), 'SESSION_NOT_FOUND');
    await scene.relay.call('deleteSession', { params: { id } });
    expectRefusal(await watch({ sessionId: id }), 'SESSION_NOT_FOUND');
    expectRefusal(await watch({ sessionId: 'x:scripted:y' }), 'SESSION_NOT_FOUND');
  });
});
