/** The rows of `routes` for sessions, as the relay keeps them. */
import * as bulk from '../rest/bulk.ts';
import * as conversation from '../rest/conversation.ts';
import { Type, id, limits, maybe, oneOf, text } from '../schema.ts';
import { HistoryQuery } from './queries.ts';

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
  status: maybe(oneOf(conversation.sessionStatuses, 'Only sessions in this state')),
  q: maybe(
    text('Search terms: each must be the start of a word in the title, the project path or the last message', {
      maxLength: limits.nameCharacters,
    }),
  ),
  pinned: maybe(oneOf(['true'], 'Only pinned sessions')),
  archived: maybe(oneOf(['false', 'true', 'all'], 'false: not archived (default), true: only archived, all: both')),
});

export const sessionRoutes = {
  listSessions: {
    method: 'GET',
    path: '/api/sessions',
    credential: 'user',
    summary: 'List sessions, newest first',
    scope: 'sessions:read',
    query: SessionsQuery,
    success: { 200: conversation.SessionList },
    errors: [],
  },
  createSession: {
    method: 'POST',
    path: '/api/sessions',
    credential: 'user',
    idempotent: true,
    summary: 'Start a session with a first message',
    scope: 'sessions:write',
    body: conversation.CreateSession,
    largeField: 'images',
    success: { 201: conversation.CreatedSession },
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
    body: bulk.ChangeSessions,
    success: { 200: bulk.ChangedSessions },
    errors: [],
  },
  readSession: {
    method: 'GET',
    path: '/api/sessions/:id',
    credential: 'user',
    summary: 'A session with its recent messages',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: conversation.SessionDetail },
    errors: ['SESSION_NOT_FOUND'],
  },
  updateSession: {
    method: 'PATCH',
    path: '/api/sessions/:id',
    credential: 'user',
    summary: 'Rename, archive, pin, or choose its notifications',
    scope: 'sessions:write',
    body: conversation.UpdateSession,
    success: { 200: conversation.Session },
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
    body: conversation.MarkRead,
    success: { 200: conversation.Session },
    errors: ['SESSION_NOT_FOUND'],
  },
  markUnread: {
    method: 'DELETE',
    path: '/api/sessions/:id/read',
    credential: 'user',
    summary: 'Mark a session as unread',
    scope: 'sessions:write',
    success: { 200: conversation.Session },
    errors: ['SESSION_NOT_FOUND'],
  },
} as const;
