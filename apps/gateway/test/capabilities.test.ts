import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  registerDevice,
  startRelay,
} from '@relay/testing';
import { counted, idOf, idleSession, nextStart, path, readSession, sessionIn, until } from './conversation.ts';
import { knock } from './knock.ts';

const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more IEND', 'latin1').toString('base64')}`;
const declaring = (list: string) => ({ 'X-Daemon-Capabilities': list });

describe('the declarations of a daemon', () => {
  let relay: TestRelay;
  let app: TestApp;
  let daemon: TestDaemon;

  const device = async ({ deviceId }: Pick<TestDaemon, 'deviceId'>) => {
    const { body } = await relay.call('listDevices');
    return (body.devices as { id: string; capabilities: string[] }[]).find(({ id }) => id === deviceId);
  };
  const create = (deviceId: string, images?: string[]) =>
    relay.call('createSession', { body: { deviceId, message: 'what is this?', images } });
  const again = (list: string | undefined) =>
    connectDaemon(relay, {
      registration: daemon.registration,
      ...(list === undefined ? {} : { headers: declaring(list) }),
    });

  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay);
    daemon = await connectDaemon(relay, { headers: declaring(' Images, auto-update ,, context, no words, images') });
  });
  afterAll(() => relay.stop());

  it("get the relay's capabilities in the 101", async () => {
    const plain = await registerDevice(relay);
    const answered = await knock(relay, {
      Authorization: `Bearer ${plain.refreshToken}`,
      'X-Device-ID': plain.deviceId,
    });
    expect(answered).toMatchObject({
      status: 101,
      headers: { 'x-relay-capabilities': expect.stringContaining('prompts') },
    });
  });

  it('is shown with the device, each name once', async () => {
    await nextStart(relay, daemon);
    expect((await device(daemon))?.capabilities).toEqual(['images', 'auto-update', 'context']);
  });

  it('F6: are optional for images unless something rules them out, and the answer shows it', async () => {
    const field = await connectDaemon(relay, { headers: declaring('auto-update') });
    await nextStart(relay, field);
    const created = await create(field.deviceId, [png]);
    expect(created).toMatchObject({ status: 201, body: { images: 'unconfirmed' } });
    const start = await field.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(start.images).toEqual([png]);
    field.event(created.body.taskId, 'TASK_COMPLETE', { result: 'a cat', session_id: 'cat' });
    await until(async () => (await readSession(relay, idOf(field, 'cat')))?.status === 'idle');
    const messages = path(idOf(field, 'cat'), '/messages');
    const sent = await relay.call('POST', messages, { body: { content: 'and this?', images: [png] } });
    expect(sent).toMatchObject({ status: 202, body: { images: 'unconfirmed' } });
    const plain = await relay.call('POST', messages, { body: { content: 'and that?' } });
    expect(plain.body).not.toHaveProperty('images');
    expect((await field.next('task_resume')).images).toEqual([png]);
  });

  it('is missing although the daemon knows others of ours: it never gets images', async () => {
    const plain = await connectDaemon(relay, { headers: declaring('usage') });
    // Until then the relay does not know its declarations.
    await nextStart(relay, plain);
    expect(await create(plain.deviceId, [png])).toMatchObject({
      status: 409,
      body: { code: 'NOT_SUPPORTED_BY_DEVICE', error: expect.stringContaining('does not accept images') },
    });
    await nextStart(relay, plain);
    expect(plain.inbox.count('task_start')).toBe(2);
    expect(plain.inbox.count('task_start', (frame) => 'images' in frame)).toBe(0);
    expect((await device(plain))?.capabilities).toEqual(['usage']);
  });

  it('count while the device is away: the relay delivers accepted messages when it is back', async () => {
    await daemon.close();
    const created = await create(daemon.deviceId, [png]);
    expect(created.status).toBe(201);
    daemon = await again('images');
    const start = await daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(start.images).toEqual([png]);
    expect((await device(daemon))?.capabilities).toEqual(['images']);
    const row = () => relay.database.models.task.findUnique({ where: { id: created.body.taskId } });
    expect((await row())?.images).toContain('base64');
    daemon.event(created.body.taskId, 'TASK_COMPLETE', { result: 'a cat', session_id: 'seen' });
    const isOurs = (frame: Frame) => sessionIn(frame).id === idOf(daemon, 'seen') && sessionIn(frame).status === 'idle';
    await app.next('session_update', isOurs);
    expect((await row())?.images).toBeNull();
  });

  it('count again on delivery: a returning daemon without support does not get the message, and the user gets the reason', async () => {
    await daemon.close();
    const created = await create(daemon.deviceId, [png]);
    const { taskId } = created.body as { taskId: string };
    daemon = await again('usage');
    const told = await app.next('new_message', (frame) => (frame.message as { role: string }).role === 'SYSTEM');
    expect(told).toMatchObject({ sessionId: created.body.id, message: { content: expect.stringContaining('images') } });
    expect((await relay.call('readTask', { params: { id: taskId } })).body).toMatchObject({
      state: 'failed',
      error: { code: 'NOT_SUPPORTED_BY_DEVICE' },
    });
    const next = await nextStart(relay, daemon);
    expect(next.taskId).not.toBe(taskId);
    expect(daemon.inbox.count('task_start')).toBe(1);
  });

  it('reach no app with the images themselves', () => {
    expect(JSON.stringify(app.inbox.all)).not.toContain('base64');
  });

  describe('context', () => {
    const read = (nativeId: string) => relay.call('readContext', { params: { id: idOf(daemon, nativeId) } });

    beforeAll(async () => {
      await daemon.close();
      daemon = await again('usage');
      await idleSession(relay, daemon, app, 'deep');
    });

    it('is asked of the daemon and handed on', async () => {
      const answer = read('deep');
      const asked = await daemon.next('usage_request');
      expect(asked).toEqual({ type: 'usage_request', request_id: expect.any(String), session_id: 'deep' });
      const context = { used_tokens: 1200, max_tokens: 200_000, files: ['a.ts'] };
      daemon.send({ type: 'usage_response', request_id: asked.request_id, usage: context });
      expect(await answer).toMatchObject({
        status: 200,
        body: { sessionId: idOf(daemon, 'deep'), usedTokens: 1200, maxTokens: 200_000, details: context },
      });
    });

    it('is null where the daemon does not know', async () => {
      const answer = read('deep');
      const { request_id: requestId } = await daemon.next('usage_request');
      daemon.send({ type: 'usage_response', request_id: requestId, usage: { used_tokens: null } });
      expect((await answer).body).toMatchObject({ usedTokens: null, maxTokens: null });
    });

    it('uses the older spelling for a daemon released with it', async () => {
      const older = await connectDaemon(relay, { headers: declaring('context') });
      await idleSession(relay, older, app, 'older');
      const answer = relay.call('readContext', { params: { id: idOf(older, 'older') } });
      const asked = await older.next('context_request');
      expect(asked).toEqual({ type: 'context_request', request_id: expect.any(String), session_id: 'older' });
      older.send({
        type: 'context_response',
        request_id: asked.request_id,
        context: { used_tokens: 7, max_tokens: 'x' },
      });
      expect(await answer).toMatchObject({ status: 200, body: { usedTokens: 7, maxTokens: null } });
      expect(await relay.call('readSummary', { params: { id: idOf(older, 'older') } })).toMatchObject({
        status: 409,
        body: { code: 'NOT_SUPPORTED_BY_DEVICE' },
      });
    });

    it('is an error of the device when it answers one, nothing, or too much', async () => {
      for (const fields of [{ error: 'no idea' }, {}, { usage: { text: 'x'.repeat(70_000) } }]) {
        const answer = read('deep');
        const { request_id: requestId } = await daemon.next('usage_request');
        daemon.send({ type: 'usage_response', request_id: requestId, ...fields });
        expect(await answer).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
      }
    });

    it('is not answered by an answer to something else', async () => {
      const answer = read('deep');
      const { request_id: requestId } = await daemon.next('usage_request');
      daemon.send({ type: 'messages', request_id: requestId, messages: [] });
      daemon.send({ type: 'usage_response', request_id: 'made up', usage: { used_tokens: 1 } });
      daemon.send({ type: 'usage_response', request_id: requestId, usage: { used_tokens: 2 } });
      expect((await answer).body).toMatchObject({ usedTokens: 2 });
    });

    it('is not there for a stranger, an unnamed session, or a device that is away', async () => {
      expect(await relay.call('readContext', { params: { id: idOf(daemon, 'deep') }, user: 'bob' })).toMatchObject({
        status: 404,
        body: { code: 'SESSION_NOT_FOUND' },
      });
      const created = await create(daemon.deviceId);
      expect(await relay.call('readContext', { params: { id: created.body.id } })).toMatchObject({
        status: 409,
        body: { code: 'SESSION_NOT_RESOLVED' },
      });
      await daemon.close();
      expect(await read('deep')).toMatchObject({ status: 503, body: { code: 'DEVICE_OFFLINE' } });
    });

    it('is not asked of a daemon that did not declare it', async () => {
      daemon = await again('images');
      await nextStart(relay, daemon);
      expect(await read('deep')).toMatchObject({ status: 409, body: { code: 'NOT_SUPPORTED_BY_DEVICE' } });
      expect(daemon.inbox.count('usage_request')).toBe(0);
    });
  });

  it('a piece of content is asked once for all who ask for it at a time, and two pieces apart', async () => {
    const able = await connectDaemon(relay, { headers: declaring('transcript, content') });
    await idleSession(relay, able, app, 'kept');
    const read = (offset: number) =>
      relay.call('readContent', { params: { id: idOf(able, 'kept'), uuid: 'u', name: 'output' }, query: { offset } });
    const heard = () => counted(relay, 'relay_commands_total', { kind: 'ask_content' });
    const all = [read(0), read(0), read(2)];
    await until(async () => (await heard()) === all.length);
    for (let n = 0; n < 2; n += 1) {
      const { request_id: requestId, offset } = await able.next('content_request');
      const data = Buffer.from(offset === 0 ? 'ab' : 'cd').toString('base64');
      const piece = { mime: 'text/plain', size: 4, data };
      able.send({ type: 'content_response', request_id: requestId, session_id: 'kept', ...piece });
    }
    const pieces = (await Promise.all(all)).map(({ body }) => Buffer.from(body.data, 'base64').toString());
    expect(pieces).toEqual(['ab', 'ab', 'cd']);
    expect(able.inbox.count('content_request')).toBe(2);
    await able.close();
  });

  describe('the settings of a session', () => {
    const mode = { id: 'mode', kind: 'mode', name: 'Mode', value: 'ask', options: [{ id: 'ask', name: 'Ask' }] };
    const read = (id: string) => relay.call('readSettings', { params: { id } });
    let able: TestDaemon;
    let id: string;
    beforeAll(async () => {
      able = await connectDaemon(relay, { headers: declaring('settings') });
      await idleSession(relay, able, app, 'chosen');
      id = idOf(able, 'chosen');
    });
    const answer = async (fields: object) => {
      const { request_id: requestId } = await able.next('settings_request');
      able.send({ type: 'settings_response', request_id: requestId, session_id: 'chosen', ...fields });
    };

    it('are asked once for all who ask the same at a time, and never for two changes', async () => {
      const heard = () => counted(relay, 'relay_commands_total', { kind: 'ask_settings' });
      const before = await heard();
      const both = [read(id), read(id)];
      await until(async () => (await heard()) === before + 2);
      await answer({ settings: [mode] });
      for (const { body } of await Promise.all(both)) expect(body.settings).toEqual([mode]);
      expect(able.inbox.count('settings_request')).toBe(1);
      const change = (value: string) => relay.call('changeSetting', { params: { id }, body: { id: 'mode', value } });
      const [ask, code] = [change('ask'), change('code')];
      await answer({ settings: [mode] });
      await answer({ settings: [mode] });
      expect([(await ask).status, (await code).status]).toEqual([200, 200]);
    });

    it('are an error of the device when it answers one, nothing, or too much, and one with its code', async () => {
      const options = Array.from({ length: 900 }, (_, n) => ({ id: `${n}`, name: 'n', description: 'x'.repeat(400) }));
      for (const fields of [
        { error: 'no idea' },
        {},
        { settings: [{ ...mode, options }] },
        { error: 'x', code: 'new' },
      ]) {
        const asked = read(id);
        await answer(fields);
        expect(await asked).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
      }
      const asked = read(id);
      await answer({ error: 'nothing to choose', code: 'SETTINGS_NOT_SUPPORTED' });
      expect(await asked).toMatchObject({ status: 409, body: { error: 'nothing to choose' } });
    });

    it('are published when they change, to apps that know the frame and to no other', async () => {
      const since = await connectApp(relay, { since: '' });
      able.send({ type: 'settings_activity', session_id: 'chosen' });
      expect(await since.next('settings_changed')).toMatchObject({ sessionId: id });
      await nextStart(relay, able);
      expect(app.inbox.count('settings_changed')).toBe(0);
      await since.close();
    });

    it('are refused to strangers, and by a daemon that is too old or away', async () => {
      const stranger = await relay.call('readSettings', { params: { id }, user: 'bob' });
      expect(stranger).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
      const old = await connectDaemon(relay);
      await idleSession(relay, old, app, 'old');
      expect(await read(idOf(old, 'old'))).toMatchObject({ status: 409, body: { code: 'SETTINGS_NOT_SUPPORTED' } });
      await able.close();
      expect(await read(id)).toMatchObject({ status: 503, body: { code: 'DEVICE_OFFLINE' } });
    });
  });
});
