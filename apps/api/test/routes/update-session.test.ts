import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report, updateOf } from '../scene.ts';

describe('PATCH /api/sessions/:id', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'updateSession', { body: { title: 'x' } });

  const patch = (id: string, body: Record<string, unknown>, user = 'alice') =>
    scene.relay.call('updateSession', { params: { id }, user, body });
  const patched = async (id: string, body: Record<string, unknown>) =>
    expectSuccess('updateSession', 200, await patch(id, body)) as Session;
  const listed = async (id: string) => {
    const { body } = await scene.relay.call('listSessions', { query: { archived: 'all' } });
    return (body.sessions as Session[]).find((session) => session.id === id);
  };

  it('renames, and notifies the apps', async () => {
    const id = await report(scene, 'renamed', { title: 'old' });
    const session = await patched(id, { title: '  new ' });
    expect(session).toMatchObject({ id, title: 'new', archived: false });
    expect((await updateOf(scene.app, id, ({ title }) => title === 'new')).session).toEqual(session);
    expect(await listed(id)).toEqual(session);
  });

  it("keeps a person's title when the daemon reports another", async () => {
    const id = await report(scene, 'mine', { title: 'of the daemon' });
    await patched(id, { title: 'of the person' });
    scene.daemon.send({
      type: 'report_sessions',
      sessions: [{ session_id: 'mine', title: 'of the daemon again', last_message: 'changed' }],
    });
    const { session } = await updateOf(scene.app, id, ({ lastMessage }) => lastMessage === 'changed');
    expect(session).toMatchObject({ title: 'of the person' });
  });

  it('archives and restores, and notifies the apps', async () => {
    const id = await report(scene, 'archived', { title: 'stays' });
    expect(await patched(id, { archived: true })).toMatchObject({ archived: true, title: 'stays' });
    await updateOf(scene.app, id, ({ archived }) => archived);
    expect(await patched(id, { archived: false })).toMatchObject({ archived: false });
    await updateOf(scene.app, id, ({ archived }) => !archived);
  });

  it('does both in one request', async () => {
    const id = await report(scene, 'both');
    expect(await patched(id, { title: 'both', archived: true })).toMatchObject({ title: 'both', archived: true });
  });

  it('moves the session to the front', async () => {
    const id = await report(scene, 'moved', { last_activity: '2026-01-01T00:00:00Z' });
    const { updatedAt, createdAt } = await patched(id, { title: 'moved' });
    expect(createdAt).toBe('2026-01-01T00:00:00.000Z');
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(createdAt));
    expect((await scene.relay.call('listSessions', { query: { limit: 1 } })).body.sessions[0]!.id).toBe(id);
  });

  it('accepts every id the session ever had, and does not disturb a running task', async () => {
    const begun = await begin(scene, 'a/b:c');
    expect(await patched(begun.placeholder, { title: 'by its first id' })).toMatchObject({
      id: begun.id,
      status: 'active',
      title: 'by its first id',
    });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['nothing', {}, /./],
    ['only unknown fields', { colour: 'green', status: 'idle' }, /title.*archived/],
    ['an empty title', { title: '' }, /title/],
    ['a blank title', { title: ' \t' }, /title/],
    ['a title over the limit', { title: 'x'.repeat(201) }, /title/],
    ['a title that is not text', { title: null }, /title/],
    ['archived that is not a boolean', { archived: 'true' }, /archived/],
  ])('refuses %s and changes nothing', async (what, body, naming) => {
    const id = await report(scene, `refused ${what}`, { title: 'as it was' });
    const before = await listed(id);
    expectRefusal(await patch(id, body), 'INVALID_REQUEST', naming);
    expect(await listed(id)).toEqual(before);
  });

  it('returns 404 for a session that never existed, was deleted, or belongs to another user', async () => {
    const id = await report(scene, 'gone');
    expectRefusal(await patch(id, { title: 'x' }, 'mallory'), 'SESSION_NOT_FOUND');
    await scene.relay.call('deleteSession', { params: { id } });
    expectRefusal(await patch(id, { title: 'x' }), 'SESSION_NOT_FOUND');
    expectRefusal(await patch('x:scripted:y', { title: 'x' }), 'SESSION_NOT_FOUND');
  });
});
