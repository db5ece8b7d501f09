import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { bearer, itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report, updateOf } from '../scene.ts';

describe('DELETE /api/watched-sessions', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'unwatch', { body: { sessionId: 'x:scripted:y' } });

  const path = '/api/watched-sessions';
  const watched = async (nativeId: string) => {
    const id = await report(scene, nativeId);
    await scene.relay.call('POST', path, { body: { sessionId: id } });
    await scene.daemon.next('watch_session', (frame) => frame.session_id === nativeId);
    await updateOf(scene.app, id, (session) => session.watched);
    return id;
  };

  it.each([
    ['in the body', (id: string) => scene.relay.call('DELETE', path, { body: { sessionId: id } })],
    ['in the query', (id: string) => scene.relay.call('DELETE', `${path}?sessionId=${encodeURIComponent(id)}`)],
  ])('accepts the id %s, and notifies daemon and apps', async (where, unwatch) => {
    const nativeId = `a/b:c ${where}`;
    const id = await watched(nativeId);
    expect(expectSuccess('unwatch', 200, await unwatch(id))).toEqual({ sessionId: id, watched: false });
    expect(await scene.daemon.next('unwatch_session')).toEqual({ type: 'unwatch_session', session_id: nativeId });
    await updateOf(scene.app, id, (session) => !session.watched);
    expect((await scene.relay.call('GET', path)).body.sessionIds).not.toContain(id);
  });

  it('uses the id in the body when both are sent', async () => {
    const id = await watched('both');
    const answer = await scene.relay.call('DELETE', `${path}?sessionId=x:scripted:y`, { body: { sessionId: id } });
    expect(answer.body).toEqual({ sessionId: id, watched: false });
  });

  it('uses the query of clients that send an empty body with a content type', async () => {
    const id = await watched('empty body');
    const answer = await request(scene.relay.url)
      .delete(path)
      .query({ sessionId: id })
      .set(bearer(scene.relay.token()))
      .set('Content-Type', 'application/json')
      .expect(200);
    expect(answer.body).toEqual({ sessionId: id, watched: false });
  });

  it('is 200 also for an unwatched, an unknown or an invalid id', async () => {
    const id = await report(scene, 'never watched');
    for (const sessionId of [id, 'x:scripted:y', 'garbage'])
      expect(expectSuccess('unwatch', 200, await scene.relay.call('DELETE', path, { body: { sessionId } }))).toEqual({
        sessionId,
        watched: false,
      });
  });

  it('accepts every id the session ever had, and returns its present one', async () => {
    const begun = await begin(scene, 'renamed');
    await scene.relay.call('POST', path, { body: { sessionId: begun.id } });
    const { body } = await scene.relay.call('DELETE', path, { body: { sessionId: begun.placeholder } });
    expect(body).toEqual({ sessionId: begun.id, watched: false });
    expect((await scene.relay.call('GET', path)).body.sessionIds).not.toContain(begun.id);
  });

  it("leaves another user's watch alone", async () => {
    const id = await watched('mine');
    await scene.relay.call('DELETE', path, { user: 'mallory', body: { sessionId: id } });
    expect((await scene.relay.call('GET', path)).body.sessionIds).toContain(id);
  });

  it.each([
    ['nothing', path, undefined],
    ['an empty body', path, {}],
    ['an empty id', path, { sessionId: '' }],
    ['an id that is not text', path, { sessionId: 7 }],
    ['an empty id in the query', `${path}?sessionId=`, undefined],
    ['two ids in the query', `${path}?sessionId=a&sessionId=b`, undefined],
    ['an id over the limit', path, { sessionId: 'x'.repeat(5000) }],
  ])('refuses %s', async (_what, where, body) => {
    expectRefusal(
      await scene.relay.call('DELETE', where, body === undefined ? {} : { body }),
      'INVALID_REQUEST',
      'sessionId',
    );
  });
});
