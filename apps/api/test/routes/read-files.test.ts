/**
 * GET /api/sessions/:id/changes, …/changes/diff, …/files and …/files/content: requests that the daemon answers (rules,
 * 25).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { untilTask } from '../until.ts';

describe('files of a session', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let id: string;

  const session = async (of: TestDaemon, native: string) => {
    const { body } = await relay.call('createSession', { body: { deviceId: of.deviceId, message: 'hello' } });
    await of.next('task_start', (frame) => frame.task_id === body.taskId);
    of.event(body.taskId, 'TASK_COMPLETE', { session_id: native, result: 'done' });
    await untilTask(relay, body.taskId, 'completed');
    return `${of.deviceId}:scripted:${native}`;
  };
  const change = { path: 'src/a.ts', change: 'edit', added: 2, removed: 1 };
  const list = {
    scope: 'uncommitted',
    scopes: ['uncommitted', 'edits'],
    root: '/home/ada/garden',
    files: [change],
    count: 1,
  };
  const answer = async (request: string, fields: object) => {
    const frame = await daemon.next(request);
    daemon.send({ type: request.replace('get_', ''), request_id: frame.request_id, ...fields });
    return frame;
  };
  const params = () => ({ id });
  const path = (tail: string, of = id) => `/api/sessions/${encodeURIComponent(of)}/${tail}`;

  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
    daemon = await connectDaemon(relay, { gateway: 1, capabilities: ['changes', 'browse'] });
    id = await session(daemon, 'kept');
  });
  afterAll(() => relay.stop());

  it("return the daemon's answer, in camelCase and with no-store", async () => {
    const changes = relay.call('readChanges', { params: params(), query: { scope: 'session' } });
    const asked = await answer('get_changes', { session_id: 'kept', ...list, branch: null });
    expect(asked).toMatchObject({ session_id: 'kept', scope: 'session', limit: 500 });
    const answered = await changes;
    expect([answered.status, answered.body, answered.headers['cache-control']]).toEqual([200, list, 'no-store']);

    const diff = relay.call('readDiff', { params: params(), query: { path: 'src/a.ts', from: 2 } });
    const hunks = [{ old: 1, new: 1, lines: ['-a', '+b'] }];
    const askedDiff = await answer('get_diff', { path: 'src/a.ts', change, hunks, includes_earlier: true, next: 3 });
    expect(askedDiff).toMatchObject({ scope: 'uncommitted', path: 'src/a.ts', from: 2 });
    expect((await diff).body).toEqual({ path: 'src/a.ts', change, hunks, includesEarlier: true, next: 3 });

    const files = relay.call('listFiles', { params: params(), query: { find: 'lim' } });
    expect(await answer('get_files', { path: '', entries: [] })).toMatchObject({ find: 'lim' });
    expect((await files).body).toEqual({ path: '', entries: [] });

    const file = relay.call('readFile', {
      params: params(),
      query: { path: 'a', offset: 4, limit: 10, side: 'before' },
    });
    const piece = { path: 'a', kind: 'text', bytes: 20, text: 'words', next: 14 };
    expect(await answer('get_file', piece)).toMatchObject({ path: 'a', offset: 4, limit: 10, side: 'before' });
    expect((await file).body).toEqual(piece);
  });

  it.each([
    ['FILE_NOT_FOUND', 404],
    ['FILE_HIDDEN', 403],
    ['SCOPE_NOT_AVAILABLE', 409],
    ['CHANGES_TOO_LARGE', 413],
    ['NOT_SUPPORTED_BY_DEVICE', 409],
    ['SOMETHING_ELSE', 502],
  ])("return, for the daemon's %s, status %d without its text", async (code, status) => {
    const asked = relay.call('readDiff', { params: params(), query: { path: 'a' } });
    await answer('get_diff', { code, error: '/home/ada/secret', scopes: ['edits'] });
    const { body, status: answered } = await asked;
    expect(answered).toBe(status);
    if (status === 502) return expect(body.code).toBe('DEVICE_ERROR');
    expect(body).toMatchObject({ code, scopes: ['edits'] });
    return expect(body.error).not.toContain('/home/ada');
  });

  it('are a 502 for an invalid answer, and the api ignores an answer to another request', async () => {
    const asked = relay.call('readChanges', { params: params(), query: { scope: 'turn' } });
    const frame = await daemon.next('get_changes', ({ scope }) => scope === 'turn');
    daemon.send({ type: 'diff', request_id: frame.request_id, path: 'a', change, hunks: [] });
    daemon.send({ type: 'changes', request_id: 'another', ...list });
    daemon.send({ type: 'changes', request_id: frame.request_id, scope: 'turn' });
    daemon.send({ type: 'changes', request_id: frame.request_id, ...list });
    expect(await asked).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
  });

  it('are for their user only, with a token that can read', async () => {
    for (const tail of ['changes', 'changes/diff?path=a', 'files', 'files/content?path=a']) {
      expect((await relay.call('GET', path(tail), { user: 'bob' })).status).toBe(404);
      expect((await relay.call('GET', path(tail), { user: null })).status).toBe(401);
      const device = { Authorization: `Bearer ${daemon.registration.refreshToken}` };
      expect((await relay.call('GET', path(tail), { user: null, headers: device })).status).toBe(403);
    }
    expect((await relay.call('GET', path('changes?scope=commit'))).status).toBe(400);
    expect((await relay.call('GET', path('files/content?path=a&limit=999999'))).status).toBe(400);
  });

  it('never reach a daemon that did not declare them', async () => {
    for (const capabilities of [[], ['browse'], ['transcript', 'content']] as const) {
      const plain = await connectDaemon(relay, { capabilities });
      const its = await session(plain, `plain-${capabilities.length}`);
      for (const tail of ['changes', 'changes/diff?path=a', 'files', 'files/content?path=a'])
        expect((await relay.call('GET', path(tail, its))).body).toMatchObject({ code: 'NOT_SUPPORTED_BY_DEVICE' });
      const asked = plain.inbox.all.map(({ type }) => type).filter((type) => /^get_(changes|diff|files?)$/.test(type));
      expect(asked).toEqual([]);
      await plain.close();
    }
    const listsOnly = await connectDaemon(relay, { capabilities: ['changes'] });
    const its = await session(listsOnly, 'lists');
    expect((await relay.call('GET', path('files', its))).body).toMatchObject({ code: 'NOT_SUPPORTED_BY_DEVICE' });
    const asked = relay.call('GET', path('changes', its));
    // This daemon gets only the frame for lists.
    const frame = await listsOnly.next('get_changes');
    listsOnly.send({ type: 'changes', request_id: frame.request_id, ...list });
    expect((await asked).status).toBe(200);
  });
});
