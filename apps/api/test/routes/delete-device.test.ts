import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Frame, connectApp, connectDaemon, registerDevice } from '@relay/testing';
import { expectLimitHeaders, expectRefusal, expectSuccess } from '../answers.ts';
import { bearer, itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report } from '../scene.ts';

describe('DELETE /api/devices/:id', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ apis: 2, gateways: 2 });
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'deleteDevice');

  const remove = (deviceId: string, options: { user?: string; api?: number } = {}) =>
    scene.relay.call('deleteDevice', { params: { id: deviceId }, ...options });
  const unregister = (deviceId: string, refreshToken: string, api = 0) =>
    scene.relay.call('deleteDevice', { params: { id: deviceId }, user: null, headers: bearer(refreshToken), api });

  it('closes the live connection on any instance, and refuses it from then on', async () => {
    const daemon = await connectDaemon(scene.relay, { gateway: 1 });
    expectSuccess('deleteDevice', 204, await remove(daemon.deviceId));
    expect((await daemon.closed).code).toBe(4404);
    for (const gateway of [0, 1]) {
      await expect(connectDaemon(scene.relay, { registration: daemon.registration, gateway })).rejects.toMatchObject({
        status: 401,
        body: { code: 'TOKEN_REVOKED' },
      });
    }
    expectRefusal(await remove(daemon.deviceId), 'DEVICE_NOT_FOUND');
  });

  it('deletes its sessions, queued tasks and watches', async () => {
    const daemon = await connectDaemon(scene.relay);
    const its = { ...scene, daemon };
    const begun = await begin(its, 'running');
    const id = await report(its, 'watched');
    await scene.relay.call('watch', { body: { sessionId: id } });
    const { body } = await scene.relay.call('sendMessage', { params: { id: begun.id }, body: { content: 'next' } });
    await remove(daemon.deviceId);
    expect(
      (await scene.relay.call('listSessions', { query: { deviceId: daemon.deviceId, archived: 'all' } })).body.sessions,
    ).toEqual([]);
    expectRefusal(await scene.relay.call('readSession', { params: { id } }), 'SESSION_NOT_FOUND');
    expect((await scene.relay.call('listWatched')).body.sessionIds).toEqual([]);
    expect((await scene.relay.call('readTask', { params: { id: body.taskId } })).body).toMatchObject({
      state: 'cancelled',
      error: { code: 'DEVICE_REMOVED' },
    });
    expect((await scene.relay.call('listDevices')).body.devices).not.toContainEqual(
      expect.objectContaining({ id: daemon.deviceId }),
    );
  });

  it('publishes that it is offline, and its removal to apps that understand it', async () => {
    const modern = await connectApp(scene.relay, { since: '', api: 1 });
    const daemon = await connectDaemon(scene.relay);
    await modern.next('device_status', ({ deviceId, status }) => deviceId === daemon.deviceId && status === 'online');
    await remove(daemon.deviceId);
    const ofIt = ({ deviceId }: Frame) => deviceId === daemon.deviceId;
    expect(await modern.next('device_status', ofIt)).toMatchObject({ status: 'offline' });
    expect(await modern.next('device_removed', ofIt)).toEqual({
      type: 'device_removed',
      deviceId: daemon.deviceId,
      offset: expect.any(String),
    });
    await connectDaemon(scene.relay);
    await scene.app.next(
      'device_status',
      ({ deviceId, status }) => deviceId === daemon.deviceId && status === 'offline',
    );
    expect(scene.app.inbox.count('device_removed')).toBe(0);
    await modern.close();
  });

  it('publishes nothing for a device that never connected', async () => {
    const { deviceId } = await registerDevice(scene.relay);
    expectSuccess('deleteDevice', 204, await remove(deviceId));
    const marker = await connectDaemon(scene.relay);
    await scene.app.next('device_status', (frame) => frame.deviceId === marker.deviceId);
    expect(scene.app.inbox.count('device_status', (frame) => frame.deviceId === deviceId)).toBe(0);
  });

  it('returns 404 for a stranger, and for a device that never existed', async () => {
    const { deviceId } = await registerDevice(scene.relay);
    expectRefusal(await remove(deviceId, { user: 'mallory' }), 'DEVICE_NOT_FOUND');
    expectRefusal(await remove('never'), 'DEVICE_NOT_FOUND');
    expectSuccess('deleteDevice', 204, await remove(deviceId));
  });

  describe('with the credential of the device itself', () => {
    it('removes it, and returns 404 from then on, on every instance', async () => {
      const daemon = await connectDaemon(scene.relay);
      const { refreshToken } = daemon.registration;
      expectSuccess('deleteDevice', 204, await unregister(daemon.deviceId, refreshToken));
      expect((await daemon.closed).code).toBe(4404);
      for (const api of [0, 1]) {
        const again = await unregister(daemon.deviceId, refreshToken, api);
        expectRefusal(again, 'DEVICE_NOT_FOUND');
        expectLimitHeaders(again);
      }
    });

    it('returns 404 if its owner was faster', async () => {
      const { deviceId, refreshToken } = await registerDevice(scene.relay);
      await remove(deviceId, { api: 1 });
      expectRefusal(await unregister(deviceId, refreshToken), 'DEVICE_NOT_FOUND');
    });

    it('removes no other device of any user', async () => {
      const mine = await registerDevice(scene.relay);
      const other = await registerDevice(scene.relay);
      const foreign = await registerDevice(scene.relay, { user: 'mallory' });
      expectRefusal(await unregister(mine.deviceId, other.refreshToken), 'INVALID_TOKEN');
      expectRefusal(await unregister(mine.deviceId, foreign.refreshToken), 'INVALID_TOKEN');
      expectRefusal(await unregister('never', mine.refreshToken), 'INVALID_TOKEN');
      expectSuccess('deleteDevice', 204, await unregister(mine.deviceId, mine.refreshToken));
    });

    it('returns 401 for an invalid credential: no shape, no checksum', async () => {
      const { deviceId, refreshToken } = await registerDevice(scene.relay);
      const last = refreshToken.at(-1) === 'a' ? 'b' : 'a';
      for (const token of ['rly_drt_', 'rly_drt_garbage', refreshToken.slice(0, -1) + last, refreshToken.slice(0, -1)])
        expectRefusal(await unregister(deviceId, token), 'INVALID_TOKEN');
    });
  });
});
