import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, idleSession, openScene, tick, until } from './conversation.ts';

describe('messages', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let id: string;

  const strays = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'stray messages' });
  const stored = (uuid: string, content = uuid) => ({
    uuid,
    role: 'AGENT',
    content,
    timestamp: '2026-01-01T00:00:00Z',
  });
  /** Asks for a page with this limit, so that no two requests are the same. */
  const ask = async (limit: number) => {
    const answer = relay.call('readMessages', { params: { id }, query: { limit } });
    const asked = await daemon.next('get_messages', (frame) => frame.limit === limit);
    return { answer, requestId: asked.request_id as string };
  };

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
    id = await idleSession(relay, daemon, app, 'native');
  });
  afterAll(() => relay.stop());

  it('is the answer to its question', async () => {
    const { answer, requestId } = await ask(1);
    daemon.send({
      type: 'messages',
      request_id: requestId,
      session_id: 'native',
      messages: [
        { uuid: 'u1', role: 'USER', content: 'hello', timestamp: '2026-01-01T00:00:00Z' },
        { uuid: 'u2', role: 'agent', content: 'hi', timestamp: '2026-01-01T01:00:00+01:00' },
        { uuid: 'u3', role: 'TOOL', content: 'ran', timestamp: '2026-01-01T00:00:02.5Z' },
      ],
      has_more: true,
      oldest_uuid: 'u1',
      newest_uuid: 'u3',
    });
    expect(await answer).toMatchObject({
      status: 200,
      body: {
        messages: [
          { uuid: 'u1', role: 'USER', content: 'hello', timestamp: '2026-01-01T00:00:00.000Z' },
          { uuid: 'u2', role: 'AGENT', content: 'hi', timestamp: '2026-01-01T00:00:00.000Z' },
          { uuid: 'u3', role: 'SYSTEM', content: 'ran', timestamp: '2026-01-01T00:00:02.500Z' },
        ],
        hasMore: true,
        oldestUuid: 'u1',
        newestUuid: 'u3',
      },
    });
  });

  it('can omit has_more, oldest_uuid and newest_uuid, and be empty', async () => {
    const some = await ask(2);
    daemon.send({ type: 'messages', request_id: some.requestId, messages: [stored('a'), stored('b')] });
    expect((await some.answer).body).toMatchObject({ hasMore: false, oldestUuid: 'a', newestUuid: 'b' });
    const none = await ask(3);
    daemon.send({ type: 'messages', request_id: none.requestId, session_id: 'native', messages: [], oldest_uuid: '' });
    expect((await none.answer).body).toEqual({ messages: [], hasMore: false, oldestUuid: null, newestUuid: null });
  });

  it('with an error is a failure and not an empty page', async () => {
    const { answer, requestId } = await ask(4);
    daemon.send({ type: 'messages', request_id: requestId, session_id: 'native', messages: [], error: 'no such file' });
    expect(await answer).toMatchObject({
      status: 502,
      body: { code: 'DEVICE_ERROR', error: expect.stringContaining('no such file') },
    });
    const session = relay.call('readSession', { params: { id }, query: { limit: 5 } });
    const asked = await daemon.next('get_messages', (frame) => frame.limit === 5);
    daemon.send({ type: 'messages', request_id: asked.request_id, error: 'no such file' });
    expect(await session).toMatchObject({
      status: 200,
      body: { id, messages: [], messagesError: { code: 'DEVICE_ERROR' } },
    });
  });

  it('of another device is ignored: only the requested device can answer', async () => {
    const other = await connectDaemon(relay);
    const before = await strays();
    const { answer, requestId } = await ask(6);
    other.send({ type: 'messages', request_id: requestId, messages: [stored('forged')] });
    await tick(other, app);
    expect(await strays()).toBe(before + 1);
    daemon.send({ type: 'messages', request_id: requestId, messages: [stored('real')] });
    expect((await answer).body).toMatchObject({ messages: [{ uuid: 'real' }] });
  });

  it('without a question, or answering a second time, is dropped and counted', async () => {
    const before = await strays();
    const { answer, requestId } = await ask(7);
    daemon.send({ type: 'messages', request_id: 'never asked', messages: [stored('stray')] });
    daemon.send({ type: 'messages', request_id: requestId, messages: [stored('first')] });
    daemon.send({ type: 'messages', request_id: requestId, messages: [stored('second')] });
    expect((await answer).body).toMatchObject({ messages: [{ uuid: 'first' }] });
    await tick(daemon, app);
    expect(await strays()).toBe(before + 2);
  });

  it('times out with 504 if it never comes; a late one counts as a stray', async () => {
    // A relay of its own: the daemons of the other tests have to answer in time, however busy the machine is.
    const hasty = await openScene({ config: { daemonReplyTimeoutMs: 500 } });
    try {
      const session = await idleSession(hasty.relay, hasty.daemon, hasty.app, 'native');
      const answer = hasty.relay.call('readMessages', { params: { id: session } });
      const { request_id } = await hasty.daemon.next('get_messages');
      expect(await answer).toMatchObject({ status: 504, body: { code: 'DEVICE_TIMEOUT' } });
      hasty.daemon.send({ type: 'messages', request_id, messages: [stored('late')] });
      await tick(hasty.daemon, hasty.app);
      expect(await counted(hasty.relay, 'relay_daemon_frames_ignored_total', { cause: 'stray messages' })).toBe(1);
    } finally {
      await hasty.relay.stop();
    }
  });

  it('is cut and marked if a text exceeds 256 KiB', async () => {
    const { answer, requestId } = await ask(9);
    const messages = [stored('long', 'é'.repeat(200_000)), stored('short')];
    daemon.send({ type: 'messages', request_id: requestId, messages });
    const [long, short] = (await answer).body.messages;
    expect(Buffer.byteLength(long!.content)).toBe(256 * 1024);
    expect(long!.truncated).toBe(true);
    expect(short).not.toHaveProperty('truncated');
  });

  it('answers concurrent equal requests with one request to the daemon', async () => {
    const asks = () => counted(relay, 'relay_commands_total', { kind: 'history', outcome: 'ack' });
    const before = await asks();
    const answers = Array.from({ length: 5 }, () =>
      relay.call('readMessages', { params: { id }, query: { limit: 10, before: 'u9' } }),
    );
    const other = relay.call('readMessages', { params: { id }, query: { limit: 10, after: 'u9' } });
    const asked = await daemon.next('get_messages', (frame) => frame.before_uuid === 'u9');
    const different = await daemon.next('get_messages', (frame) => frame.after_uuid === 'u9');
    await until(async () => (await asks()) === before + 6);
    daemon.send({ type: 'messages', request_id: different.request_id, messages: [stored('other')] });
    expect((await other).body.messages).toMatchObject([{ uuid: 'other' }]);
    daemon.send({ type: 'messages', request_id: asked.request_id, messages: [stored('shared')] });
    for (const answer of await Promise.all(answers)) expect(answer.body.messages).toMatchObject([{ uuid: 'shared' }]);
    expect(daemon.inbox.count('get_messages', (frame) => frame.before_uuid === 'u9')).toBe(1);
  });

  it('of a daemon that leaves is not waited for', async () => {
    const leaving = await connectDaemon(relay);
    const session = await idleSession(relay, leaving, app, 'leaving');
    const answer = relay.call('readMessages', { params: { id: session } });
    await leaving.next('get_messages');
    await leaving.drop();
    expect(await answer).toMatchObject({ status: 503, body: { code: 'DEVICE_OFFLINE' } });
    expect((await relay.call('readSession', { params: { id: session } })).body).toMatchObject({
      messages: [],
      messagesError: { code: 'DEVICE_OFFLINE' },
    });
  });
});
