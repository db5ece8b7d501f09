import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WatchList } from '@relay/protocol';
import { expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report } from '../scene.ts';

describe('GET /api/watched-sessions', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'listWatched');

  const list = async (user = 'alice') =>
    expectSuccess('listWatched', 200, await scene.relay.call('listWatched', { user })) as WatchList;

  it('is empty for a user who watches nothing', async () => {
    expect(await list('nobody')).toEqual({ sessionIds: [], watchedSessions: [] });
  });

  it("lists the user's watched sessions under their present ids, oldest watch first, and no others", async () => {
    const begun = await begin(scene, 'a/b:c');
    const ids = [begun.id, await report(scene, 'second')];
    await scene.relay.call('watch', { body: { sessionId: begun.placeholder } });
    await scene.relay.call('POST', '/api/watched-sessions', { body: { sessionId: ids[1] } });
    await report(scene, 'not watched');
    const { sessionIds, watchedSessions } = await list();
    expect(sessionIds).toEqual(ids);
    expect(watchedSessions.map(({ sessionId }) => sessionId)).toEqual(ids);
    expect(await list('bob')).toEqual({ sessionIds: [], watchedSessions: [] });
  });
});
