/** Sessions over REST: creating, listing, reading, changing, deleting (specification §2.1, §3, §4.1; rules, chapter 1). */
import { randomUUID } from 'node:crypto';
import { formatSessionId } from '@relay/protocol';
import { type Check, rule, specification } from '../check.ts';
import { matches, must, present, same } from '../expect.ts';
import { nowText } from '../world.ts';

const sessionFields = ['id', 'title', 'status', 'agentType', 'deviceId', 'projectPath', 'createdAt', 'updatedAt'];
const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const sessions: readonly Check[] = [
  specification(
    '§4.1',
    'POST /api/sessions',
    'answers 201 with the new session, its task and the message; the session waits under a PENDING id',
    async ({ story }) => {
      const { answer, request, daemon } = await story.created();
      const { body, headers } = answer;
      same(answer.status, 201, 'status');
      const { id: deviceId, agentType } = daemon.device;
      matches(body.id, new RegExp(`^${deviceId}:${agentType}:PENDING-[0-9A-HJKMNP-TV-Z]{26}$`), 'id');
      same(
        [body.deviceId, body.agentType, body.status],
        [deviceId, agentType, 'pending'],
        'deviceId, agentType, status',
      );
      same(body.projectPath, request.projectPath, 'projectPath');
      same(body.title, 'Say what this project does', 'title (the first line of the first message)');
      same([body.message.role, body.message.content], ['USER', request.message], 'message');
      matches(headers.location, /\/api\/sessions\/.+PENDING/, 'header Location');
    },
  ),
  rule(
    '11.5',
    'the other sockets of the user get session_update and the USER message of a new session',
    async ({ story }) => {
      const { heard, answer, request } = await story.created();
      const updated = heard.findIndex((frame) => frame.type === 'session_update');
      const said = heard.find((frame) => frame.type === 'new_message');
      must(
        updated >= 0,
        `expected a session_update of the new session, came ${heard.map(({ type }) => type).join(', ')}`,
      );
      same(
        [said?.message.role, said?.message.content],
        ['USER', request.message],
        'role and content of the new_message',
      );
      same(said?.message.uuid, answer.body.message.uuid, 'uuid of the message, in the answer and the frame');
    },
  ),
  rule(
    '6.6',
    'the same Idempotency-Key and body creates nothing and answers the same, with Idempotent-Replay',
    async ({ story, rest }) => {
      const { answer, request, key } = await story.created();
      const again = await rest.ok('createSession', { body: request, headers: { 'Idempotency-Key': key } });
      same(
        [again.status, again.body.id, again.body.taskId, again.headers['idempotent-replay']],
        [answer.status, answer.body.id, answer.body.taskId, 'true'],
        'status, id, taskId and Idempotent-Replay',
      );
    },
  ),
  specification(
    '§3',
    'Session with placeholder id: SESSION_STARTED',
    'the session has the native id, and session_update names the id before',
    async ({ story }) => {
      const { update, answer, id } = await story.resolved();
      same([update.session.id, update.previousId], [id, answer.body.id], 'session.id and previousId');
    },
    { also: ['§6.3 event SESSION_STARTED'] },
  ),
  rule(
    '1.5',
    'the PENDING id stays an alias: every route takes it and answers the canonical id',
    async ({ story, rest }) => {
      const { answer, id } = await story.resolved();
      const pending = answer.body.id;
      const read = await rest.ok('readSession', { params: { id: pending } });
      same(read.body.id, id, 'id by GET /api/sessions/:id');
      const changed = await rest.ok('updateSession', { params: { id: pending }, body: { title: 'By its alias' } });
      same([changed.body.id, changed.body.title], [id, 'By its alias'], 'id and title by PATCH');
      const watched = await rest.ok('watch', { body: { sessionId: pending } });
      same(watched.body.sessionId, id, 'sessionId by POST /api/watched-sessions');
      const { body } = await rest.ok('readTask', { params: { id: answer.body.taskId } });
      same([body.sessionId, body.kind], [id, 'start'], 'sessionId and kind of the task');
    },
  ),
  specification(
    '§4.1',
    'GET /api/sessions',
    'lists the sessions of the user with all their fields, each once',
    async ({ story, rest }) => {
      const { daemon, id, answer } = await story.resolved();
      const { body } = await rest.ok('listSessions', { query: { deviceId: daemon.device.id } });
      const listed = body.sessions.filter((session) => session.id === id);
      same(listed.length, 1, 'how often the session is listed');
      same(
        body.sessions.filter((session) => session.id === answer.body.id).length,
        0,
        'how often it is listed under its placeholder',
      );
      const found = present(listed[0], 'the session');
      for (const field of sessionFields)
        must(typeof found[field as keyof typeof found] === 'string', `expected the field ${field} to be a text`);
      matches(found.createdAt, isoUtc, 'createdAt');
      matches(found.updatedAt, isoUtc, 'updatedAt');
    },
    { also: sessionFields.map((field) => `§2.1 ${field}`) },
  ),
  rule('6.15', 'sessions are listed newest first, in pages that hold each of them once', async (world) => {
    const { rest } = world;
    const daemon = await world.open(await world.device('paging'));
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1)
      made.push(
        (await world.session({ last_activity: new Date(Date.now() - index * 60_000).toISOString() }, daemon)).id,
      );
    const query = { deviceId: daemon.device.id, limit: 2 };
    const seen: { id: string; updatedAt: string }[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 4; page += 1) {
      const { body } = await rest.ok('listSessions', {
        query: { ...query, ...(cursor === undefined ? {} : { cursor }) },
      });
      must(body.sessions.length <= 2, `expected pages of at most 2 sessions, came ${body.sessions.length}`);
      seen.push(...body.sessions);
      cursor = body.nextCursor;
      if (cursor === undefined) break;
    }
    same(cursor, undefined, 'nextCursor of the last page');
    same(seen.map(({ id }) => id).sort(), made.sort(), 'sessions over all pages');
    const times = seen.map(({ updatedAt }) => updatedAt);
    same(times, [...times].sort().reverse(), 'updatedAt over all pages, newest first');
    await daemon.close();
  }),
  rule('6.15', 'sessions can be listed by status, and archived ones only when asked for', async (world) => {
    const { rest } = world;
    const active = await world.session({ is_active: true });
    const { id } = await world.session();
    const { deviceId } = (await rest.ok('updateSession', { params: { id }, body: { archived: true } })).body;
    const listed = async (query: Record<string, string>) =>
      (await rest.ok('listSessions', { query: { deviceId, ...query } })).body.sessions.map((session) => session.id);
    const byStatus = await listed({ status: 'active' });
    must(byStatus.includes(active.id), 'expected the active session among status=active');
    must(!(await listed({})).includes(id), 'expected no archived session in the ordinary list');
    same(await listed({ archived: 'true' }), [id], 'sessions with archived=true');
    const both = await listed({ archived: 'all' });
    must(both.includes(id) && both.includes(active.id), 'expected both kinds with archived=all');
    const wrong: Record<string, string | number>[] = [{ limit: 0 }, { limit: 201 }, { status: 'asleep' }];
    for (const query of wrong) await rest.refused('listSessions', 'INVALID_REQUEST', { query });
  }),
  rule('6.24', 'sessions are found by words of their titles, last messages and projects', async (world) => {
    const { id } = await world.session();
    const word = `quokka${randomUUID().slice(0, 8)}`;
    await world.rest.ok('updateSession', { params: { id }, body: { title: `Feed the ${word}` } });
    const found = async (q: string) =>
      (await world.rest.ok('listSessions', { query: { q } })).body.sessions.map((session) => session.id);
    same(await found(word.slice(0, -2).toUpperCase()), [id], 'sessions with the beginning of the word');
    same(await found(`${word} nothing${word}`), [], 'sessions with both words');
    const filter = { q: word };
    const archived = await world.rest.ok('changeSessions', { body: { action: 'archive', filter } });
    same(archived.body, { changed: 1, more: false }, 'answer of the archiving');
    const deleted = await world.rest.ok('changeSessions', { body: { action: 'delete', filter } });
    same(deleted.body.changed, 0, 'archived sessions that a deletion takes without being asked to');
  }),
  rule('4.12', 'a session is unread once its agent has said something, until it is read', async (world) => {
    const daemon = await world.desk();
    const { inbox } = await world.app();
    const session = await world.session();
    const task = await world.running(session);
    const from = inbox.mark();
    daemon.event(task.id, 'TASK_COMPLETE', { result: 'news' });
    const heard = (unread: true | undefined) =>
      inbox.until(
        'session_update',
        ({ session: { id, unread: now, lastMessage } }) =>
          id === session.id && now === unread && lastMessage === 'news',
        { from },
      );
    const { newsAt } = (await heard(true)).session;
    const { body } = await world.rest.ok('markRead', {
      params: { id: session.id },
      body: { upTo: present(newsAt, 'newsAt') },
    });
    same(body.unread, undefined, 'unread of the answer');
    await heard(undefined);
    const again = await world.rest.ok('markUnread', { params: { id: session.id } });
    same(again.body.unread, true, 'unread after it was marked as unread');
    const pinned = await world.rest.ok('updateSession', { params: { id: session.id }, body: { pinned: true } });
    same([pinned.body.pinned, pinned.body.updatedAt], [true, again.body.updatedAt], 'pinned and updatedAt');
  }),
  rule('11.5', 'every change of a session over REST sends session_update', async (world) => {
    const { inbox } = await world.plain();
    const { id } = await world.session();
    const from = inbox.mark();
    const { body } = await world.rest.ok('updateSession', { params: { id }, body: { title: 'A new title' } });
    same(body.title, 'A new title', 'title');
    await inbox.until('session_update', ({ session }) => session.id === id && session.title === 'A new title', {
      from,
    });
    for (const wrong of [{}, { title: '' }, { archived: 'yes' }])
      await world.rest.refused('updateSession', 'INVALID_REQUEST', { params: { id }, body: wrong });
  }),
  rule('8.18', 'a forgotten session is gone until the daemon reports activity later than that', async (world) => {
    const { rest } = world;
    const app = await world.app();
    const daemon = await world.desk();
    const last_activity = new Date(Date.now() - 3_600_000).toISOString();
    const { id, native } = await world.session({ last_activity });
    const task = await world.running({ id, native });
    const from = app.inbox.mark();
    const { text } = await rest.ok('deleteSession', { params: { id } });
    same(text, '', 'body');
    await app.inbox.until('session_removed', ({ sessionId }) => sessionId === id, { from });
    await daemon.inbox.until('task_cancel', ({ task_id }) => task_id === task.id, {
      what: 'the task of a forgotten session is cancelled',
    });
    daemon.status([]);
    await rest.refused('readSession', 'SESSION_NOT_FOUND', { params: { id } });
    // Frames under way when it was deleted have arrived before this one.
    await world.caughtUp(await world.session());
    const forgotten = app.inbox.mark();
    daemon.report([{ session_id: native, last_message: 'old', last_activity, is_active: false, message_count: 1 }]);
    await world.caughtUp(await world.session());
    same(
      app.inbox.all('session_update', ({ session }) => session.id === id, forgotten),
      [],
      'updates after old activity',
    );
    const back = { session_id: native, last_message: 'new', is_active: false, message_count: 2 };
    daemon.report([{ ...back, last_activity: new Date(Date.now() + 60_000).toISOString() }]);
    await app.inbox.until('session_update', ({ session }) => session.id === id, {
      from: forgotten,
      what: 'later activity',
    });
    await rest.ok('readMessages', { params: { id } });
  }),
  rule('1.4', 'a native id may contain colons and slashes; clients percent-encode the id', async (world) => {
    const native = `a:b/c d:${randomUUID()}`;
    const { id } = await world.session({ session_id: native });
    const { device } = await world.desk();
    same(id, formatSessionId({ deviceId: device.id, agentType: device.agentType, nativeId: native }), 'id');
    const { body } = await world.rest.ok('readSession', { params: { id } });
    same(body.id, id, 'id by GET');
    const task = await world.task({ id, native });
    same(task.frame.session_id, native, 'session_id of the task_resume');
    (await world.desk()).event(task.id, 'TASK_COMPLETE', { result: 'done' });
  }),
  rule(
    '1.6',
    'any event that names a session resolves the placeholder; a session known already is merged, the older createdAt stays',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      const app = await world.app();
      const known = await world.session({ last_activity: nowText() });
      const older = (await rest.ok('readSession', { params: { id: known.id } })).body.createdAt;
      const { body } = await rest.ok('createSession', { body: { deviceId: daemon.device.id, message: 'go on' } });
      await daemon.inbox.until('task_start', ({ task_id }) => task_id === body.taskId);
      const from = app.inbox.mark();
      // One daemon in the field never sends SESSION_STARTED.
      daemon.event(body.taskId, 'TASK_COMPLETE', { session_id: known.native, result: 'merged' });
      const done = await app.inbox.until(
        'session_update',
        ({ session }) => session.id === known.id && session.lastTask?.state === 'completed',
        { from },
      );
      same(done.session.createdAt, older, 'createdAt of the merged session');
      const read = await rest.ok('readSession', { params: { id: body.id } });
      same(read.body.id, known.id, 'id by the placeholder');
    },
  ),
  rule(
    '1.6',
    'a second SESSION_STARTED with another id renames the session again; all its ids lead to it',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      const { inbox } = await world.app();
      const { id: deviceId, agentType } = daemon.device;
      const { body } = await rest.ok('createSession', { body: { deviceId, message: 'begin' } });
      await daemon.inbox.until('task_start', ({ task_id }) => task_id === body.taskId);
      const names = [randomUUID(), randomUUID()].map((nativeId) => ({
        nativeId,
        id: formatSessionId({ deviceId, agentType, nativeId }),
      }));
      for (const { nativeId, id } of names) {
        daemon.event(body.taskId, 'SESSION_STARTED', { session_id: nativeId });
        await inbox.until('session_update', ({ session, previousId }) => session.id === id && previousId !== undefined);
      }
      daemon.event(body.taskId, 'TASK_COMPLETE', { result: 'done' });
      for (const id of [body.id, names[0]!.id, names[1]!.id]) {
        const read = await rest.ok('readMessages', { params: { id } });
        same(read.status, 200, `GET …/messages by ${id}`);
      }
      const asked = daemon.inbox.all('get_messages').slice(-3);
      same(
        [...new Set(asked.map((frame) => frame.session_id))],
        [names[1]!.nativeId],
        'session_id that the daemon is asked for',
      );
    },
  ),
  rule(
    '2.12',
    'a session whose first task ended without a name has nowhere to go: 409 SESSION_NOT_RESOLVED',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      const { inbox } = await world.app();
      const { body } = await rest.ok('createSession', { body: { deviceId: daemon.device.id, message: 'nameless' } });
      const params = { id: body.id };
      await rest.refused('readMessages', 'SESSION_NOT_RESOLVED', { params });
      const read = await rest.ok('readSession', { params });
      same(
        [read.body.messages, read.body.messagesError?.code],
        [[], 'SESSION_NOT_RESOLVED'],
        'messages and messagesError',
      );
      await daemon.inbox.until('task_start', ({ task_id }) => task_id === body.taskId);
      daemon.event(body.taskId, 'ERROR', { error: 'died before it had a name' });
      await inbox.until('session_update', ({ session }) => session.id === body.id && session.status === 'failed');
      await rest.refused('sendMessage', 'SESSION_NOT_RESOLVED', { params, body: { content: 'are you there?' } });
    },
  ),
];
