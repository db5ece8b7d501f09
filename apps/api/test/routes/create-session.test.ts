import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedSession } from '@relay/protocol';
import { type TestDaemon, connectDaemon, registerDevice } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, openScene, updateOf } from '../scene.ts';

describe('POST /api/sessions', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'createSession', { body: { deviceId: 'x', message: 'y' } });

  const post = (body: Record<string, unknown>, user = 'alice') =>
    scene.relay.call('createSession', { user, body: { deviceId: scene.daemon.deviceId, message: 'hello', ...body } });
  const created = async (body: Record<string, unknown> = {}) => {
    const answer = await post(body);
    return expectSuccess('createSession', 201, answer) as CreatedSession;
  };

  it('returns the session, its task and the message, and the address of the session', async () => {
    const answer = await post({ message: 'look around', projectPath: '/home/alice/it' });
    const body = expectSuccess('createSession', 201, answer) as CreatedSession;
    expect(body).toEqual({
      id: expect.stringMatching(new RegExp(`^${scene.daemon.deviceId}:scripted:PENDING-[0-9A-Z]{26}$`)),
      title: 'look around',
      status: 'pending',
      agentType: 'scripted',
      deviceId: scene.daemon.deviceId,
      projectPath: '/home/alice/it',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      messageCount: 1,
      lastMessage: 'look around',
      archived: false,
      watched: false,
      lastTask: { id: body.taskId, state: 'queued' },
      queue: { count: 1, v: expect.any(String) },
      taskId: expect.stringMatching(/^[0-9A-Z]{26}$/),
      message: { uuid: expect.any(String), role: 'USER', content: 'look around', timestamp: body.createdAt },
    });
    expect(answer.headers.location).toBe(`/api/sessions/${encodeURIComponent(body.id)}`);
    const found = await scene.relay.call('GET', answer.headers.location!);
    expect(found.body).toMatchObject({ id: body.id });
    expect(await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId)).toEqual({
      type: 'task_start',
      task_id: body.taskId,
      instruction: 'look around',
      project_path: '/home/alice/it',
    });
  });

  it.each([
    ['the first line of the message', { message: 'fix the bug\nand then\nmore' }, 'fix the bug'],
    ['the first line with text', { message: '\r\n\n  fix it\r\nnow' }, 'fix it'],
    ['its first 80 characters', { message: 'x'.repeat(81) }, 'x'.repeat(80)],
    ['80 whole characters, whatever their size', { message: '🐢'.repeat(90) }, '🐢'.repeat(80)],
    ['the title of the request', { title: '  Named by me ', message: 'other' }, 'Named by me'],
  ])('uses as title %s', async (_what, body, title) => {
    expect((await created(body)).title).toBe(title);
  });

  it("uses the app's ULID until the daemon names the session, and finds it by that id afterwards", async () => {
    const pendingId = '01M86HNVP2SFAT467TH19MSS0A';
    const body = await created({ message: 'named here', pendingId });
    const id = `${scene.daemon.deviceId}:scripted:PENDING-${pendingId}`;
    expect(body.id).toBe(id);
    const used = await post({ message: 'again', pendingId });
    expectRefusal(used, 'INVALID_REQUEST');
    const { task_id: task } = await scene.daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    scene.daemon.event(task as string, 'SESSION_STARTED', { session_id: 'its own name' });
    scene.daemon.event(task as string, 'TASK_COMPLETE', { session_id: 'its own name', result: 'done' });
    await updateOf(scene.app, `${scene.daemon.deviceId}:scripted:its own name`);
    const found = await scene.relay.call('GET', `/api/sessions/${encodeURIComponent(id)}`);
    expect(found.body).toMatchObject({ id: `${scene.daemon.deviceId}:scripted:its own name` });
    expectRefusal(await post({ message: 'again', pendingId }), 'INVALID_REQUEST');
    expectRefusal(await post({ pendingId: 'no-ulid' }), 'INVALID_REQUEST');
  });

  it('leaves the path empty, and sends the daemon no path, by default', async () => {
    const { taskId, projectPath } = await created();
    expect(projectPath).toBe('');
    expect(await scene.daemon.next('task_start', (frame) => frame.task_id === taskId)).not.toHaveProperty(
      'project_path',
    );
  });

  it('preserves every character that JSON and PostgreSQL support', async () => {
    const message = 'tab\t quote" back\\slash \u2028 \u0001 emoji 🐢 \u{10FFFF} עברית';
    const { taskId, message: said } = await created({ message });
    expect(said.content).toBe(message);
    expect((await scene.daemon.next('task_start', (frame) => frame.task_id === taskId)).instruction).toBe(message);
  });

  it('waits in the queue of a device that is away, and is delivered when it returns', async () => {
    const registration = await registerDevice(scene.relay);
    const { taskId, status } = await created({ deviceId: registration.deviceId, message: 'later' });
    expect(status).toBe('pending');
    const daemon = await connectDaemon(scene.relay, { registration });
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId, instruction: 'later' });
  });

  describe('with queueTtlSeconds', () => {
    it('0 requires a live socket: 503 without one, and creates nothing', async () => {
      const { deviceId } = await registerDevice(scene.relay);
      const answer = await post({ deviceId, queueTtlSeconds: 0 });
      expectRefusal(answer, 'DEVICE_OFFLINE');
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      expect((await scene.relay.call('listSessions', { query: { deviceId } })).body).toEqual({ sessions: [] });
    });

    it('0 delivers immediately to a connected device', async () => {
      const { taskId } = await created({ queueTtlSeconds: 0, message: 'now' });
      expect(await scene.daemon.next('task_start', (frame) => frame.task_id === taskId)).toMatchObject({
        instruction: 'now',
      });
    });

    it('sets the time after which it expires', async () => {
      const registration = await registerDevice(scene.relay);
      const { id, taskId } = await created({ deviceId: registration.deviceId, queueTtlSeconds: 1 });
      await updateOf(scene.app, id, ({ status }) => status === 'failed');
      expect((await scene.relay.call('readTask', { params: { id: taskId } })).body).toMatchObject({
        state: 'expired',
        error: { code: 'TASK_EXPIRED' },
      });
      const daemon = await connectDaemon(scene.relay, { registration });
      const later = await created({ deviceId: registration.deviceId, message: 'fresh' });
      expect(await daemon.next('task_start')).toMatchObject({ task_id: later.taskId });
      expect(daemon.inbox.count('task_start')).toBe(1);
    });

    it('accepts the maximum', async () => {
      await created({ queueTtlSeconds: 86_400 });
    });

    it.each([-1, 1.5, 86_401, '900', null, true, [900]])('%j is refused', async (queueTtlSeconds) => {
      expectRefusal(await post({ queueTtlSeconds }), 'INVALID_REQUEST', 'queueTtlSeconds');
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no message', { message: undefined }, 'message'],
    ['an empty message', { message: '' }, 'message'],
    ['a blank message', { message: ' \n\t ' }, 'message'],
    ['a message of U+0000 alone', { message: '\0' }, 'message'],
    ['a message that is not text', { message: 7 }, 'message'],
    ['no device', { deviceId: undefined }, 'deviceId'],
    ['an empty device', { deviceId: '' }, 'deviceId'],
    ['a device id over the limit', { deviceId: 'x'.repeat(513) }, 'deviceId'],
    ['a title that is not text', { title: 7 }, 'title'],
    ['a blank title', { title: '  ' }, 'title'],
    ['a title over the limit', { title: 'x'.repeat(201) }, 'title'],
    ['a path that is not text', { projectPath: {} }, 'projectPath'],
    ['a path over the limit', { projectPath: 'x'.repeat(4097) }, 'projectPath'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    expectRefusal(await post(body), 'INVALID_REQUEST', field);
  });

  it('accepts a message of 256 KiB and refuses one byte more', async () => {
    const message = 'é'.repeat(128 * 1024);
    expect((await created({ message })).message.content).toHaveLength(128 * 1024);
    expectRefusal(await post({ message: `${message}.` }), 'PAYLOAD_TOO_LARGE', 'message');
  });

  it('returns 404 for a device that never existed, was removed, or belongs to another user', async () => {
    const removed = await registerDevice(scene.relay);
    await scene.relay.call('deleteDevice', { params: { id: removed.deviceId } });
    for (const answer of [
      await post({ deviceId: 'never' }),
      await post({ deviceId: removed.deviceId }),
      await post({}, 'mallory'),
    ])
      expectRefusal(answer, 'DEVICE_NOT_FOUND');
  });

  it('publishes the session, then its message, to all sockets of the user', async () => {
    const { id, message } = await created({ message: 'to everybody' });
    await scene.app.next('new_message', (frame) => frame.sessionId === id);
    const about = scene.app.inbox.all.filter(
      (frame) => frame.sessionId === id || (frame.session as { id?: string } | undefined)?.id === id,
    );
    expect(about[0]).toMatchObject({ type: 'session_update', session: { id, status: 'pending' } });
    expect(about.find(({ type }) => type === 'new_message')).toEqual({ type: 'new_message', sessionId: id, message });
  });

  it('creates sessions in sequence for one device, each with its own task', async () => {
    const daemon: TestDaemon = await connectDaemon(scene.relay);
    const bodies = await Promise.all(
      Array.from({ length: 8 }, (_, n) => created({ deviceId: daemon.deviceId, message: `number ${n}` })),
    );
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(8);
    for (const { taskId, message } of bodies)
      expect(await daemon.next('task_start', (frame) => frame.task_id === taskId)).toMatchObject({
        instruction: message.content,
      });
  });
});
