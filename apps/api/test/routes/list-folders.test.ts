import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FolderList } from '@relay/protocol';
import { type TestDaemon, type TestRelay, connectDaemon, registerDevice, startRelay } from '@relay/testing';
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

  it("lists the project folders of the device's sessions, newest first, each once and at most 20", async () => {
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

  it("is empty for a device that never connected, and 404 for another user's device", async () => {
    const { deviceId: id } = await registerDevice(scene.relay);
    expect(await folders(id)).toEqual([]);
    expectRefusal(await scene.relay.call('listFolders', { params: { id }, user: 'bob' }), 'DEVICE_NOT_FOUND');
  });
});

describe('GET /api/devices/:id/folders?path', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
    daemon = await connectDaemon(relay, { gateway: 1, headers: { 'X-Daemon-Capabilities': 'browse' } });
  });
  afterAll(() => relay.stop());

  const browse = (path: string, options: { user?: string } = {}) =>
    relay.call('listFolders', { params: { id: daemon.deviceId }, query: { path }, ...options });
  const answer = async (fields: object) => {
    const request = await daemon.next('get_folders');
    daemon.send({ type: 'folders', request_id: request.request_id, ...fields });
    return request;
  };
  const folders = [{ name: 'garden', path: '/home/ada/garden' }];

  it("returns the daemon's answer, from any instance", async () => {
    const asked = browse('/home/ada');
    expect(await answer({ path: '/home/ada', parent: '', folders, more: true })).toMatchObject({ path: '/home/ada' });
    const { status, body } = await asked;
    expect([status, body]).toEqual([
      200,
      { recent: [], browsed: { path: '/home/ada', parent: '', folders, more: true } },
    ]);
    const top = browse('');
    await answer({ folders });
    expect((await top).body.browsed).toEqual({ folders });
  });

  it('never mixes two simultaneous requests', async () => {
    const [one, other] = [browse('/one'), browse('/other')];
    for (let n = 0; n < 2; n++) {
      const { request_id: requestId, path } = await daemon.next('get_folders');
      daemon.send({ type: 'folders', request_id: requestId, path, folders: [] });
    }
    expect([(await one).body.browsed?.path, (await other).body.browsed?.path]).toEqual(['/one', '/other']);
  });

  it('reports a missing folder, an invalid answer and an oversized one', async () => {
    const gone = browse('/etc');
    await answer({ code: 'FOLDER_NOT_FOUND', error: '/etc exists but is not for you' });
    expectRefusal(await gone, 'FOLDER_NOT_FOUND');
    expect(JSON.stringify((await gone).body)).not.toContain('exists but');
    const broken = browse('/x');
    await answer({ error: 'the disk is on fire' });
    expectRefusal(await broken, 'DEVICE_ERROR');
    const long = browse('/y');
    const name = 'y'.repeat(4000);
    await answer({ folders: Array.from({ length: 100 }, () => ({ name, path: name })) });
    expectRefusal(await long, 'DEVICE_ERROR');
  });

  it('asks no daemon without the capability, no daemon of another user, and no absent daemon', async () => {
    const plain = await connectDaemon(relay);
    const of = (id: string) => relay.call('listFolders', { params: { id }, query: { path: '' } });
    expectRefusal(await of(plain.deviceId), 'NOT_SUPPORTED_BY_DEVICE');
    expectRefusal(await browse('', { user: 'bob' }), 'DEVICE_NOT_FOUND');
    await daemon.close();
    expectRefusal(await browse(''), 'DEVICE_OFFLINE');
    expect(plain.inbox.count('get_folders')).toBe(0);
  });
});
