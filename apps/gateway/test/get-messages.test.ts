import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, end, idOf, idleSession, nextStart, path, run } from './conversation.ts';

describe('get_messages', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const answer = (requestId: unknown) => daemon.send({ type: 'messages', request_id: requestId, messages: [] });

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('asks for the native session and always carries a limit', async () => {
    const id = await idleSession(relay, daemon, app, 'native:1');
    const page = relay.call('readMessages', { params: { id } });
    const asked = await daemon.next('get_messages');
    expect(asked).toEqual({ type: 'get_messages', request_id: expect.any(String), session_id: 'native:1', limit: 50 });
    answer(asked.request_id);
    expect((await page).status).toBe(200);
  });

  it('carries the range that was asked for', async () => {
    for (const [query, fields] of [
      ['limit=200&before=u5', { limit: 200, before_uuid: 'u5' }],
      ['limit=1&after=u6', { limit: 1, after_uuid: 'u6' }],
      ['before=u5&after=u6', { limit: 50, before_uuid: 'u5', after_uuid: 'u6' }],
    ] as const) {
      const page = relay.call('GET', path(idOf(daemon, 'native:1'), `/messages?${query}`));
      const asked = await daemon.next('get_messages');
      expect(asked).toEqual({
        type: 'get_messages',
        request_id: expect.any(String),
        session_id: 'native:1',
        ...fields,
      });
      answer(asked.request_id);
      expect((await page).status).toBe(200);
    }
  });

  it("names the session by the daemon's current id, for any requested id", async () => {
    const { taskId, pendingId } = await run(relay, daemon, app, 'renamed-1');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'renamed-2' });
    await end(daemon, app, taskId);
    for (const id of [pendingId, idOf(daemon, 'renamed-1'), idOf(daemon, 'renamed-2')]) {
      const session = relay.call('readSession', { params: { id } });
      const asked = await daemon.next('get_messages');
      expect(asked.session_id).toBe('renamed-2');
      answer(asked.request_id);
      expect((await session).body.id).toBe(idOf(daemon, 'renamed-2'));
    }
  });

  it('is not sent for an unnamed session', async () => {
    const { pendingId } = await begin(relay, daemon);
    expect(await relay.call('readMessages', { params: { id: pendingId } })).toMatchObject({
      status: 409,
      body: { code: 'SESSION_NOT_RESOLVED' },
    });
    expect((await relay.call('readSession', { params: { id: pendingId } })).body.messagesError!.code).toBe(
      'SESSION_NOT_RESOLVED',
    );
    const before = daemon.inbox.count('get_messages');
    await nextStart(relay, daemon);
    expect(daemon.inbox.count('get_messages')).toBe(before);
  });

  it('reaches the daemon from any instance', async () => {
    const two = await startRelay({ apis: 2, gateways: 2 });
    try {
      const there = await connectDaemon(two, { gateway: 1 });
      const id = await idleSession(two, there, await connectApp(two), 'native');
      const page = two.call('readMessages', { params: { id }, api: 1 });
      const asked = await there.next('get_messages');
      there.send({ type: 'messages', request_id: asked.request_id, messages: [], has_more: true });
      expect((await page).body).toMatchObject({ hasMore: true });
    } finally {
      await two.stop();
    }
  });
});
