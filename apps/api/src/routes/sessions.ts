/** Routes of sessions and tasks: what was checked → one call → the answer. */
import {
  type CreateSession,
  type HistoryQuery,
  RelayError,
  type SendMessage,
  type SessionsQuery,
  type Static,
  type UpdateSession,
  limits,
} from '@relay/protocol';
import { listSessions, readTask } from '@relay/database';
import type { Operations } from '../deps.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import { type Answer, type Call, type Handlers, userOf } from '../http/pipeline.ts';
import { readIdempotencyKey } from '../sessions/accept.ts';
import { cancelSession } from '../sessions/cancel-session.ts';
import { deleteSession, updateSession } from '../sessions/change-session.ts';
import { createSession } from '../sessions/create-session.ts';
import { listCommands, readContext, readSummary, releaseSession } from '../sessions/read-agent.ts';
import { readMessages, readSession } from '../sessions/read-history.ts';
import { sendMessage } from '../sessions/send-message.ts';

type Names =
  | 'listSessions'
  | 'createSession'
  | 'readSession'
  | 'updateSession'
  | 'deleteSession'
  | 'readMessages'
  | 'sendMessage'
  | 'listCommands'
  | 'readContext'
  | 'readSummary'
  | 'releaseSession'
  | 'cancelSession'
  | 'readTask';

const idOf = (call: Pick<Call, 'request'>) => call.request.params.id as string;

/** A repeated request gets the same answer, and is told so. */
function replayed(call: Pick<Call, 'response'>, answer: Answer, again: boolean): Answer {
  if (again) call.response.setHeader('Idempotent-Replay', 'true');
  return answer;
}

export function sessionRoutes(deps: Operations): Pick<Handlers, Names> {
  const db = deps.database.prisma;
  return {
    listSessions: async (call: Call<unknown, Static<typeof SessionsQuery>>) => {
      const { query } = call;
      const limit = query.limit ?? limits.sessionsDefault;
      const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const records = await listSessions(db, userOf(call).userId, {
        limit,
        archived: query.archived ?? 'false',
        ...(cursor ? { after: { updatedAt: cursor.at, key: cursor.id } } : {}),
        ...(query.deviceId === undefined ? {} : { deviceId: query.deviceId }),
        ...(query.status === undefined ? {} : { status: query.status }),
      });
      const page = records.slice(0, limit);
      const last = page.at(-1);
      const more = records.length > limit && last ? { nextCursor: encodeCursor(last.session.updatedAt, last.key) } : {};
      return { status: 200, body: { sessions: page.map((record) => record.session), ...more } };
    },
    createSession: async (call: Call<CreateSession>) => {
      const key = readIdempotencyKey(call.request.get('Idempotency-Key'));
      const accepted = await createSession(deps, userOf(call).userId, call.body, key);
      call.response.setHeader('Location', `/api/sessions/${encodeURIComponent(accepted.response.id)}`);
      return replayed(call, { status: 201, body: accepted.response }, accepted.replayed);
    },
    readSession: async (call: Call<unknown, Static<typeof HistoryQuery>>) => ({
      status: 200,
      body: await readSession(deps, userOf(call).userId, idOf(call), call.query),
    }),
    updateSession: async (call: Call<UpdateSession>) => ({
      status: 200,
      body: await updateSession(deps, userOf(call).userId, idOf(call), call.body),
    }),
    deleteSession: async (call: Call) => {
      await deleteSession(deps, userOf(call).userId, idOf(call));
      return { status: 204 };
    },
    readMessages: async (call: Call<unknown, Static<typeof HistoryQuery>>) => ({
      status: 200,
      body: await readMessages(deps, userOf(call).userId, idOf(call), call.query),
    }),
    sendMessage: async (call: Call<SendMessage>) => {
      const key = readIdempotencyKey(call.request.get('Idempotency-Key'));
      const accepted = await sendMessage(deps, userOf(call).userId, idOf(call), call.body, key);
      return replayed(call, { status: 202, body: accepted.response }, accepted.replayed);
    },
    listCommands: async (call: Call) => ({
      status: 200,
      body: await listCommands(deps, userOf(call).userId, idOf(call)),
    }),
    readContext: async (call: Call) => ({
      status: 200,
      body: await readContext(deps, userOf(call).userId, idOf(call)),
    }),
    readSummary: async (call: Call) => ({
      status: 200,
      body: await readSummary(deps, userOf(call).userId, idOf(call)),
    }),
    releaseSession: async (call: Call) => ({
      status: 200,
      body: await releaseSession(deps, userOf(call).userId, idOf(call)),
    }),
    cancelSession: async (call: Call) => ({
      status: 202,
      body: await cancelSession(deps, userOf(call).userId, idOf(call)),
    }),
    readTask: async (call: Call) => {
      const task = await readTask(db, userOf(call).userId, idOf(call));
      if (!task) throw new RelayError('TASK_NOT_FOUND', 'You have no task with this id.');
      return { status: 200, body: task };
    },
  };
}
