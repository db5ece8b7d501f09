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

  it('answers the session, its task and the message, and where the session is', async () => {
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
    ['the first line that says something', { message: '\r\n\n  fix it\r\nnow' }, 'fix it'],
    ['its first 80 characters', { message: 'x'.repeat(81) }, 'x'.repeat(80)],
    ['80 whole characters, whatever they take', { message: '🐢'.repeat(90) }, '🐢'.repeat(80)],
    ['what the request says', { title: '  Named by me ', message: 'other' }, 'Named by me'],
  ])('takes as title %s', async (_what, body, title) => {
    expect((await created(body)).title).toBe(title);
  });

  it('is named by the ULID of the app until the daemon names it, and is found by it afterwards', async () => {
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

  it('leaves the path empty, and tells the daemon none, when none is given', async () => {
    const { taskId, projectPath } = await created();
    expect(projectPath).toBe('');
    expect(await scene.daemon.next('task_start', (frame) => frame.task_id === taskId)).not.toHaveProperty(
      'project_path',
    );
  });

  it('carries every character that JSON and PostgreSQL can', async () => {
    const message = 'tab\t quote" back\\slash \u2028 \u0001 emoji 🐢 \u{10FFFF} עברית';
    const { taskId, message: said } = await created({ message });
    expect(said.content).toBe(message);
    expect((await scene.daemon.next('task_start', (frame) => frame.task_id === taskId)).instruction).toBe(message);
  });

  it('waits in the queue of a device that is away, and is delivered when it comes', async () => {
    const registration = await registerDevice(scene.relay);
    const { taskId, status } = await created({ deviceId: registration.deviceId, message: 'later' });
    expect(status).toBe('pending');
    const daemon = await connectDaemon(scene.relay, { registration });
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId, instruction: 'later' });
  });

  describe('with queueTtlSeconds', () => {
    it('0 asks for a live socket: 503 without one, and nothing is created', async () => {
      const { deviceId } = await registerDevice(scene.relay);
      const answer = await post({ deviceId, queueTtlSeconds: 0 });
      expectRefusal(answer, 'DEVICE_OFFLINE', 'queueTtlSeconds');
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      expect((await scene.relay.call('listSessions', { query: { deviceId } })).body).toEqual({ sessions: [] });
    });

    it('0 is delivered at once to a device that is there', async () => {
      const { taskId } = await created({ queueTtlSeconds: 0, message: 'now' });
      expect(await scene.daemon.next('task_start', (frame) => frame.task_id === taskId)).toMatchObject({
        instruction: 'now',
      });
    });

    it('is the time after which it is no longer delivered', async () => {
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

    it('takes the longest time there is', async () => {
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
    ['a message that is no text', { message: 7 }, 'message'],
    ['no device', { deviceId: undefined }, 'deviceId'],
    ['an empty device', { deviceId: '' }, 'deviceId'],
    ['a device id past all bounds', { deviceId: 'x'.repeat(513) }, 'deviceId'],
    ['a title that is no text', { title: 7 }, 'title'],
    ['a blank title', { title: '  ' }, 'title'],
    ['a title past all bounds', { title: 'x'.repeat(201) }, 'title'],
    ['a path that is no text', { projectPath: {} }, 'projectPath'],
    ['a path past all bounds', { projectPath: 'x'.repeat(4097) }, 'projectPath'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    expectRefusal(await post(body), 'INVALID_REQUEST', field);
  });

  it('takes a message of 256 KiB and refuses one byte more', async () => {
    const message = 'é'.repeat(128 * 1024);
    expect((await created({ message })).message.content).toHaveLength(128 * 1024);
    expectRefusal(await post({ message: `${message}.` }), 'PAYLOAD_TOO_LARGE', 'message');
  });

  it('does not know a device that never was, was removed, or belongs to another user', async () => {
    const removed = await registerDevice(scene.relay);
    await scene.relay.call('deleteDevice', { params: { id: removed.deviceId } });
    for (const answer of [
      await post({ deviceId: 'never' }),
      await post({ deviceId: removed.deviceId }),
      await post({}, 'mallory'),
    ])
      expectRefusal(answer, 'DEVICE_NOT_FOUND');
  });

  it('is heard by all sockets of the user: the session, then its message', async () => {
    const { id, message } = await created({ message: 'to everybody' });
    await scene.app.next('new_message', (frame) => frame.sessionId === id);
    const about = scene.app.inbox.all.filter(
      (frame) => frame.sessionId === id || (frame.session as { id?: string } | undefined)?.id === id,
    );
    expect(about[0]).toMatchObject({ type: 'session_update', session: { id, status: 'pending' } });
    expect(about.find(({ type }) => type === 'new_message')).toEqual({ type: 'new_message', sessionId: id, message });
  });

  it('creates sessions one after the other for one device, each with its own task', async () => {
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
