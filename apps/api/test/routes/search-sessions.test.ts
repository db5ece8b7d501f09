import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { connectApp, connectDaemon, registerDevice } from '@relay/testing';
import { expectRefusal } from '../answers.ts';
import { type Scene, begin, beginAndEnd, openScene, updateOf } from '../scene.ts';
import { until } from '../until.ts';

describe('GET /api/sessions with q, status and pinned', () => {
  let scene: Scene;
  const native = (session: Session) => session.id.split(':')[2]!;
  beforeAll(async () => {
    scene = await openScene();
    const { daemon, app } = scene;
    const sessions = [
      {
        session_id: 'parser',
        title: 'Fix src/parse_tree.ts',
        project: '/home/ada/garden',
        last_message: 'Überall done',
      },
      { session_id: 'deploy', title: 'Deploy to production', project: '/srv/shop', last_message: 'It failed: 502' },
      { session_id: 'kanji', title: '漢字のテスト', project: '', last_message: '' },
    ].map((entry) => ({ ...entry, last_activity: new Date().toISOString() }));
    daemon.send({ type: 'report_sessions', sessions });
    for (const { session_id: id } of sessions) await updateOf(app, `${daemon.deviceId}:scripted:${id}`);
  });
  afterAll(() => scene.relay.stop());

  const list = async (query: Record<string, string | number>, user = 'alice') =>
    (await scene.relay.call('listSessions', { query, user })).body.sessions;
  const found = async (q: string, user?: string) => (await list({ q }, user)).map(native).sort();

  it.each([
    ['a word of the title', 'deploy', ['deploy']],
    ['a prefix of a word, in any case', 'PARS', ['parser']],
    ['a part of a path', 'tree', ['parser']],
    ['the project', 'garden', ['parser']],
    ['the last message, with letters beyond ASCII', 'überall', ['parser']],
    ['several words, wherever they are', 'shop 502 prod', ['deploy']],
    ['nothing for several words if one is missing', 'shop garden', []],
    ['characters of a script without spaces', '漢字', ['kanji']],
    ['nothing for the middle of a word', 'eploy', []],
    ['nothing for punctuation alone', "' & !:* \\", []],
    ['performance 2: nothing for a prefix of one letter', 'd', []],
    ['performance 2: a prefix of two letters', 'de', ['deploy']],
    ['nothing for punctuation around two words', "'deploy':* & !x'", []],
    ['the same with its words', "'deploy':*", ['deploy']],
  ])('finds %s', async (_what, q, expected) => {
    expect(await found(q)).toEqual(expected);
  });

  it('finds nothing of another user', async () => {
    expect(await found('deploy', 'bob')).toEqual([]);
  });

  it('finds the present text of a session, and not its earlier text', async () => {
    const { id, taskId } = await begin(scene, 'words', 'begin with zebras');
    expect(await found('zebra')).toEqual(['words']);
    scene.daemon.event(taskId, 'TASK_COMPLETE', { result: 'ended with giraffes' });
    await updateOf(scene.app, id, ({ status }) => status === 'idle');
    await scene.relay.call('updateSession', { params: { id }, body: { title: 'Animals' } });
    expect(await found('giraffe anim')).toEqual(['words']);
    expect(await found('zebra')).toEqual([]);
    await scene.relay.call('deleteSession', { params: { id } });
    expect(await found('giraffe')).toEqual([]);
  });

  it('pages through its results, and filters archived sessions', async () => {
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three'])
      ids.push((await beginAndEnd(scene, `paged ${name}`, `penguin ${name}`)).id);
    const first = (await scene.relay.call('listSessions', { query: { q: 'peng', limit: 2 } })).body;
    const query = { q: 'peng', limit: 2, cursor: first.nextCursor! };
    const second = (await scene.relay.call('listSessions', { query })).body;
    expect([...first.sessions, ...second.sessions].map(({ id }) => id)).toEqual(ids.reverse());
    await scene.relay.call('updateSession', { params: { id: ids[0]! }, body: { archived: true } });
    expect(await list({ q: 'peng' })).toHaveLength(2);
    expect(await list({ q: 'peng', archived: 'all' })).toHaveLength(3);
  });

  it('refuses a query that is too long', async () => {
    expectRefusal(await scene.relay.call('listSessions', { query: { q: 'x'.repeat(201) } }), 'INVALID_REQUEST', 'q');
  });

  it('counts a session as failed if its only task has expired, in each filter', async () => {
    const registration = await registerDevice(scene.relay);
    // Long enough for the five lists that must show it before it expires.
    const body = { deviceId: registration.deviceId, message: 'too late', queueTtlSeconds: 5 };
    const { id } = (await scene.relay.call('createSession', { body })).body;
    const statuses = async () => {
      const at: string[] = [];
      for (const status of ['pending', 'failed', 'idle', 'waiting', 'active'] as const)
        if ((await list({ status })).some((session) => session.id === id)) at.push(status);
      return at;
    };
    expect(await statuses()).toEqual(['pending']);
    // A gateway's sweep settles it; the list must not wait for that.
    await until('it is too late', async () =>
      (await list({ q: 'late' })).some((one) => one.id === id && one.status === 'failed'),
    );
    expect(await statuses()).toEqual(['failed']);
  });

  it('lists pinned sessions, which keep their position', async () => {
    const { id } = await beginAndEnd(scene, 'pinned');
    const before = (await scene.relay.call('updateSession', { params: { id }, body: { title: 'x' } })).body;
    const { body } = await scene.relay.call('updateSession', { params: { id }, body: { pinned: true } });
    expect(body).toEqual({ ...before, pinned: true });
    await updateOf(scene.app, id, ({ pinned }) => pinned === true);
    expect((await list({ pinned: 'true' })).map((session) => session.id)).toEqual([id]);
    await scene.relay.call('updateSession', { params: { id }, body: { pinned: false } });
    expect(await list({ pinned: 'true' })).toEqual([]);
  });

  describe('POST /api/sessions/bulk', () => {
    it('archives the sessions of the filter, a bounded part per call, and notifies apps', async () => {
      const app = await connectApp(scene.relay, { since: '' });
      const daemon = await connectDaemon(scene.relay);
      const entries = Array.from({ length: 103 }, (_, index) => ({
        session_id: `bulk${index}`,
        title: 'Bulk',
        last_message: '',
      }));
      daemon.send({ type: 'report_sessions', sessions: entries });
      const { deviceId } = daemon;
      const count = async (archived: string) => (await list({ deviceId, archived, limit: 200 })).length;
      await until('all are reported', async () => (await count('false')) >= entries.length);
      const call = async (action: 'archive' | 'unarchive' | 'delete', filter: object) =>
        (await scene.relay.call('changeSessions', { body: { action, filter: { deviceId, ...filter } } })).body;
      expect(await call('archive', { q: 'bulk', status: 'idle' })).toEqual({ changed: 100, more: true });
      expect(await call('archive', { q: 'bulk' })).toEqual({ changed: 3, more: false });
      expect([await count('false'), await count('true')]).toEqual([0, 103]);
      await updateOf(scene.app, `${deviceId}:scripted:bulk0`, ({ archived }) => archived);
      expect(await call('delete', {})).toEqual({ changed: 0, more: false });
      expect(await call('delete', { archived: 'true', before: '2020-01-01T00:00:00Z' })).toEqual({
        changed: 0,
        more: false,
      });
      expect(await call('unarchive', {})).toEqual({ changed: 100, more: true });
      expect(await call('delete', { archived: 'all' })).toEqual({ changed: 100, more: true });
      expect(await call('delete', { archived: 'all' })).toEqual({ changed: 3, more: false });
      expect(await count('all')).toBe(0);
      await app.next('session_removed', (frame) => frame.sessionId === `${deviceId}:scripted:bulk0`);
      await daemon.close();
      await app.close();
    }, 120_000);

    it('changes only named sessions, and skips unknown names', async () => {
      const app = await connectApp(scene.relay, { since: '' });
      const [one, two, three] = [await beginAndEnd(scene, 'n1'), await beginAndEnd(scene, 'n2'), await beginAndEnd(scene, 'n3')]; // prettier-ignore
      const call = async (action: 'archive' | 'delete', ids: string[], user?: string) =>
        (await scene.relay.call('changeSessions', { body: { action, filter: { ids } }, ...(user ? { user } : {}) }))
          .body;
      expect(await call('archive', [one.id, two.id, 'nothing'])).toEqual({ changed: 2, more: false });
      expect(await call('delete', [three.id], 'bob')).toEqual({ changed: 0, more: false });
      expect(await call('delete', [])).toEqual({ changed: 0, more: false });
      // Archived by now: without a state, a deletion covers only sessions that are not archived.
      expect(await call('delete', [one.id, three.id])).toEqual({ changed: 1, more: false });
      await app.next('session_removed', (frame) => frame.sessionId === three.id);
      const left = (await list({ archived: 'true' })).map(({ id }) => id);
      expect(left).toEqual(expect.arrayContaining([one.id, two.id]));
      await app.close();
    });

    it("cancels running tasks of deleted sessions, and leaves other users' sessions alone", async () => {
      const { id, taskId } = await begin(scene, 'runs and goes', 'ostrich');
      const body = { action: 'delete' as const, filter: { q: 'ostrich' } };
      expect((await scene.relay.call('changeSessions', { body, user: 'bob' })).body).toEqual({
        changed: 0,
        more: false,
      });
      expect((await scene.relay.call('changeSessions', { body })).body).toEqual({ changed: 1, more: false });
      await scene.daemon.next('task_cancel', (frame) => frame.task_id === taskId);
      expectRefusal(await scene.relay.call('readQueue', { params: { id } }), 'SESSION_NOT_FOUND');
    });

    it('requires a filter', async () => {
      const body = { action: 'delete' as const, filter: {} };
      expectRefusal(await scene.relay.call('changeSessions', { body }), 'INVALID_REQUEST', 'filter');
    });
  });
});
