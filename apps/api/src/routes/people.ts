/** Routes of watching, notifications, tickets and the user. */
import {
  type NotificationsQuery,
  RelayError,
  type Static,
  type WatchQuery,
  WatchRequest,
  validator,
} from '@relay/protocol';
import { listNotifications, listWatches } from '@relay/database';
import { deleteAccount } from '../account/delete-account.ts';
import { exportAccount } from '../account/export-account.ts';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import { createTicket } from '../attention/tickets.ts';
import type { Operations } from '../deps.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import { type Call, type Handlers, userOf } from '../http/pipeline.ts';
import { unwatch, watch } from '../sessions/watch-session.ts';

type Names =
  'deleteMe' | 'exportMe' | 'listWatched' | 'watch' | 'unwatch' | 'listNotifications' | 'createTicket' | 'me';

const notificationsDefault = 50;

export function peopleRoutes(deps: Operations): Pick<Handlers, Names> {
  const db = deps.database.prisma;
  const isWatchRequest = validator(WatchRequest);
  return {
    listWatched: async (call: Call) => {
      const watchedSessions = await listWatches(db, userOf(call).userId);
      return { status: 200, body: { sessionIds: watchedSessions.map(({ sessionId }) => sessionId), watchedSessions } };
    },
    watch: async (call: Call<WatchRequest>) => {
      const { sessionId, first } = await watch(deps, userOf(call).userId, call.body.sessionId);
      return { status: first ? 201 : 200, body: { sessionId, watched: true } };
    },
    unwatch: async (call: Call<Partial<WatchRequest>, Static<typeof WatchQuery>>) => {
      const given = isWatchRequest({ sessionId: call.body.sessionId ?? call.query.sessionId });
      if (!given.ok) throw new RelayError('INVALID_REQUEST', `In the body or the query, ${given.reason}.`);
      const { sessionId } = given.value;
      return { status: 200, body: { sessionId: await unwatch(deps, userOf(call).userId, sessionId), watched: false } };
    },
    listNotifications: async (call: Call<unknown, Static<typeof NotificationsQuery>>) => {
      const limit = call.query.limit ?? notificationsDefault;
      const cursor = call.query.cursor === undefined ? undefined : decodeCursor(call.query.cursor);
      const found = await listNotifications(
        db,
        userOf(call).userId,
        limit,
        cursor && { createdAt: cursor.at, id: cursor.id },
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = found.length > limit && last ? { nextCursor: encodeCursor(last.createdAt, last.id) } : {};
      return { status: 200, body: { notifications: page, ...more } };
    },
    createTicket: async (call: Call) => ({
      status: 201,
      body: { ticket: await createTicket(deps, userOf(call)), expiresIn: deps.config.ticketTtlSeconds },
    }),
    deleteMe: async (call: Call) => {
      await requireRecentSignIn(deps, userOf(call));
      await deleteAccount(deps, userOf(call).userId);
      return { status: 204 };
    },
    exportMe: (call: Call) => {
      call.response.setHeader('Content-Disposition', 'attachment; filename="relay-account.json"');
      return { status: 200, text: exportAccount(deps, userOf(call)) };
    },
    me: (call: Call) => {
      const { userId, email, name, scopes } = userOf(call);
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
