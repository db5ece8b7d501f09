/** Routes of sessions, as the relay keeps them. */
import { finished, pending, waiting } from '../examples/sessions.ts';
import * as story from '../examples/story.ts';
import { Message, Session, sessionStatuses } from '../rest/conversation.ts';
import { notBefore } from '../rest/later.ts';
import { boundedText, imagesUnconfirmed, queueTtlSeconds } from '../rest/messages.ts';
import { messageSettings } from '../rest/settings.ts';
import { attached } from '../rest/uploads.ts';
import {
  type Static,
  Type,
  count,
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
import { body, exampleOf } from './body.ts';
import { MessagePage } from './messages.ts';
import { HistoryQuery } from './queries.ts';
import type { Rows } from './route.ts';

export const SessionDetail = body(
  record('SessionDetail', 'A session with its recent messages.', {
    ...Session.properties,
    ...MessagePage.properties,
    messagesError: maybe(
      record('MessagesError', 'Why `messages` is empty: the relay could not get them from the daemon.', {
        code: line('DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SESSION_NOT_RESOLVED or SERVICE_UNAVAILABLE'),
        error: text('Text for people'),
      }),
    ),
  }),
  { ...finished, ...exampleOf(MessagePage) },
);

export const SessionList = body(
  record('SessionList', 'Sessions of the user, newest `updatedAt` first.', {
    sessions: list(Session, 'Sessions', { maxItems: limits.sessionsPage }),
    nextCursor: maybe(
      line(
        'Send it as `cursor` for the next page; absent on the last page. A page of a search can be shorter than `limit` and have one',
      ),
    ),
  }),
  { sessions: [finished], nextCursor: 'eyJhdCI6MTc3MzQ3OTc0MjMzMH0' },
);

export const CreateSession = body(
  record('CreateSession', 'Start a session with a first message.', {
    deviceId: id('Where'),
    message: boundedText('First instruction'),
    projectPath: maybe(text('Working directory on the device', { maxLength: limits.pathCharacters })),
    title: maybe(text('Title', { minLength: 1, maxLength: limits.nameCharacters })),
    agentType: maybe(
      text('One of the `agents` of the device; absent: the agent of the registration', { maxLength: 64 }),
    ),
    pendingId: maybe(
      text(
        'A ULID made by the app. The native session id is `PENDING-<ULID>` until the daemon names the session, and stays a valid alias',
        { pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', maxLength: 26 },
      ),
    ),
    ...attached,
    settings: messageSettings,
    queueTtlSeconds,
    notBefore,
  }),
  {
    deviceId: story.deviceId,
    message: story.title,
    projectPath: story.projectPath,
    queueTtlSeconds: 900,
  },
);

export const CreatedSession = body(
  record('CreatedSession', 'The session, the task and the first message.', {
    ...Session.properties,
    taskId: id('The task that carries the message'),
    message: Message,
    images: imagesUnconfirmed,
  }),
  { ...pending, taskId: story.tasks.start, message: story.messages[0] },
);

export const UpdateSession = body(
  Type.Object(
    {
      title: maybe(text('New title', { minLength: 1, maxLength: limits.nameCharacters })),
      archived: maybe(flag('Archive or restore')),
      pinned: maybe(flag('Pin or unpin')),
      notify: maybe(
        oneOf(
          ['all', 'watched', 'off'],
          'Notifications of this session: every cause, as in the settings for watched sessions, or none. `all` and `watched` also watch the session',
        ),
      ),
    },
    { title: 'UpdateSession', description: 'The changes; at least one field.', minProperties: 1 },
  ),
  { title: story.title, archived: false },
);

export const MarkRead = body(
  Type.Object(
    { upTo: maybe(time('`newsAt` of the session that the app shows; absent: everything is read')) },
    { title: 'MarkRead', description: 'The time up to which the user has read; optional.' },
  ),
  { upTo: story.times.completed },
);

export const ChangeSessions = body(
  record('ChangeSessions', 'An action on all sessions that a filter selects.', {
    action: oneOf(['archive', 'unarchive', 'delete'], 'The action'),
    filter: Type.Object(
      {
        ids: maybe(list(sessionId('Session id or alias'), 'Only these', { maxItems: limits.bulkSessions })),
        deviceId: maybe(id('Only sessions of this device')),
        status: maybe(oneOf(sessionStatuses, 'Only sessions in this state')),
        q: maybe(text('Search terms, as `q` of the list of sessions', { maxLength: limits.nameCharacters })),
        before: maybe(time('Only sessions with an earlier `updatedAt`')),
        archived: maybe(
          oneOf(['false', 'true', 'all'], 'For deletions, as in the list of sessions; default false: not archived'),
        ),
      },
      { description: 'At least one field; a session must match all of them', minProperties: 1 },
    ),
  }),
  { action: 'archive', filter: { status: 'idle', before: story.times.created } },
);

export const ChangedSessions = body(
  record('ChangedSessions', 'The result of the action.', {
    changed: count(`How many sessions were changed; at most ${limits.bulkSessions} in one call`),
    more: flag('More sessions match the filter: call again'),
  }),
  { changed: 100, more: true },
);

const changedSession = body(Session, waiting);

const SessionsQuery = Type.Object({
  limit: maybe(
    Type.Integer({
      description: `Page size; ${limits.sessionsDefault} if absent`,
      minimum: 1,
      maximum: limits.sessionsPage,
    }),
  ),
  cursor: maybe(text('`nextCursor` of the previous page', { maxLength: 512 })),
  deviceId: maybe(id('Only sessions of this device')),
  status: maybe(oneOf(sessionStatuses, 'Only sessions in this state')),
  q: maybe(
    text('Search terms: each must be the start of a word in the title, the project path or the last message', {
      maxLength: limits.nameCharacters,
    }),
  ),
  pinned: maybe(oneOf(['true'], 'Only pinned sessions')),
  archived: maybe(oneOf(['false', 'true', 'all'], 'false: not archived (default), true: only archived, all: both')),
});

export type SessionDetail = Static<typeof SessionDetail>;
export type SessionList = Static<typeof SessionList>;
export type CreateSession = Static<typeof CreateSession>;
export type CreatedSession = Static<typeof CreatedSession>;
export type UpdateSession = Static<typeof UpdateSession>;
export type MarkRead = Static<typeof MarkRead>;
export type ChangeSessions = Static<typeof ChangeSessions>;
export type ChangedSessions = Static<typeof ChangedSessions>;

export const sessionRoutes = {
  listSessions: {
    method: 'GET',
    path: '/api/sessions',
    credential: 'user',
    summary: 'List sessions, newest first',
    scope: 'sessions:read',
    query: SessionsQuery,
    success: { 200: SessionList },
    errors: [],
  },
  createSession: {
    method: 'POST',
    path: '/api/sessions',
    credential: 'user',
    idempotent: true,
    summary: 'Start a session with a first message',
    scope: 'sessions:write',
    body: CreateSession,
    largeField: 'images',
    success: { 201: CreatedSession },
    errors: [
      'DEVICE_NOT_FOUND',
      'DEVICE_OFFLINE',
      'IDEMPOTENCY_CONFLICT',
      'INVALID_IMAGE',
      'AGENT_NOT_OFFERED',
      'NOT_SUPPORTED_BY_DEVICE',
      'QUEUE_FULL',
      'TOO_MANY_SESSIONS',
      'TOO_MANY_LATER',
    ],
    limit: 'creation',
  },
  changeSessions: {
    method: 'POST',
    path: '/api/sessions/bulk',
    credential: 'user',
    summary: 'Archive or delete the sessions that match a filter, 100 at a time',
    scope: 'sessions:write',
    body: ChangeSessions,
    success: { 200: ChangedSessions },
    errors: [],
  },
  readSession: {
    method: 'GET',
    path: '/api/sessions/:id',
    credential: 'user',
    summary: 'A session with its recent messages',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: SessionDetail },
    errors: ['SESSION_NOT_FOUND'],
  },
  updateSession: {
    method: 'PATCH',
    path: '/api/sessions/:id',
    credential: 'user',
    summary: 'Rename, archive, pin, or choose its notifications',
    scope: 'sessions:write',
    body: UpdateSession,
    success: { 200: changedSession },
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_WATCHED'],
  },
  deleteSession: {
    method: 'DELETE',
    path: '/api/sessions/:id',
    credential: 'user',
    summary: 'Delete a session from the relay; the daemon keeps its history',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND'],
  },
  markRead: {
    method: 'PUT',
    path: '/api/sessions/:id/read',
    credential: 'user',
    summary: 'Mark the messages of the agent as read, on every device of the user',
    scope: 'sessions:write',
    body: MarkRead,
    success: { 200: changedSession },
    errors: ['SESSION_NOT_FOUND'],
  },
  markUnread: {
    method: 'DELETE',
    path: '/api/sessions/:id/read',
    credential: 'user',
    summary: 'Mark a session as unread',
    scope: 'sessions:write',
    success: { 200: changedSession },
    errors: ['SESSION_NOT_FOUND'],
  },
} as const satisfies Rows;
