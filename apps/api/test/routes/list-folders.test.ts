import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FolderList } from '@relay/protocol';
import { registerDevice } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, openScene, updateOf } from '../scene.ts';

describe('GET /api/devices/:id/folders', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'listFolders');

  const folders = async (id: string) =>
    (
      expectSuccess('listFolders', 200, await scene.relay.call('listFolders', { params: { id } })) as FolderList
    ).recent.map(({ path }) => path);

  it('tells where the sessions of the device worked, the newest first, each once and at most 20', async () => {
    const { daemon, app } = scene;
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    const projects = ['/b', '/a', '', '/b', ...Array.from({ length: 20 }, (_, index) => `/old/${index}`)];
    const sessions = projects.map((project, index) => ({
      session_id: `s${index}`,
      project,
      last_message: '',
      last_activity: at(40 - index),
    }));
    daemon.send({ type: 'report_sessions', sessions });
    for (const { session_id: id } of sessions) await updateOf(app, `${daemon.deviceId}:scripted:${id}`);
    const newest = ['/b', '/a', ...projects.slice(4, 22)];
    expect(await folders(daemon.deviceId)).toEqual(newest);
    const id = `${daemon.deviceId}:scripted:s1`;
    await scene.relay.call('deleteSession', { params: { id } });
    expect(await folders(daemon.deviceId)).toEqual(['/b', ...projects.slice(4, 23)]);
  });

  it('is empty for a device that never connected, and 404 for that of another user', async () => {
    const { deviceId: id } = await registerDevice(scene.relay);
    expect(await folders(id)).toEqual([]);
    expectRefusal(await scene.relay.call('listFolders', { params: { id }, user: 'bob' }), 'DEVICE_NOT_FOUND');
  });
});
