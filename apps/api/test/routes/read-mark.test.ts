import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { connectApp } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, beginAndEnd, openScene, report, updateOf } from '../scene.ts';

describe('PUT and DELETE /api/sessions/:id/read', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ apis: 2 });
  });
  afterAll(() => scene.relay.stop());

  describe('PUT', () => itAsksForCredentials(() => scene.relay, 'markRead', { body: {} }));
  describe('DELETE', () => itAsksForCredentials(() => scene.relay, 'markUnread'));

  const read = async (id: string, upTo?: string) =>
    expectSuccess(
      'markRead',
      200,
      await scene.relay.call('markRead', { params: { id }, body: upTo === undefined ? {} : { upTo } }),
    ) as Session;
  const inList = async (id: string) =>
    (await scene.relay.call('listSessions')).body.sessions.find((session) => session.id === id)!;
  const send = (id: string) => scene.relay.call('sendMessage', { params: { id }, body: { content: 'more' } });

  it("a session is unread after the agent's message, and read on every device once one device read it", async () => {
    const other = await connectApp(scene.relay, { api: 1 });
    const begun = await begin(scene, 'said');
    expect(await inList(begun.id)).not.toHaveProperty('unread');
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'done' });
    const { session } = await updateOf(other, begun.id, ({ unread }) => unread === true);
    const { newsAt, updatedAt } = session as Session;
    const now = await read(begun.id, newsAt);
    expect(now).not.toHaveProperty('unread');
    expect(now).toMatchObject({ newsAt, updatedAt });
    await updateOf(other, begun.id, ({ unread, status }) => unread === undefined && status === 'idle');
    expect(await inList(begun.id)).not.toHaveProperty('unread');
    await other.close();
  });

  it('messages after the given time stay unread', async () => {
    const { id } = await beginAndEnd(scene, 'later');
    const { newsAt } = await inList(id);
    const { taskId } = (await send(id)).body;
    expect(await inList(id)).not.toHaveProperty('unread');
    await scene.daemon.next('task_resume', (frame) => frame.task_id === taskId);
    scene.daemon.event(taskId, 'TASK_COMPLETE', { result: 'done again' });
    await updateOf(scene.app, id, ({ unread }) => unread === true);
    expect(await read(id, newsAt)).toMatchObject({ unread: true });
    // A time in the future counts as now: later messages are unread all the same.
    expect(await read(id, '2100-01-01T00:00:00Z')).not.toHaveProperty('unread');
    expect(await read(id, '2020-01-01T00:00:00Z')).not.toHaveProperty('unread');
    const next = (await send(id)).body.taskId;
    await scene.daemon.next('task_resume', (frame) => frame.task_id === next);
    scene.daemon.event(next, 'ERROR', { error: 'no' });
    await updateOf(scene.app, id, ({ unread, status }) => unread === true && status === 'failed');
  });

  it('a question and a new text of a local session are unread; the first report of a session is not', async () => {
    const { id, taskId } = await begin(scene, 'asked');
    scene.daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'Well?' });
    await updateOf(scene.app, id, ({ unread, status }) => unread === true && status === 'waiting');
    const local = await report(scene, 'local', { last_message: 'first', last_activity: new Date().toISOString() });
    expect(await inList(local)).not.toHaveProperty('unread');
    const entry = { session_id: 'local', last_message: 'second', last_activity: new Date().toISOString() };
    scene.daemon.send({ type: 'report_sessions', sessions: [entry] });
    await updateOf(scene.app, local, ({ unread, lastMessage }) => unread === true && lastMessage === 'second');
  });

  it('marks as unread again, also a session without news', async () => {
    const id = await report(scene, 'never news');
    const marked = await scene.relay.call('markUnread', { params: { id } });
    expect(expectSuccess('markUnread', 200, marked)).toMatchObject({ unread: true });
    await updateOf(scene.app, id, ({ unread }) => unread === true);
    expect(await read(id)).not.toHaveProperty('unread');
  });

  it('writes nothing if there is nothing to read', async () => {
    const { id } = await beginAndEnd(scene, 'nothing');
    await read(id);
    const before = await versionOf(id);
    await read(id);
    expect(await versionOf(id)).toBe(before);
  });

  const versionOf = async (id: string) => {
    const { models } = scene.relay.database;
    const row = await models.session.findFirstOrThrow({ where: { nativeId: id.split(':')[2]! } });
    return row.version;
  };

  it('returns 404 for another user and 400 for an invalid time', async () => {
    const { id } = await beginAndEnd(scene, 'mine');
    expectRefusal(await scene.relay.call('markRead', { params: { id }, user: 'bob' }), 'SESSION_NOT_FOUND');
    expectRefusal(await scene.relay.call('markUnread', { params: { id }, user: 'bob' }), 'SESSION_NOT_FOUND');
    expectRefusal(await scene.relay.call('markRead', { params: { id }, body: { upTo: 'now' } }), 'INVALID_REQUEST');
  });
});
