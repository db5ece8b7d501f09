import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session, SessionDetail } from '@relay/protocol';
import { type TestDaemon, connectApp, connectDaemon } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { answerHistory, stored } from '../daemon-history.ts';
import { type Scene, begin, beginAndEnd, openScene, pathOf, report, updateOf } from '../scene.ts';

describe('GET /api/sessions/:id', () => {
  let scene: Scene;
  /** Waits for daemons only as long as a test can. */
  let hasty: Scene;
  beforeAll(async () => {
    [scene, hasty] = await Promise.all([openScene(), openScene({ config: { daemonReplyTimeoutMs: 1000 } })]);
  });
  afterAll(() => Promise.all([scene, hasty].map(({ relay }) => relay.stop())));

  itAsksForCredentials(() => scene.relay, 'readSession');

  const read = (id: string, query = '', user = 'alice') => scene.relay.call('GET', pathOf(id, query), { user });

  /** Reads while the daemon answers. */
  const readWith = async (id: string, nativeId: string, fields: Record<string, unknown> = {}, query = '') => {
    const [answer, asked] = await Promise.all([read(id, query), answerHistory(scene.daemon, nativeId, fields)]);
    return { body: expectSuccess('readSession', 200, answer) as SessionDetail, asked };
  };

  it('returns the fields of the session, flat, with a page of its messages', async () => {
    const { id } = await beginAndEnd(scene, 'plain');
    const messages = [stored('u1'), stored('u2', 'done', 'AGENT')];
    const { body, asked } = await readWith(id, 'plain', {
      messages,
      has_more: true,
      oldest_uuid: 'u1',
      newest_uuid: 'u2',
    });
    expect(asked).toMatchObject({ limit: 50 });
    expect(asked).not.toHaveProperty('before_uuid');
    expect(body).toMatchObject({
      id,
      status: 'idle',
      lastMessage: 'done',
      messages,
      hasMore: true,
      oldestUuid: 'u1',
      newestUuid: 'u2',
    });
    expect(body).not.toHaveProperty('messagesError');
    const listed = ((await scene.relay.call('listSessions')).body.sessions as Session[]).find(
      (session) => session.id === id,
    );
    expect(body).toMatchObject(listed!);
  });

  it('forwards the requested page to the daemon', async () => {
    const id = await report(scene, 'paged');
    const { asked } = await readWith(id, 'paged', { messages: [] }, '?limit=7&before=b%2F1&after=a%3A1');
    expect(asked).toMatchObject({ limit: 7, before_uuid: 'b/1', after_uuid: 'a:1' });
  });

  it('accepts every id the session ever had, and returns its present one', async () => {
    const nativeId = 'C:/work/a b:c/ü?#%41';
    const begun = await begin(scene, nativeId);
    for (const id of [begun.placeholder, begun.id]) {
      const { body } = await readWith(id, nativeId, { messages: [] });
      expect(body.id).toBe(`${scene.daemon.deviceId}:scripted:${nativeId}`);
    }
  });

  it('shows the prompt while the agent waits, and the progress while it works', async () => {
    const begun = await begin(scene, 'asking');
    scene.daemon.event(begun.taskId, 'PROGRESS', { action: 'Reading', target: 'a.ts' });
    await updateOf(scene.app, begun.id, ({ progress }) => progress?.action === 'Reading');
    scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', {
      prompt: 'Sure?',
      options: [{ label: 'Yes' }, { label: 'No' }],
    });
    await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting');
    const { body } = await readWith(begun.id, 'asking', { messages: [] });
    expect(body).toMatchObject({
      status: 'waiting',
      prompt: { prompt: 'Sure?', result: '', options: [{ label: 'Yes' }, { label: 'No' }], at: expect.any(String) },
      lastTask: { id: begun.taskId, state: 'waiting' },
    });
    expect(body).not.toHaveProperty('progress');
  });

  describe('gives the reason for missing messages in messagesError, with 200:', () => {
    const emptyPage = { messages: [], hasMore: false, oldestUuid: null, newestUuid: null };
    const failed = async (id: string) => expectSuccess('readSession', 200, await read(id)) as SessionDetail;

    it('the daemon has not named the session', async () => {
      const { body } = await scene.relay.call('createSession', {
        body: { deviceId: scene.daemon.deviceId, message: 'hello' },
      });
      const detail = await failed(body.id);
      expect(detail).toMatchObject({ ...emptyPage, id: body.id, messagesError: { code: 'SESSION_NOT_RESOLVED' } });
    });

    it('the device is away', async () => {
      const daemon: TestDaemon = await connectDaemon(scene.relay);
      const id = await report({ ...scene, daemon }, 'left behind');
      await daemon.close();
      expect(await failed(id)).toMatchObject({ ...emptyPage, messagesError: { code: 'DEVICE_OFFLINE' } });
    });

    it('the device disconnects before it answers', async () => {
      const daemon = await connectDaemon(scene.relay);
      const id = await report({ ...scene, daemon }, 'leaving');
      const answer = failed(id);
      await daemon.next('get_messages');
      await daemon.drop();
      expect((await answer).messagesError).toMatchObject({ code: 'DEVICE_OFFLINE' });
    });

    it('the daemon does not answer in time', async () => {
      const id = await report(hasty, 'silent');
      const answer = await hasty.relay.call('readSession', { params: { id } });
      expect(expectSuccess('readSession', 200, answer)).toMatchObject({
        ...emptyPage,
        messagesError: { code: 'DEVICE_TIMEOUT' },
      });
    });

    it('the daemon reports an error', async () => {
      const id = await report(scene, 'broken');
      const { body } = await readWith(id, 'broken', { error: 'file is gone', messages: [stored('never shown')] });
      expect(body).toMatchObject({ ...emptyPage, messagesError: { code: 'DEVICE_ERROR' } });
      expect(body.messagesError?.error).toContain('file is gone');
    });
  });

  it('returns null as oldest and newest uuid of an empty page, and fills in uuids that a daemon omits', async () => {
    const id = await report(scene, 'ends');
    expect((await readWith(id, 'ends', {})).body).toMatchObject({
      messages: [],
      hasMore: false,
      oldestUuid: null,
      newestUuid: null,
    });
    const page = { messages: [stored('first'), stored('last')] };
    expect((await readWith(id, 'ends', page)).body).toMatchObject({
      hasMore: false,
      oldestUuid: 'first',
      newestUuid: 'last',
    });
  });

  it('makes the daemon watch the session for a connected user, and not for one without a connection', async () => {
    const daemon = await connectDaemon(scene.relay, { user: 'carol' });
    const carol = await connectApp(scene.relay, { user: 'carol' });
    const [first, second] = [
      await report({ ...scene, daemon, app: carol }, 'unseen'),
      await report({ ...scene, daemon, app: carol }, 'seen'),
    ];
    const readOnce = async (id: string, nativeId: string) => {
      await Promise.all([read(id, '', 'carol'), answerHistory(daemon, nativeId, { messages: [] })]);
    };
    await carol.close();
    await readOnce(first, 'unseen');
    const again = await connectApp(scene.relay, { user: 'carol' });
    await readOnce(second, 'seen');
    expect(await daemon.next('watch_session')).toMatchObject({ session_id: 'seen' });
    expect(daemon.inbox.count('watch_session')).toBe(1);
    await again.close();
  });

  it('returns 404 for an id that never existed, is invalid, or belongs to another user', async () => {
    const id = await report(scene, 'mine');
    for (const unknown of ['x:scripted:y', 'garbage', ':::', 'a:b:', `x:scripted:${'y'.repeat(600)}`])
      expectRefusal(await read(unknown), 'SESSION_NOT_FOUND');
    expectRefusal(await read(id, '', 'mallory'), 'SESSION_NOT_FOUND');
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=many', 'limit'],
    ['before=', 'before'],
    [`after=${'x'.repeat(513)}`, 'after'],
  ])('refuses %s', async (query, field) => {
    expectRefusal(await read('x:scripted:y', `?${query}`), 'INVALID_REQUEST', field);
  });
});
