/** Routes of watched sessions, and of the outbox that they fill. */
import * as story from '../examples/story.ts';
import { notificationCauses } from '../rest/causes.ts';
import {
  type Static,
  Type,
  flag,
  id,
  limits,
  line,
  list,
  maybe,
  oneOf,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { word } from '../transcript/question.ts';
import { body } from './body.ts';
import { Delivery } from './deliveries.ts';
import { maxSubscriptions } from './push.ts';
import { page } from './queries.ts';
import type { Rows } from './route.ts';

export const WatchList = body(
  record('WatchList', 'Sessions the user watches.', {
    sessionIds: list(sessionId('Session id'), 'Canonical session ids', { maxItems: limits.watchedSessions }),
    watchedSessions: list(
      record('WatchedSession', 'A watched session.', {
        sessionId: sessionId('Canonical session id'),
        createdAt: time('Start of watching'),
      }),
      'The same sessions with their times',
      { maxItems: limits.watchedSessions },
    ),
  }),
  { sessionIds: [story.sessionId], watchedSessions: [{ sessionId: story.sessionId, createdAt: story.times.started }] },
);

export const WatchRequest = body(
  record('WatchRequest', 'The session to watch.', {
    sessionId: sessionId('Session id or alias'),
  }),
  { sessionId: story.sessionId },
);

const WatchState = body(
  record('WatchState', 'Whether the session is watched now.', {
    sessionId: sessionId('Canonical session id'),
    watched: flag('Yes or no'),
  }),
  { sessionId: story.sessionId, watched: true },
);

const notificationStates = ['pending', 'sending', 'sent', 'failed', 'suppressed', 'unaddressed'] as const;

export const NotificationList = body(
  record('NotificationList', "The user's notifications, newest first.", {
    notifications: list(
      record('Notification', 'One notification.', {
        id: id('Notification id'),
        sessionId: text('Canonical session id; empty for a notification about a device, a program or the account', {
          maxLength: limits.sessionIdCharacters,
        }),
        deviceId: maybe(id('The device, for `device_conflict` and `device_allowed`')),
        name: maybe(
          line(
            'Name of the device or program, for `device_allowed` and `program_allowed`; the change, for `account_changed`; the schedule, for a missed run',
          ),
        ),
        cause: oneOf(notificationCauses, 'Why'),
        failure: maybe(
          word(
            ['missed', 'expired', 'limit'],
            'For `failed` that is no error of the agent: a run of a schedule was missed, a message expired, or the agent reached a usage limit',
          ),
        ),
        createdAt: time('When it became due'),
        state: oneOf(
          notificationStates,
          '`sent`: each address has its own delivery. `suppressed`: the settings allow no delivery. `unaddressed`: the person has no notification address',
        ),
        /** Additive: absent in the answers of older releases. */
        deliveries: maybe(list(Delivery, 'Deliveries, one per address', { maxItems: maxSubscriptions })),
      }),
      'Notifications',
      { maxItems: limits.sessionsPage },
    ),
    nextCursor: maybe(line('Cursor of the next page')),
  }),
  {
    notifications: [
      {
        id: '01KKNT2JVT0CQXCD98YQGY7CT0',
        sessionId: story.sessionId,
        cause: 'done',
        createdAt: story.times.completed,
        state: 'sent',
      },
      {
        id: '01KKNSWQ7W843XTDGVJ6JSHHDD',
        sessionId: story.sessionId,
        cause: 'needs_you',
        createdAt: story.times.asked,
        state: 'sent',
      },
    ],
  },
);

const NotificationsQuery = Type.Object({
  limit: page(limits.sessionsPage),
  cursor: maybe(text('`nextCursor` of the previous page', { maxLength: 512 })),
});

const WatchQuery = Type.Object({
  sessionId: maybe(sessionId('Session id or alias; can be in the body instead')),
});

export type WatchList = Static<typeof WatchList>;
export type NotificationList = Static<typeof NotificationList>;
export type WatchRequest = Static<typeof WatchRequest>;

export const watchingRoutes = {
  listWatched: {
    method: 'GET',
    path: '/api/watched-sessions',
    credential: 'user',
    summary: 'The sessions that the user watches',
    scope: 'sessions:read',
    success: { 200: WatchList },
    errors: [],
  },
  watch: {
    method: 'POST',
    path: '/api/watched-sessions',
    credential: 'user',
    summary: 'Watch a session',
    scope: 'sessions:write',
    body: WatchRequest,
    success: { 200: WatchState, 201: WatchState },
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_WATCHED'],
  },
  unwatch: {
    method: 'DELETE',
    path: '/api/watched-sessions',
    credential: 'user',
    summary: 'Stop watching; `sessionId` in the body or the query',
    scope: 'sessions:write',
    query: WatchQuery,
    body: WatchRequest,
    success: { 200: WatchState },
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
    success: { 200: NotificationList },
    errors: [],
  },
} as const satisfies Rows;
