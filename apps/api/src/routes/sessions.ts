/** Routes of sessions and tasks: checked input → one call → the answer. */
import {
  RelayError,
  type RouteQuery,
  changeLimits,
  type contentRoutes,
  limits,
  type sessionRoutes,
  type messageRoutes,
  type fromDaemonRoutes,
  type sessionSettingRoutes,
  type changeRoutes,
  type deskRoutes,
  type taskRoutes,
} from '@relay/protocol';
import { erasedSessionId, readTask } from '@relay/database';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import type { Operations } from '../deps.ts';
import { requireShowable } from '../devices/names.ts';
import type { Answering } from '../http/asking.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import type { HandlerCall, Handlers } from '../http/pipeline.ts';
import { readIdempotencyKey } from '../sessions/accept.ts';
import { answerPrompt } from '../sessions/answer-prompt.ts';
import { cancelSession } from '../sessions/cancel-session.ts';
import { changeQueued, clearQueue, queueOf, removeQueued, sendQueuedNow } from '../sessions/change-queue.ts';
import { deleteSession, markAsRead, markAsUnread, updateSession } from '../sessions/change-session.ts';
import { changeSessions } from '../sessions/change-sessions.ts';
import { listLater } from '../sessions/later.ts';
import { createSession } from '../sessions/create-session.ts';
import { listCommands, readContext, readSummary, releaseSession } from '../sessions/read-agent.ts';
import { requireSession } from '../sessions/find.ts';
import { downloadContent, readContent } from '../sessions/read-content.ts';
import { holderNote, readDesk } from '../sessions/read-desk.ts';
import { type FileRequest, readFiles } from '../sessions/read-files.ts';
import { listPage } from '../sessions/list-sessions.ts';
import { type HistoryRange, readMessages, readSession } from '../sessions/read-history.ts';
import { sendMessage } from '../sessions/send-message.ts';
import { settingNote, settingsOf } from '../sessions/settings.ts';

type Rows = typeof sessionRoutes &
  typeof messageRoutes &
  typeof fromDaemonRoutes &
  typeof sessionSettingRoutes &
  typeof changeRoutes &
  typeof deskRoutes &
  typeof taskRoutes;

/** A repeated request receives the same answer, with a header that marks it. */
export function showReplay(response: Answering, { replayed }: { replayed: boolean }): void {
  if (replayed) response.setHeader('Idempotent-Replay', 'true');
}

const rangeOf = ({ parts, ...range }: RouteQuery<'readMessages'>): HistoryRange => ({ ...range, parts: parts === '1' });

export function sessionHandlers(deps: Operations): Handlers<keyof Rows> {
  const db = deps.database;
  const files = async (
    { principal, params }: Pick<HandlerCall<'readChanges'>, 'principal' | 'params'>,
    question: FileRequest,
  ) => ({ status: 200, json: await readFiles(deps, principal.userId, params.id, question) }) as const;
  return {
    listSessions: async (call) => {
      const { query } = call;
      const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const { sessions, last } = await listPage(deps, call.principal.userId, {
        ...{ deviceId: query.deviceId, status: query.status, q: query.q },
        ...(cursor ? { after: { updatedAt: cursor.at, key: cursor.id } } : {}),
        limit: query.limit ?? limits.sessionsDefault,
        archived: query.archived ?? 'false',
        pinned: query.pinned === 'true' || undefined,
      });
      const more = last ? `,"nextCursor":${JSON.stringify(encodeCursor(last.updatedAt, last.key))}` : '';
      return { status: 200, json: `{"sessions":[${sessions.join()}]${more}}` };
    },
    createSession: async (call) => {
      const key = readIdempotencyKey(call.request.get('Idempotency-Key'));
      const accepted = await createSession(deps, call.principal.userId, call.body, key);
      call.response.setHeader('Location', `/api/sessions/${encodeURIComponent(accepted.response.id)}`);
      showReplay(call.response, accepted);
      return { status: 201, body: accepted.response };
    },
    changeSessions: async (call) => ({
      status: 200,
      body: await changeSessions(deps, call.principal.userId, call.body),
    }),
    readSession: async (call) => ({
      status: 200,
      ...(await readSession(deps, call.principal.userId, call.params.id, rangeOf(call.query))),
    }),
    updateSession: async (call) => ({
      status: 200,
      body: await updateSession(deps, call.principal.userId, call.params.id, call.body),
    }),
    deleteSession: async (call) => {
      await deleteSession(deps, call.principal.userId, call.params.id);
      call.note.target = erasedSessionId(call.params.id);
      return { status: 204 };
    },
    markRead: async (call) => ({
      status: 200,
      body: await markAsRead(deps, call.principal.userId, call.params.id, call.body),
    }),
    markUnread: async (call) => ({
      status: 200,
      body: await markAsUnread(deps, call.principal.userId, call.params.id),
    }),
    readMessages: async (call) => ({
      status: 200,
      ...(await readMessages(deps, call.principal.userId, call.params.id, rangeOf(call.query))),
    }),
    sendMessage: async (call) => {
      const key = readIdempotencyKey(call.request.get('Idempotency-Key'));
      if (call.body.deliver !== undefined) call.note.deliver = call.body.deliver;
      const accepted = await sendMessage(deps, call.principal.userId, call.params.id, call.body, key);
      showReplay(call.response, accepted);
      return { status: 202, body: accepted.response };
    },
    answerPrompt: async (call) => {
      const key = readIdempotencyKey(call.request.get('Idempotency-Key'));
      const prompt = { sessionId: call.params.id, uuid: call.params.uuid };
      const { digest, on } = call.body;
      Object.assign(call.note, { question: prompt.uuid, digest });
      requireShowable(on);
      const accepted = await answerPrompt(deps, call.principal.userId, prompt, call.body, key, on);
      showReplay(call.response, accepted);
      return { status: 202, body: accepted.response };
    },
    listCommands: async (call) => ({
      status: 200,
      body: await listCommands(deps, call.principal.userId, call.params.id),
    }),
    readContext: async (call) => ({
      status: 200,
      body: await readContext(deps, call.principal.userId, call.params.id),
    }),
    readSummary: async (call) => ({
      status: 200,
      body: await readSummary(deps, call.principal.userId, call.params.id),
    }),
    readSettings: async (call) => ({
      status: 200,
      body: await settingsOf(deps, call.principal.userId, call.params.id, { known: call.query.known === '1' }),
    }),
    changeSetting: async (call) => {
      const { body: change, principal } = call;
      call.note.setting = settingNote(change);
      requireShowable(change.on);
      const requireRecent = () => requireRecentSignIn(deps, principal);
      return {
        status: 200,
        body: await settingsOf(deps, principal.userId, call.params.id, { change, requireRecent }),
      };
    },
    readChanges: (call) =>
      files(call, { about: 'changes', scope: 'uncommitted', limit: changeLimits.changes, ...call.query }),
    readDiff: (call) => files(call, { about: 'diff', scope: 'uncommitted', ...call.query }),
    listFiles: (call) => files(call, { about: 'files', ...call.query }),
    readFile: (call) => files(call, { about: 'file', offset: 0, limit: changeLimits.pieceBytes, ...call.query }),
    releaseSession: async ({ principal: { userId }, params: { id }, body: { stopTurn }, note }) => {
      const { held } = (await requireSession(deps.database, userId, id)).session;
      note.setting = holderNote('asked', held);
      const body = await releaseSession(deps, userId, id, stopTurn);
      note.setting = holderNote(body.result, held);
      return { status: 200, body };
    },
    readDesk: async (call) => ({
      status: 200,
      body: await readDesk(deps, call.principal.userId, call.params.id, false),
    }),
    letGo: async ({ principal, params, note }) => {
      const body = await readDesk(deps, principal.userId, params.id, true);
      note.setting = holderNote(body.why ?? 'free', body.held);
      return { status: 200, body };
    },
    cancelSession: async (call) => ({
      status: 202,
      body: await cancelSession(deps, call.principal.userId, call.params.id, call.body),
    }),
    readQueue: async (call) => ({ status: 200, body: await queueOf(deps, call.principal.userId, call.params.id) }),
    changeQueued: async (call) => {
      const named = { sessionId: call.params.id, taskId: call.params.taskId };
      return { status: 200, body: await changeQueued(deps, call.principal.userId, named, call.body) };
    },
    clearQueue: async (call) => ({ status: 200, body: await clearQueue(deps, call.principal.userId, call.params.id) }),
    removeQueued: async (call) => {
      await removeQueued(deps, call.principal.userId, { sessionId: call.params.id, taskId: call.params.taskId });
      return { status: 204 };
    },
    sendQueuedNow: async (call) => {
      const named = { sessionId: call.params.id, taskId: call.params.taskId };
      return { status: 202, body: await sendQueuedNow(deps, call.principal.userId, named) };
    },
    listLater: async (call) => ({ status: 200, body: await listLater(deps, call.principal.userId) }),
    readTask: async (call) => {
      const task = await readTask(db, call.principal.userId, call.params.id);
      if (!task) throw new RelayError('TASK_NOT_FOUND');
      return { status: 200, body: task };
    },
  };
}

/** The contents that items name. */
export const contentHandlers = (deps: Operations): Handlers<keyof typeof contentRoutes> => ({
  readContent: async ({
    principal,
    params: { id: sessionId, uuid, name },
    query: { download, ...query },
    response,
  }) => {
    if (download !== undefined) {
      const { headers, bytes } = await downloadContent(deps, principal.userId, { sessionId, uuid, name });
      for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
      return { status: 200, text: bytes };
    }
    return {
      status: 200,
      body: await readContent(deps, principal.userId, { sessionId, uuid, name, ...query }),
    };
  },
});
