import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectApp, connectDaemon } from '@relay/testing';
import { type Scene, openScene, report } from '../scene.ts';
import { expectFrame } from './frames.ts';

describe('device_removed', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  it('reaches clients that sent since, after the device went offline; other clients get only that status', async () => {
    const modern = await connectApp(scene.relay, { since: '' });
    const daemon = await connectDaemon(scene.relay);
    await modern.next('device_status', ({ deviceId }) => deviceId === daemon.deviceId);
    await scene.relay.call('deleteDevice', { params: { id: daemon.deviceId } });
    const frame = expectFrame('device_removed', await modern.next('device_removed'), { offset: true });
    expect(frame.deviceId).toBe(daemon.deviceId);
    await report(scene, 'marker');
    const ofIt = (all: readonly { type: string; deviceId?: unknown; status?: unknown }[]) =>
      all.filter(({ deviceId }) => deviceId === daemon.deviceId).map(({ type, status }) => status ?? type);
    expect(ofIt(modern.inbox.all)).toEqual(['online', 'offline', 'device_removed']);
    expect(ofIt(scene.app.inbox.all)).toEqual(['online', 'offline']);
  });
});
