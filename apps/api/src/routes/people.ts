/** Routes of watching, notifications, tickets and the user. */
import {
  RelayError,
  WatchRequest,
  validator,
  type accountRoutes,
  type accountExportRoutes,
  type auditRoutes,
  type ticketRoutes,
  type watchingRoutes,
} from '@relay/protocol';
import { listAudit, listNotifications, listWatches } from '@relay/database';
import { deleteAccount } from '../account/delete-account.ts';
import { exportAccount } from '../account/export-account.ts';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import { createTicket } from '../attention/tickets.ts';
import type { Operations } from '../deps.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import type { Handlers } from '../http/pipeline.ts';
import { unwatch, watch } from '../sessions/watch-session.ts';

type Rows = typeof accountRoutes &
  typeof accountExportRoutes &
  typeof auditRoutes &
  typeof ticketRoutes &
  typeof watchingRoutes;

const pageDefault = 50;

export function peopleHandlers(deps: Operations): Handlers<keyof Rows> {
  const db = deps.database;
  const isWatchRequest = validator(WatchRequest);
  return {
    listWatched: async (call) => {
      const watchedSessions = await listWatches(db, call.principal.userId);
      return { status: 200, body: { sessionIds: watchedSessions.map(({ sessionId }) => sessionId), watchedSessions } };
    },
    watch: async (call) => {
      const { sessionId, first } = await watch(deps, call.principal.userId, call.body.sessionId);
      call.note.target = sessionId;
      return { status: first ? 201 : 200, body: { sessionId, watched: true } };
    },
    unwatch: async (call) => {
      const given = isWatchRequest({ sessionId: call.body.sessionId ?? call.query.sessionId });
      if (!given.ok) throw new RelayError('INVALID_REQUEST', `In the body or the query, ${given.reason}.`);
      const { sessionId } = given.value;
      const unwatched = await unwatch(deps, call.principal.userId, sessionId);
      call.note.target = unwatched;
      return { status: 200, body: { sessionId: unwatched, watched: false } };
    },
    listNotifications: async (call) => {
      const limit = call.query.limit ?? pageDefault;
      const cursor = call.query.cursor === undefined ? undefined : decodeCursor(call.query.cursor);
      const found = await listNotifications(
        db,
        call.principal.userId,
        limit,
        cursor && { createdAt: cursor.at, id: cursor.id },
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = found.length > limit && last ? { nextCursor: encodeCursor(last.createdAt, last.id) } : {};
      return { status: 200, body: { notifications: page, ...more } };
    },
    createTicket: async (call) => ({
      status: 201,
      body: { ...(await createTicket(deps, call.principal)), expiresIn: deps.config.ticketTtlSeconds },
    }),
    listAudit: async ({ principal, query }) => {
      const limit = query.limit ?? pageDefault;
      const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const found = await listAudit(db, principal.userId, limit, cursor);
      const entries = found.slice(0, limit);
      const last = entries.at(-1);
      const more = found.length > limit && last ? { nextCursor: encodeCursor(last.at, last.id) } : {};
      return { status: 200, body: { entries, ...more } };
    },
    deleteMe: async (call) => {
      await requireRecentSignIn(deps, call.principal);
      await deleteAccount(deps, call.principal.userId);
      return { status: 204 };
    },
    exportMe: (call) => {
      call.response.setHeader('Content-Disposition', 'attachment; filename="relay-account.json"');
      return { status: 200, text: exportAccount(deps, call.principal) };
    },
    me: (call) => {
      const { userId, email, name, scopes } = call.principal;
      return {
        status: 200,
        body: {
          id: userId,
          ...(email === undefined ? {} : { email }),
          ...(name === undefined ? {} : { name }),
          scopes: [...scopes],
        },
      };
    },
  };
}
