import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session, SessionList } from '@relay/protocol';
import { connectDaemon } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, report } from '../scene.ts';
import { until } from '../until.ts';

describe('GET /api/sessions', () => {
  let scene: Scene;
  /** Ids of the sessions of the first device, oldest first. */
  const ids: string[] = [];
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

  beforeAll(async () => {
    scene = await openScene();
    // One report for all, so that several have exactly the same time.
    const { daemon, app } = scene;
    const sessions = [0, 1, 2, 2, 2, 3, 4].map((second, index) => ({
      session_id: `s${index}`,
      title: `title ${index}`,
      last_message: `message ${index}`,
      last_activity: at(second),
      is_active: index === 6,
      message_count: index + 1,
    }));
    daemon.send({ type: 'report_sessions', sessions });
    for (const { session_id } of sessions) {
      const id = `${daemon.deviceId}:scripted:${session_id}`;
      ids.push(id);
      await app.next('session_update', (frame) => (frame.session as Session).id === id);
    }
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'listSessions');

  const list = async (query = '', user = 'alice') => {
    const answer = await scene.relay.call('GET', `/api/sessions${query}`, { user });
    return expectSuccess('listSessions', 200, answer) as SessionList;
  };

  /** Reads all pages. */
  const walk = async (query: string, between: (page: number) => Promise<unknown> = () => Promise.resolve()) => {
    const seen: Session[] = [];
    let cursor: string | undefined;
    let page = 0;
    do {
      const found = await list(`?${query}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      seen.push(...found.sessions);
      cursor = found.nextCursor;
      page += 1;
      if (cursor !== undefined) await between(page);
    } while (cursor !== undefined);
    return { seen, pages: page };
  };

  it('lists the sessions that daemons reported, newest first, complete and without a next page', async () => {
    const { sessions, nextCursor } = await list();
    expect(nextCursor).toBeUndefined();
    expect(sessions).toHaveLength(ids.length);
    const times = sessions.map(({ updatedAt }) => updatedAt);
    expect(times).toEqual([...times].sort().reverse());
    expect(sessions[0]).toEqual({
      id: ids[6],
      title: 'title 6',
      status: 'active',
      agentType: 'scripted',
      deviceId: scene.daemon.deviceId,
      projectPath: '',
      createdAt: at(4),
      updatedAt: at(4),
      messageCount: 7,
      lastMessage: 'message 6',
      archived: false,
      watched: false,
    });
  });

  it('returns pages of any size that together are complete, each session once', async () => {
    const whole = (await list()).sessions.map(({ id }) => id);
    for (const limit of [1, 2, 3, 6, 7, 200]) {
      const { seen, pages } = await walk(`limit=${limit}`);
      expect(seen.map(({ id }) => id)).toEqual(whole);
      expect(pages).toBe(Math.ceil(whole.length / limit));
    }
  });

  it('skips and repeats no unchanged session while others move to the front', async () => {
    const moving = ids[0]!;
    const { seen } = await walk('limit=2', (page) =>
      scene.relay.call('updateSession', { params: { id: moving }, body: { title: `moved ${page}` } }),
    );
    const others = seen.map(({ id }) => id).filter((id) => id !== moving);
    expect(others).toEqual([...new Set(others)]);
    expect(new Set(others)).toEqual(new Set(ids.slice(1)));
  });

  it('filters by one device, by another, and by an unknown one', async () => {
    const other = await connectDaemon(scene.relay);
    const mine = { ...scene, daemon: other };
    const id = await report(mine, 'elsewhere');
    expect((await list(`?deviceId=${other.deviceId}`)).sessions.map((session) => session.id)).toEqual([id]);
    expect((await list(`?deviceId=${scene.daemon.deviceId}`)).sessions).toHaveLength(ids.length);
    expect(await list('?deviceId=unknown')).toEqual({ sessions: [] });
    expect(await list(`?deviceId=${other.deviceId}`, 'bob')).toEqual({ sessions: [] });
  });

  it('filters by state', async () => {
    const begun = await begin(scene, 'running');
    const active = (await list('?status=active')).sessions;
    expect(active.map(({ id }) => id).sort()).toEqual([begun.id, ids[6]].sort());
    expect((await list('?status=idle')).sessions.every(({ status }) => status === 'idle')).toBe(true);
    expect((await list('?status=waiting')).sessions).toEqual([]);
    expectRefusal(await scene.relay.call('listSessions', { query: { status: 'odd' } }), 'INVALID_REQUEST', 'status');
  });

  it('counts a session as failed from the moment its only task expires, before any sweep', async () => {
    const away = await connectDaemon(scene.relay);
    await away.close();
    const { body } = await scene.relay.call('createSession', {
      body: { deviceId: away.deviceId, message: 'away', queueTtlSeconds: 1 },
    });
    const failed = await scene.app.next('session_update', (frame) => {
      const session = frame.session as Session;
      return session.id === body.id && session.status === 'failed';
    });
    expect(failed.session).toMatchObject({ lastTask: { state: 'expired', code: 'TASK_EXPIRED' } });
    expect((await list(`?status=failed&deviceId=${away.deviceId}`)).sessions).toEqual([failed.session]);
    expect((await list(`?status=pending&deviceId=${away.deviceId}`)).sessions).toEqual([]);
  });

  it('omits archived sessions, lists only them, or all', async () => {
    const archived = ids[3]!;
    await scene.relay.call('updateSession', { params: { id: archived }, body: { archived: true } });
    const idsOf = async (query: string) => (await list(query)).sessions.map(({ id }) => id);
    expect(await idsOf('')).not.toContain(archived);
    expect(await idsOf('?archived=false')).not.toContain(archived);
    expect(await idsOf('?archived=true')).toEqual([archived]);
    expect(await idsOf('?archived=all')).toEqual(expect.arrayContaining([archived, ids[4]]));
    expectRefusal(
      await scene.relay.call('listSessions', { query: { archived: 'maybe' } }),
      'INVALID_REQUEST',
      'archived',
    );
    await scene.relay.call('updateSession', { params: { id: archived }, body: { archived: false } });
    expect(await idsOf('')).toContain(archived);
  });

  it.each(['0', '201', '-1', '1.5', 'ten', '', '1e9', '1&limit=2'])('refuses limit=%s', async (limit) => {
    expectRefusal(await scene.relay.call('listSessions', { query: { limit } }), 'INVALID_REQUEST', 'limit');
  });

  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each([
    'garbage',
    '%00',
    '',
    cursorOf([]),
    cursorOf({ at: 1 }),
    cursorOf(['yesterday', 'x']),
    cursorOf([1, 2]),
    cursorOf(['2026-01-01T00:00:00.000Z', 'x\0']),
    cursorOf(['+275760-09-13T00:00:00.001Z', 'x']),
    `${'A'.repeat(600)}`,
  ])('refuses the cursor %s', async (cursor) => {
    const answer = await scene.relay.call('listSessions', { query: { cursor } });
    expect({ cursor, status: answer.status }).toMatchObject({ status: cursor === '' ? answer.status : 400 });
    expectRefusal(answer, 'INVALID_REQUEST');
  });

  it('accepts a cursor whose session is gone', async () => {
    expect(
      await list(`?cursor=${cursorOf(['2026-01-01T00:00:01.000Z', 'gone'])}&deviceId=${scene.daemon.deviceId}`),
    ).toMatchObject({
      sessions: expect.any(Array),
    });
    expect(await list(`?cursor=${cursorOf(['0001-01-01T00:00:00.000Z', 'x'])}`)).toEqual({ sessions: [] });
  });

  it('gives another user nothing for a cursor of mine', async () => {
    const { nextCursor } = await list('?limit=1');
    expect(await list(`?cursor=${nextCursor}`, 'bob')).toEqual({ sessions: [] });
  });

  it('performance 11: lists 100 sessions without a limit in the request, and returns a cursor for the rest', async () => {
    const daemon = await connectDaemon(scene.relay, { user: 'collector' });
    const sessions = Array.from({ length: 101 }, (_, n) => ({ session_id: `n${n}`, last_activity: at(n % 60) }));
    daemon.send({ type: 'report_sessions', sessions });
    const page = async (query: string) => {
      const answer = await scene.relay.call('GET', `/api/sessions${query}`, { user: 'collector' });
      return expectSuccess('listSessions', 200, answer) as SessionList;
    };
    let first = await page('');
    // A large report has several parts: the last session can be in a later part than the hundredth.
    await until('all are reported', async () => (first = await page('')).nextCursor !== undefined);
    expect(first.sessions).toHaveLength(100);
    const rest = await page(`?cursor=${first.nextCursor}`);
    expect(rest).toEqual({ sessions: [expect.objectContaining({ deviceId: daemon.deviceId })] });
    expect(new Set([...first.sessions, ...rest.sessions].map(({ id }) => id)).size).toBe(101);
  });

  it('ignores unknown parameters', async () => {
    expect((await list('?colour=green&__proto__=x&limit=1')).sessions).toHaveLength(1);
  });
});
