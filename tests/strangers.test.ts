import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';

/** Promise: the data of another user does not exist for a stranger. */
describe('a stranger', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let sessionId: string;
  let taskId: string;

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay, { user: 'alice' });
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'mine' } });
    sessionId = body.id;
    taskId = body.taskId;
    await daemon.next('task_start');
  });
  afterAll(() => relay.stop());

  const missing: [
    method: string,
    path: (ids: { session: string; task: string; device: string }) => string,
    body: unknown,
    code: string,
  ][] = [
    ['GET', ({ session }) => `/api/sessions/${session}`, undefined, 'SESSION_NOT_FOUND'],
    ['GET', ({ session }) => `/api/sessions/${session}/messages`, undefined, 'SESSION_NOT_FOUND'],
    ['POST', ({ session }) => `/api/sessions/${session}/messages`, { content: 'hi' }, 'SESSION_NOT_FOUND'],
    ['POST', ({ session }) => `/api/sessions/${session}/cancel`, undefined, 'SESSION_NOT_FOUND'],
    ['PATCH', ({ session }) => `/api/sessions/${session}`, { title: 'stolen' }, 'SESSION_NOT_FOUND'],
    ['DELETE', ({ session }) => `/api/sessions/${session}`, undefined, 'SESSION_NOT_FOUND'],
    ['GET', ({ task }) => `/api/tasks/${task}`, undefined, 'TASK_NOT_FOUND'],
    ['PATCH', ({ device }) => `/api/devices/${device}`, { name: 'stolen' }, 'DEVICE_NOT_FOUND'],
    ['DELETE', ({ device }) => `/api/devices/${device}`, undefined, 'DEVICE_NOT_FOUND'],
    ['GET', ({ device }) => `/api/devices/${device}/connections`, undefined, 'DEVICE_NOT_FOUND'],
  ];

  it.each(missing)('gets the same 404 for %s on my data as on invented ids', async (method, path, body, code) => {
    const real = await relay.call(method, path({ session: sessionId, task: taskId, device: daemon.deviceId }), {
      user: 'mallory',
      body,
    });
    const invented = await relay.call(method, path({ session: 'x:scripted:y', task: 'never', device: 'never' }), {
      user: 'mallory',
      body,
    });
    expect(real.body).toEqual(invented.body);
    expect(real.body).toMatchObject({ code, status: 404 });
  });

  it('cannot start a session on my device', async () => {
    const answer = await relay.call('createSession', {
      user: 'mallory',
      body: { deviceId: daemon.deviceId, message: 'hi' },
    });
    expect(answer.body).toMatchObject({ code: 'DEVICE_NOT_FOUND', status: 404 });
  });

  it('cannot watch my session, and unwatching it reveals nothing', async () => {
    expect((await relay.call('watch', { user: 'mallory', body: { sessionId } })).body).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect((await relay.call('unwatch', { user: 'mallory', body: { sessionId } })).body).toEqual({
      sessionId,
      watched: false,
    });
  });

  it('has empty lists', async () => {
    expect((await relay.call('listSessions', { user: 'mallory' })).body).toEqual({ sessions: [] });
    expect((await relay.call('listDevices', { user: 'mallory' })).body).toEqual({ devices: [] });
    expect((await relay.call('listWatched', { user: 'mallory' })).body).toEqual({
      sessionIds: [],
      watchedSessions: [],
    });
  });

  it('receives nothing of my sessions', async () => {
    const mallory = await connectApp(relay, { user: 'mallory' });
    const alice = await connectApp(relay, { user: 'alice' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'secret' });
    await alice.next('new_message');
    // Mallory's own device comes online: this must be the first frame for mallory.
    const own = await connectDaemon(relay, { user: 'mallory' });
    expect(await mallory.next('device_status')).toMatchObject({ deviceId: own.deviceId });
    expect(mallory.inbox.all).toHaveLength(1);
  });

  it('cannot use my device token as a user, nor as another device', async () => {
    const { refreshToken } = daemon.registration;
    const asUser = await relay.call('listSessions', {
      user: null,
      headers: { Authorization: `Bearer ${refreshToken}` },
    });
    expect(asUser.body).toMatchObject({ code: 'DEVICE_TOKEN_NOT_ALLOWED', status: 403 });
    const other = await connectDaemon(relay, { user: 'mallory' });
    await expect(connectDaemon(relay, { registration: { ...other.registration, refreshToken } })).rejects.toMatchObject(
      { status: 401, body: { code: 'INVALID_TOKEN' } },
    );
    const removal = await relay.call('deleteDevice', {
      params: { id: other.deviceId },
      user: null,
      headers: { Authorization: `Bearer ${refreshToken}` },
    });
    expect(removal.status).toBe(401);
  });
});
