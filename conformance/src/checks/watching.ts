/** Watched sessions and their notifications (specification §2.3, §3, §4.1, §6.2; rules, chapter 14). */
import { type Check, rule, specification } from '../check.ts';
import { must, same } from '../expect.ts';
import { nowText } from '../world.ts';

export const watching: readonly Check[] = [
  specification(
    '§4.1',
    'POST /api/watched-sessions',
    'answers 201 the first time and 200 after; the daemon gets watch_session with the file_path it reported',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      const { inbox } = await world.plain();
      const { id, native } = await world.session({ file_path: '/opaque/to the relay.jsonl' });
      const from = inbox.mark();
      const first = await rest.ok('watch', { body: { sessionId: id } });
      same([first.status, first.body], [201, { sessionId: id, watched: true }], 'the first answer');
      const again = await rest.ok('watch', { body: { sessionId: id } });
      same([again.status, again.body], [200, { sessionId: id, watched: true }], 'the second answer');
      const frame = await daemon.inbox.until('watch_session', ({ session_id }) => session_id === native);
      same(frame.file_path, '/opaque/to the relay.jsonl', 'file_path');
      await inbox.until('session_update', ({ session }) => session.id === id && session.watched, { from });
    },
    { also: ['§3 Session not watched', '§6.2 watch_session'] },
  ),
  specification(
    '§4.1',
    'GET /api/watched-sessions',
    'lists the session ids that the user watches',
    async (world) => {
      const { id } = await world.session();
      await world.rest.ok('watch', { body: { sessionId: id } });
      const { body } = await world.rest.ok('listWatched');
      must(body.sessionIds.includes(id), `expected ${id} among sessionIds`);
      same(
        body.watchedSessions.map(({ sessionId }) => sessionId),
        body.sessionIds,
        'the same ids in watchedSessions',
      );
    },
    { also: ['§2.3 sessionId'] },
  ),
  specification(
    '§4.1',
    'DELETE /api/watched-sessions',
    'takes the id in the body or the query; the daemon gets unwatch_session; not watched is no error',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      for (const where of ['body', 'query'] as const) {
        const { id, native } = await world.session();
        await rest.ok('watch', { body: { sessionId: id } });
        await daemon.inbox.until('watch_session', ({ session_id }) => session_id === native);
        const { body } = await rest.ok('unwatch', { [where]: { sessionId: id } });
        same(body, { sessionId: id, watched: false }, `the answer to the id in the ${where}`);
        await daemon.inbox.until('unwatch_session', ({ session_id }) => session_id === native);
        const { status } = await rest.ok('unwatch', { [where]: { sessionId: id } });
        same(status, 200, 'status for a session that is not watched');
      }
      const { status } = await rest.ok('unwatch', { body: { sessionId: 'nobody:knows:it' } });
      same(status, 200, 'status for an unknown session');
      await rest.refused('unwatch', 'INVALID_REQUEST', { body: {} });
    },
    { also: ['§3 Session watched', '§6.2 unwatch_session'] },
  ),
  rule(
    '9.9',
    'after a reconnect every watched session is watched again, with its file_path, before any status',
    async (world) => {
      const device = await world.device('watching');
      const first = await world.open(device);
      first.status([]);
      const { id, native } = await world.session({ file_path: '/f/again' }, first);
      await world.rest.ok('watch', { body: { sessionId: id } });
      await first.inbox.until('watch_session', ({ session_id }) => session_id === native);
      await first.drop();
      const second = await world.open(device);
      const frame = await second.inbox.until('watch_session', ({ session_id }) => session_id === native, {
        what: 'after a reconnect',
      });
      same(frame.file_path, '/f/again', 'file_path');
      await second.close();
    },
  ),
  rule('9.9', 'watch_session carries an empty file_path for a session that was reported without one', async (world) => {
    const daemon = await world.desk();
    const { id, native } = await world.session();
    await world.rest.ok('watch', { body: { sessionId: id } });
    const frame = await daemon.inbox.until('watch_session', ({ session_id }) => session_id === native);
    same(frame.file_path, '', 'file_path');
  }),
  rule(
    '14.2',
    'reading a session while a socket of the user is live opens it: the daemon gets watch_session',
    async (world) => {
      await world.plain();
      const daemon = await world.desk();
      const { id, native } = await world.session();
      await world.rest.ok('readSession', { params: { id } });
      await daemon.inbox.until('watch_session', ({ session_id }) => session_id === native, {
        what: 'the session is open',
      });
      const { body } = await world.rest.ok('listWatched');
      must(!body.sessionIds.includes(id), 'expected an open session not to be among those the user watches');
    },
  ),
  rule(
    '14.4',
    'one turn of a watched session notifies once, with its cause; an unwatched one does not',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      const turns = [
        { cause: 'done', end: { event_type: 'TASK_COMPLETE', result: 'done' } },
        { cause: 'needs_you', end: { event_type: 'WAIT_FOR_USER', prompt: 'May I?' } },
        { cause: 'failed', end: { event_type: 'ERROR', error: 'broken' } },
        { cause: undefined, end: { event_type: 'TASK_COMPLETE', result: 'not watched' } },
      ];
      const expected: [string, string[]][] = [];
      for (const { cause, end } of turns) {
        const session = await world.session();
        if (cause !== undefined) await rest.ok('watch', { body: { sessionId: session.id } });
        const task = await world.running(session);
        daemon.send({ type: 'event', task_id: task.id, ...end });
        if (cause === 'done')
          daemon.activity(session.native, {
            last_message: 'done',
            message_count: 2,
            is_completion: true,
            last_activity: nowText(),
          });
        await world.caughtUp(session);
        expected.push([session.id, cause === undefined ? [] : [cause]]);
      }
      const { body } = await rest.ok('listNotifications', { query: { limit: 50 } });
      const causesOf = (id: string) =>
        body.notifications.filter(({ sessionId }) => sessionId === id).map(({ cause }) => cause);
      for (const [id, causes] of expected) same(causesOf(id), causes, 'causes of the notifications of a session');
    },
  ),
  rule('6.20', 'watching an unknown session is 404 SESSION_NOT_FOUND', async ({ rest }) => {
    await rest.refused('watch', 'SESSION_NOT_FOUND', { body: { sessionId: 'nobody:knows:it' } });
  }),
];
