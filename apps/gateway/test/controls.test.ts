import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { idleSession } from './conversation.ts';

const mode = {
  id: 'mode',
  kind: 'mode',
  name: 'Mode',
  value: 'ask',
  options: [
    { id: 'ask', name: 'Ask' },
    { id: 'yolo', name: 'YOLO', danger: true },
  ],
};

describe('the settings that a daemon with `controls` keeps', () => {
  let relay: TestRelay;
  let app: TestApp;
  let daemon: TestDaemon;
  let plain: TestDaemon;
  const settings = [{ id: 'mode', value: 'ask', keep: true }];

  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay, { since: '' });
    daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'settings, controls' } });
    plain = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'settings' } });
  });
  afterAll(() => relay.stop());

  it('8: refuses settings with a message for a daemon without support, and sends it nothing new', async () => {
    const { deviceId } = plain;
    const created = await relay.call('createSession', { body: { deviceId, message: 'hello', settings } });
    expect(created.body).toMatchObject({ code: 'NOT_SUPPORTED_BY_DEVICE', status: 409 });
    await relay.call('createSession', { body: { deviceId, message: 'hello' } });
    const task = await plain.next('task_start');
    expect(Object.keys(task).sort()).toEqual(['instruction', 'task_id', 'type']);
    const sessionId = await idleSession(relay, plain, app, 'settings-1');
    const params = { id: sessionId };
    expect((await relay.call('readSettings', { params, query: { known: '1' } })).body).toMatchObject({
      code: 'NOT_SUPPORTED_BY_DEVICE',
    });
    const change = relay.call('changeSetting', { params, body: { id: 'mode', value: 'ask', on: 'iPhone' } });
    const asked = await plain.next('settings_request');
    expect(Object.keys(asked).sort()).toEqual(['change', 'request_id', 'session_id', 'type']);
    expect(asked.change).toEqual({ id: 'mode', value: 'ask' });
    plain.send({
      type: 'settings_response',
      request_id: asked.request_id,
      session_id: asked.session_id,
      settings: [mode],
    });
    expect((await change).status).toBe(200);
    expect((await relay.call('readDeviceSettings', { params: { id: deviceId } })).body).toMatchObject({
      code: 'NOT_SUPPORTED_BY_DEVICE',
    });
  });

  it('sends the settings of a message with its task, and compares them under the key of the request', async () => {
    const { deviceId } = daemon;
    const body = { deviceId, message: 'with settings', settings };
    const headers = { 'Idempotency-Key': 'settings-1' };
    expect((await relay.call('createSession', { body, headers })).status).toBe(201);
    const task = await daemon.next('task_start', ({ instruction }) => instruction === 'with settings');
    expect(task).toMatchObject({ settings });
    expect(task).not.toHaveProperty('restricted');
    const other = { ...body, settings: [{ id: 'mode', value: 'yolo' }] };
    expect((await relay.call('createSession', { body: other, headers })).body).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    daemon.event(task.task_id as string, 'ERROR', { error: 'gone', code: 'SETTING_NOT_APPLIED' });
    await app.next('session_update', ({ session }) => {
      const { id, code } = (session as { lastTask?: { id: string; code?: string } }).lastTask ?? {};
      return id === task.task_id && code === 'SETTING_NOT_APPLIED';
    });
  });

  it('requests known values without starting an agent, and shows the source of a choice', async () => {
    const sessionId = await idleSession(relay, daemon, app, 'settings-2');
    const params = { id: sessionId };
    const read = relay.call('readSettings', { params, query: { known: '1' } });
    const asked = await daemon.next('settings_request');
    expect(asked).toMatchObject({ known: true });
    const reply = { type: 'settings_response', session_id: asked.session_id, settings: [mode] };
    const asOf = '2026-11-28T22:14:00.000Z';
    daemon.send({ ...reply, request_id: asked.request_id, as_of: asOf, can: ['images'] });
    expect((await read).body).toEqual({ sessionId, settings: [mode], asOf, can: ['images'] });
    const change = relay.call('changeSetting', { params, body: { id: 'mode', value: 'yolo', on: 'iPhone' } });
    const changed = await daemon.next('settings_request');
    expect(changed).toMatchObject({ change: { id: 'mode', value: 'yolo' }, changed_on: 'iPhone' });
    daemon.send({ ...reply, request_id: changed.request_id });
    await change;
    const audit = await relay.call('listAudit', { query: { limit: 1 } });
    expect(audit.body.entries[0]).toMatchObject({ action: 'changeSetting', setting: 'mode=yolo', outcome: 'done' });
    daemon.send({ type: 'settings_activity', session_id: asked.session_id, defaults: true });
    expect(await app.next('device_settings_changed')).toMatchObject({ deviceId: daemon.deviceId });
  });

  it('reads and sets the defaults of an agent on its machine', async () => {
    const params = { id: daemon.deviceId };
    const body = { id: 'mode', value: null, on: 'iPhone' };
    const change = relay.call('changeDeviceSetting', { params, body });
    const asked = await daemon.next('agent_settings_request');
    expect(asked).toMatchObject({ change: { id: 'mode', value: null }, changed_on: 'iPhone' });
    daemon.send({ type: 'agent_settings_response', request_id: asked.request_id, settings: [mode] });
    expect((await change).body).toMatchObject({ deviceId: daemon.deviceId, settings: [mode] });
    expect(await app.next('device_settings_changed')).toMatchObject({ deviceId: daemon.deviceId });
  });

  it('43, 1.10: known settings are one frame to the daemon, which need not reach its agent', async () => {
    const sessionId = await idleSession(relay, daemon, app, 'settings-3');
    const asked: unknown[] = [];
    daemon.socket.on('message', (data: Buffer) => {
      const { request_id, session_id, ...frame } = JSON.parse(data.toString('utf8')) as Record<string, string>;
      // The heartbeat of the connection can come at any time.
      if (frame.type === 'ping') return;
      asked.push(frame);
      daemon.send({ type: 'settings_response', request_id, session_id, settings: [mode] });
    });
    for (let n = 1; n <= 5; n += 1) {
      const { body } = await relay.call('readSettings', { params: { id: sessionId }, query: { known: '1' } });
      expect(body.settings).toEqual([mode]);
      expect(asked).toEqual(Array.from({ length: n }, () => ({ type: 'settings_request', known: true })));
    }
  });
});
