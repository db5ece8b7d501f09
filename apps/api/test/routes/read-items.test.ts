import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MessagePage, type SessionDetail, transcriptLimits } from '@relay/protocol';
import { type TestDaemon, connectDaemon } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { answerHistory, stored } from '../daemon-history.ts';
import { until } from '../until.ts';
import { type Scene, openScene, pathOf, report } from '../scene.ts';

const item = (seq: number, part: unknown = { kind: 'text' }) => ({
  ...stored(`u${seq}`, `content ${seq}`, 'AGENT'),
  seq,
  v: 100 + seq,
  turn: 'u1',
  part,
});

/** ADR 35: history with parts. */
describe('GET /api/sessions/:id/messages?parts=1', () => {
  let scene: Scene;
  let plain: TestDaemon;
  beforeAll(async () => {
    scene = await openScene({ apis: 2, gateways: 2 });
    plain = scene.daemon;
    scene = { ...scene, daemon: await connectDaemon(scene.relay, { gateway: 1, capabilities: ['transcript'] }) };
  });
  afterAll(() => scene.relay.stop());

  const get = (id: string, query: string) => scene.relay.call('GET', pathOf(id, query), { api: 1 });
  /** The answer to this query if the daemon sends these fields, and the daemon's request. */
  const read = async (nativeId: string, query: string, fields: Record<string, unknown>) => {
    const id = await report(scene, nativeId);
    const [answer, asked] = await Promise.all([get(id, query), answerHistory(scene.daemon, nativeId, fields)]);
    return { answer, asked };
  };
  /** The number of history requests that have reached the daemon's gateway so far. */
  const questions = async () => {
    const text = await scene.relay.gateways[1]!.metrics.text();
    return Number(/relay_commands_total\{[^}]*kind="history"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const messages = [
    item(1, { kind: 'user' }),
    item(2, { kind: 'hologram', of: { v: 1, deep: [null] } }),
    item(3, 'no part at all'),
    item(4, null),
  ];

  it('returns items and the version, exactly as the daemon wrote them', async () => {
    const { answer, asked } = await read('items', '/messages?parts=1', {
      v: 104,
      has_more: true,
      oldest_uuid: 'u1',
      newest_uuid: 'u4',
      messages,
    });
    expect(expectSuccess('readMessages', 200, { ...answer, body: { ...answer.body, messages: [] } })).toBeDefined();
    expect(answer.body as MessagePage).toEqual({ v: 104, hasMore: true, oldestUuid: 'u1', newestUuid: 'u4', messages });
    expect(answer.text).toContain(JSON.stringify(messages));
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(asked).toEqual({
      type: 'get_messages',
      request_id: expect.any(String),
      session_id: 'items',
      limit: 50,
      parts: true,
    });
  });

  it('sends the cursor, or the known version instead, and forwards a reset', async () => {
    const before = await read('asks', '/messages?parts=1&limit=3&before=u9', { v: 9, messages: [] });
    expect(before.asked).toMatchObject({ limit: 3, parts: true, before_uuid: 'u9' });
    expect(before.asked).not.toHaveProperty('changed');
    const changed = await read('asks too', '/messages?parts=1&changed=103&after=u1', { v: 104, messages: [item(4)] });
    expect(changed.asked).toMatchObject({ limit: 50, parts: true, changed: 103 });
    expect(changed.asked).not.toHaveProperty('after_uuid');
    expect(changed.answer.body).toEqual({
      v: 104,
      hasMore: false,
      oldestUuid: 'u4',
      newestUuid: 'u4',
      messages: [item(4)],
    });
    const lost = await read('forgotten', '/messages?parts=1&changed=999', { v: 104, reset: true, messages });
    expect(lost.answer.body).toMatchObject({ v: 104, reset: true, messages });
  });

  it('works in the session route as well', async () => {
    const { answer } = await read('detail', '?parts=1', { v: 104, messages });
    expect(answer.body as SessionDetail).toMatchObject({ title: '', agentType: 'scripted', v: 104, messages });
    expect(answer.body).not.toHaveProperty('messagesError');
  });

  it('encodes an answer again if it could override our members', async () => {
    const forge = { id: 'stolen', title: 'stolen', hasMore: true };
    const behind = await read('forger', '?parts=1', { v: 1, messages: [item(1)], ...forge });
    expect(behind.answer.body).toMatchObject({ title: '', hasMore: false, messages: [item(1)] });
    const before = await read('forger 2', '?parts=1', { ...forge, v: 1, messages: [item(1)] });
    expect(before.answer.body).toMatchObject({ title: '', hasMore: false, messages: [item(1)] });
    const brace = await read('forg{er', '/messages?parts=1', { v: 1, messages: [item(1)] });
    expect(brace.answer.body).toMatchObject({ v: 1, messages: [item(1)] });
    const none = await read('empty', '/messages?parts=1', { v: 1 });
    expect(none.answer.body).toEqual({ v: 1, hasMore: false, oldestUuid: null, newestUuid: null, messages: [] });
  });

  it('shares one request for equal queries, and sends another for messages', async () => {
    const id = await report(scene, 'both');
    const before = await questions();
    const answers = ['/messages', '/messages?parts=1', '/messages?parts=1', '/messages?parts=1&changed=5'].map(
      (query) => get(id, query),
    );
    const mine = (fits: (frame: Record<string, unknown>) => boolean) =>
      scene.daemon.next('get_messages', (frame) => frame.session_id === 'both' && fits(frame));
    const asked = [
      await mine(({ parts }) => parts === undefined),
      await mine(({ parts, changed }) => parts === true && changed === undefined),
      await mine(({ changed }) => changed === 5),
    ];
    await until('all four are asked', async () => (await questions()) === before + 4);
    for (const [n, { request_id }] of asked.entries())
      scene.daemon.send({ type: 'messages', request_id, ...(n > 0 ? { v: n } : {}), messages: [item(n + 1)] });
    const bodies = (await Promise.all(answers)).map(({ body }) => body as MessagePage);
    expect(bodies.map(({ v, newestUuid }) => [v, newestUuid])).toEqual([
      [undefined, 'u1'],
      [1, 'u2'],
      [1, 'u2'],
      [2, 'u3'],
    ]);
    expect(scene.daemon.inbox.count('get_messages', ({ session_id }) => session_id === 'both')).toBe(3);
  });

  it('for a daemon without transcript returns the old page: no v and no part, and the old request', async () => {
    const id = await report({ ...scene, daemon: plain }, 'plain');
    const [answer, asked] = await Promise.all([
      get(id, '/messages?parts=1&changed=7&limit=2'),
      answerHistory(plain, 'plain', { messages: [item(1), item(2)], has_more: false }),
    ]);
    expect(asked).toEqual({ type: 'get_messages', request_id: expect.any(String), session_id: 'plain', limit: 2 });
    expect(expectSuccess('readMessages', 200, answer)).toEqual({
      messages: [stored('u1', 'content 1', 'AGENT'), stored('u2', 'content 2', 'AGENT')],
      hasMore: false,
      oldestUuid: 'u1',
      newestUuid: 'u2',
    });
  });

  it('changes nothing for an app without parts=1: messages alone, without fields of items', async () => {
    for (const query of ['/messages', '/messages?parts=0', '/messages?changed=5', '']) {
      const { answer, asked } = await read(`old app ${query}`, query, { v: 9, messages });
      expect(asked).not.toHaveProperty('parts');
      expect(asked).not.toHaveProperty('changed');
      // An item of an unknown kind is not a message; an item without a kind is one.
      expect(answer.body.messages).toEqual([1, 3, 4].map((n) => stored(`u${n}`, `content ${n}`, 'AGENT')));
      expect(answer.body).not.toHaveProperty('v');
    }
  });

  it('is 502 when the daemon reports an error, or sends far more than a page', async () => {
    const failed = await read('broken', '/messages?parts=1', { v: 1, error: 'disk on fire' });
    expectRefusal(failed.answer, 'DEVICE_ERROR', 'disk on fire');
    const filler = 'x'.repeat(transcriptLimits.textBytes);
    const many = Array.from({ length: 9 }, (_, n) => ({ ...item(n), content: filler }));
    const long = await read('endless', '/messages?parts=1', { v: 1, messages: many });
    expectRefusal(long.answer, 'DEVICE_ERROR', 'too much');
  });

  it.each(['parts=2', 'parts=1&changed=-1', 'parts=1&changed=x'])('refuses %s', async (query) => {
    expectRefusal(await get('x:scripted:y', `/messages?${query}`), 'INVALID_REQUEST');
  });
});
