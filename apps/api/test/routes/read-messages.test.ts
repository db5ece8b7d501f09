import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MessagePage, limits } from '@relay/protocol';
import { connectDaemon } from '@relay/testing';
import { expectLimitHeaders, expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { answerHistory, stored } from '../daemon-history.ts';
import { type Scene, begin, openScene, pathOf, report } from '../scene.ts';
import { until } from '../until.ts';

describe('GET /api/sessions/:id/messages', () => {
  let scene: Scene;
  /** Waits for daemons only as long as a test can, but long enough for a daemon that answers on a busy machine. */
  let hasty: Scene;
  beforeAll(async () => {
    [scene, hasty] = await Promise.all([openScene({ apis: 2 }), openScene({ config: { daemonReplyTimeoutMs: 4000 } })]);
  });
  afterAll(() => Promise.all([scene, hasty].map(({ relay }) => relay.stop())));

  itAsksForCredentials(() => scene.relay, 'readMessages');

  const read = (id: string, query = '', options: { user?: string; api?: number } = {}) =>
    scene.relay.call('GET', pathOf(id, `/messages${query}`), options);
  const readWith = async (id: string, nativeId: string, fields: Record<string, unknown>, query = '') => {
    const [answer, asked] = await Promise.all([read(id, query), answerHistory(scene.daemon, nativeId, fields)]);
    return { page: expectSuccess('readMessages', 200, answer) as MessagePage, asked };
  };
  /** The number of history requests that have reached the gateway so far. */
  const askedFor = async () => {
    const text = await scene.relay.gateways[0]!.metrics.text();
    const [, count = '0'] = /relay_commands_total\{[^}]*kind="history"[^}]*\} (\d+)/.exec(text) ?? [];
    return Number(count);
  };

  it("returns a page of the daemon's history", async () => {
    const id = await report(scene, 'kept');
    const messages = [stored('u1', 'hi'), stored('u2', 'hello', 'AGENT'), stored('u3', 'careful', 'SYSTEM')];
    const { page, asked } = await readWith(id, 'kept', {
      messages,
      has_more: true,
      oldest_uuid: 'u1',
      newest_uuid: 'u3',
    });
    expect(page).toEqual({ messages, hasMore: true, oldestUuid: 'u1', newestUuid: 'u3' });
    expect(asked).toEqual({ type: 'get_messages', request_id: expect.any(String), session_id: 'kept', limit: 50 });
  });

  it.each([
    ['?limit=1', { limit: 1 }],
    ['?limit=200', { limit: 200 }],
    ['?before=u9', { limit: 50, before_uuid: 'u9' }],
    ['?after=u1&limit=3', { limit: 3, after_uuid: 'u1' }],
    ['?after=u1&before=u9', { limit: 50, before_uuid: 'u9', after_uuid: 'u1' }],
  ])('forwards %s', async (query, fields) => {
    const id = await report(scene, `handed on ${query}`);
    const { asked } = await readWith(id, `handed on ${query}`, { messages: [] }, query);
    const { type, request_id, session_id, ...rest } = asked;
    expect([type, typeof request_id, session_id]).toEqual(['get_messages', 'string', `handed on ${query}`]);
    expect(rest).toEqual(fields);
  });

  it('cuts a message over 256 KiB and marks it, and shows an unknown role as SYSTEM', async () => {
    const id = await report(scene, 'long');
    const messages = [stored('u1', 'x'.repeat(limits.messageBytes + 1)), stored('u2', 'beep', 'robot')];
    const { page } = await readWith(id, 'long', { messages });
    expect(page.messages[0]).toEqual({ ...stored('u1', 'x'.repeat(limits.messageBytes)), truncated: true });
    expect(page.messages[1]).toEqual(stored('u2', 'beep', 'SYSTEM'));
  });

  it('accepts the placeholder and the id with slashes and colons for the same session', async () => {
    const begun = await begin(scene, 'a/b:c');
    for (const id of [begun.placeholder, begun.id]) {
      const { page } = await readWith(id, 'a/b:c', { messages: [stored('u1')] });
      expect(page.newestUuid).toBe('u1');
    }
  });

  it('asks the daemon once for simultaneous requests, on any instance', async () => {
    const id = await report(scene, 'popular');
    const before = await askedFor();
    const answers = [0, 1, 0, 1].map((api) => read(id, '?limit=5', { api }));
    const other = read(id, '?limit=6');
    const asked = [5, 6].map((wanted) => scene.daemon.next('get_messages', ({ limit }) => limit === wanted));
    await until('all five are asked', async () => (await askedFor()) === before + 5);
    for (const { request_id } of await Promise.all(asked))
      scene.daemon.send({ type: 'messages', request_id, session_id: 'popular', messages: [stored('u1')] });
    for (const answer of await Promise.all([...answers, other])) expect(answer.body.newestUuid).toBe('u1');
    expect(scene.daemon.inbox.count('get_messages', ({ session_id }) => session_id === 'popular')).toBe(2);
  });

  it('accepts an answer only from the device it asked, and only once', async () => {
    const id = await report(scene, 'guarded');
    const stranger = await connectDaemon(scene.relay, { user: 'mallory' });
    const answer = read(id);
    const asked = await scene.daemon.next('get_messages', ({ session_id }) => session_id === 'guarded');
    stranger.send({
      type: 'messages',
      request_id: asked.request_id,
      session_id: 'guarded',
      messages: [stored('forged')],
    });
    // The stranger's report proves that the gateway handled its frame.
    const proof = { type: 'report_sessions', sessions: [{ session_id: 'proof' }] };
    stranger.send(proof);
    scene.daemon.send({
      type: 'messages',
      request_id: asked.request_id,
      session_id: 'guarded',
      messages: [stored('real')],
    });
    scene.daemon.send({
      type: 'messages',
      request_id: asked.request_id,
      session_id: 'guarded',
      messages: [stored('late')],
    });
    expect((await answer).body.newestUuid).toBe('real');
  });

  it('is 503 while the device is away, with a retry time', async () => {
    const daemon = await connectDaemon(scene.relay);
    const id = await report({ ...scene, daemon }, 'away');
    await daemon.close();
    const answer = await read(id);
    expectRefusal(answer, 'DEVICE_OFFLINE');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expectLimitHeaders(answer);
  });

  it('is 503 immediately when the device disconnects before it answers', async () => {
    const daemon = await connectDaemon(scene.relay);
    const id = await report({ ...scene, daemon }, 'leaving');
    const answer = read(id);
    await daemon.next('get_messages');
    await daemon.drop();
    expectRefusal(await answer, 'DEVICE_OFFLINE');
  });

  it('is 504 when the daemon does not answer, and drops its late answer', async () => {
    const id = await report(hasty, 'slow');
    const readHastily = () => hasty.relay.call('readMessages', { params: { id } });
    expectRefusal(await readHastily(), 'DEVICE_TIMEOUT');
    await answerHistory(hasty.daemon, 'slow', { messages: [stored('late')] });
    const again = readHastily();
    await answerHistory(hasty.daemon, 'slow', { messages: [stored('in time')] });
    expect((await again).body.newestUuid).toBe('in time');
  });

  it('is 502 when the daemon reports an error', async () => {
    const id = await report(scene, 'broken');
    const [answer] = await Promise.all([read(id), answerHistory(scene.daemon, 'broken', { error: 'disk on fire' })]);
    expectRefusal(answer, 'DEVICE_ERROR', 'disk on fire');
  });

  it('is 409 for a session without a name', async () => {
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: scene.daemon.deviceId, message: 'hello' },
    });
    expectRefusal(await read(body.id), 'SESSION_NOT_RESOLVED');
  });

  it('returns 404 for a session that never existed or belongs to another user', async () => {
    const id = await report(scene, 'mine');
    expectRefusal(await read('x:scripted:y'), 'SESSION_NOT_FOUND');
    expectRefusal(await read(id, '', { user: 'mallory' }), 'SESSION_NOT_FOUND');
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['before=', 'before'],
    [`before=${'x'.repeat(513)}`, 'before'],
  ])('refuses %s', async (query, field) => {
    expectRefusal(await read('x:scripted:y', `?${query}`), 'INVALID_REQUEST', field);
  });
});
