import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectApp } from '@relay/testing';
import { type Scene, begin, openScene, report } from '../scene.ts';
import { expectFrame } from './frames.ts';

describe('session_removed', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  it('reaches clients that sent since, and no others', async () => {
    const modern = await connectApp(scene.relay, { since: '' });
    const id = await report(scene, 'gone');
    await scene.relay.call('deleteSession', { params: { id } });
    const frame = expectFrame('session_removed', await modern.next('session_removed'), { offset: true });
    expect(frame.sessionId).toBe(id);
    await report(scene, 'marker');
    expect(scene.app.inbox.count('session_removed')).toBe(0);
  });

  it('carries the canonical id, also when the request used another id', async () => {
    const modern = await connectApp(scene.relay, { since: '' });
    const begun = await begin(scene, 'named');
    await scene.relay.call('deleteSession', { params: { id: begun.placeholder } });
    expect((await modern.next('session_removed')).sessionId).toBe(begun.id);
  });

  it('removes the session from the history: an app that was away reloads (S4)', async () => {
    const away = await connectApp(scene.relay, { since: '' });
    const id = await report(scene, 'gone meanwhile');
    const { offset } = await away.next('session_update');
    await away.close();
    await scene.relay.call('deleteSession', { params: { id } });
    const back = await connectApp(scene.relay, { since: offset as string });
    await back.next('resync');
  });
});
