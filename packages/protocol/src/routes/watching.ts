/** The rows of `routes` for watched sessions, and for the outbox that they fill. */
import * as people from '../rest/people.ts';
import { Type, limits, maybe, sessionId, text } from '../schema.ts';
import { page } from './queries.ts';

const NotificationsQuery = Type.Object({
  limit: page(limits.sessionsPage),
  cursor: maybe(text('`nextCursor` of the previous page', { maxLength: 512 })),
});

const WatchQuery = Type.Object({
  sessionId: maybe(sessionId('Session id or alias; can be in the body instead')),
});

export const watchingRoutes = {
  listWatched: {
    method: 'GET',
    path: '/api/watched-sessions',
    credential: 'user',
    summary: 'The sessions that the user watches',
    scope: 'sessions:read',
    success: { 200: people.WatchList },
    errors: [],
  },
  watch: {
    method: 'POST',
    path: '/api/watched-sessions',
    credential: 'user',
    summary: 'Watch a session',
    scope: 'sessions:write',
    body: people.WatchRequest,
    success: { 200: people.WatchState, 201: people.WatchState },
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_WATCHED'],
  },
  unwatch: {
    method: 'DELETE',
    path: '/api/watched-sessions',
    credential: 'user',
    summary: 'Stop watching; `sessionId` in the body or the query',
    scope: 'sessions:write',
    query: WatchQuery,
    body: people.WatchRequest,
    success: { 200: people.WatchState },
    errors: [],
    bodyInQuery: true,
  },
  listNotifications: {
    method: 'GET',
    path: '/api/notifications',
    credential: 'user',
    summary: 'The outbox of the user',
    scope: 'sessions:read',
    query: NotificationsQuery,
    success: { 200: people.NotificationList },
    errors: [],
  },
} as const;
