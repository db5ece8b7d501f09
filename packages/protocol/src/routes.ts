/**
 * Every REST route (specification §4.1, contract §3, §4, §9), written once: the api serves exactly these, and OpenAPI is
 * generated from them. `errors` lists what is particular to a route; the ones any route may answer are in `commonErrors`.
 */
import { Type, type TSchema, id, sessionId, limits, maybe, oneOf, text } from './schema.ts';
import type { ErrorCode } from './errors.ts';
import * as conversation from './rest/conversation.ts';
import { AccountExport } from './rest/account-export.ts';
import * as people from './rest/people.ts';
import { version } from './transcript/index.ts';

export type Scope = 'sessions:read' | 'sessions:write' | 'devices:read' | 'devices:write';

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  /** none: no credential needed. user: an access token. user-or-device: also the device's own refresh token. optional: may be sent. */
  credential: 'none' | 'optional' | 'user' | 'user-or-device';
  /** All of them are needed. */
  scope?: Scope | readonly Scope[];
  query?: TSchema;
  body?: TSchema;
  /** With this field a body may hold `imageRequestBytes`; what is not in the field, `requestBodyBytes` as anywhere. */
  largeField?: 'images';
  success: Readonly<Record<number, TSchema | undefined>>;
  errors: readonly ErrorCode[];
  /** Refusals with a body of their own, by status; every other one is an `ErrorResponse`. */
  refusals?: Readonly<Record<number, TSchema>>;
  /** Accepts Idempotency-Key. */
  idempotent?: true;
  /** The fields of the body may stand in the query instead. */
  bodyInQuery?: true;
  /**
   * How a call counts against the rate limit (contract §3). Absent: as one request. `none`: not at all. `creation`: also against the limit
   * of new sessions. `export`: also against that of exports. `misuse`: only when it turns out to be no legal use, per address.
   */
  limit?: 'none' | 'creation' | 'export' | 'misuse';
  /** The answer is written part by part. */
  streamed?: true;
}

const page = (maximum: number) => maybe(Type.Integer({ description: 'Page size', minimum: 1, maximum }));

export const SessionsQuery = Type.Object({
  limit: page(limits.sessionsPage),
  cursor: maybe(text('nextCursor of the page before', { maxLength: 512 })),
  deviceId: maybe(id('Only of this device')),
  status: maybe(oneOf(conversation.sessionStatuses, 'Only in this state')),
  archived: maybe(oneOf(['false', 'true', 'all'], 'false: not archived (default), true: only archived, all: both')),
});

export const HistoryQuery = Type.Object({
  limit: page(limits.historyPage),
  before: maybe(id('Only messages before this uuid')),
  after: maybe(id('Only messages after this uuid')),
  parts: maybe(oneOf(['0', '1'], '1: items with their parts, where the daemon has them')),
  changed: maybe(version('With `parts=1`, instead of a cursor: the items that changed after this version')),
});

export const NotificationsQuery = Type.Object({
  limit: page(limits.sessionsPage),
  cursor: maybe(text('nextCursor of the page before', { maxLength: 512 })),
});

export const WatchQuery = Type.Object({
  sessionId: maybe(sessionId('Session id or alias; may stand in the body instead')),
});

export const commonErrors: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'TOKEN_REVOKED',
  'INSUFFICIENT_SCOPE',
  'DEVICE_TOKEN_NOT_ALLOWED',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

const {
  Session,
  SessionDetail,
  SessionList,
  MessagePage,
  CreateSession,
  CreatedSession,
  SendMessage,
  SentMessage,
  CancelledTask,
  UpdateSession,
  Task,
} = conversation;

export const routes = {
  health: {
    method: 'GET',
    path: '/health',
    summary: 'The process lives',
    credential: 'none',
    success: { 200: people.Health },
    errors: [],
    limit: 'none',
  },
  ready: {
    method: 'GET',
    path: '/ready',
    summary: 'Whether this instance takes work',
    credential: 'none',
    success: { 200: people.Readiness, 503: people.Readiness },
    errors: [],
    limit: 'none',
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This document',
    credential: 'none',
    success: { 200: Type.Object({}) },
    errors: [],
  },
  asyncapi: {
    method: 'GET',
    path: '/api/asyncapi.json',
    summary: 'The WebSocket planes',
    credential: 'none',
    success: { 200: Type.Object({}) },
    errors: [],
  },
  me: {
    method: 'GET',
    path: '/api/me',
    summary: 'Who is asking',
    credential: 'user',
    success: { 200: people.Me },
    errors: [],
  },
  deleteMe: {
    method: 'DELETE',
    path: '/api/me',
    summary: 'Delete the account and everything that the relay keeps of the person, at once',
    credential: 'user',
    scope: ['sessions:write', 'devices:write'],
    body: people.DeleteAccount,
    success: { 204: undefined },
    errors: ['SIGN_IN_NOT_RECENT'],
  },
  exportMe: {
    method: 'GET',
    path: '/api/me/export',
    summary: 'Everything that the relay keeps of the person, as one document; six times in ten minutes',
    credential: 'user',
    scope: ['sessions:read', 'devices:read'],
    success: { 200: AccountExport },
    errors: [],
    limit: 'export',
    streamed: true,
  },
  listSessions: {
    method: 'GET',
    path: '/api/sessions',
    summary: 'List sessions, newest first',
    credential: 'user',
    scope: 'sessions:read',
    query: SessionsQuery,
    success: { 200: SessionList },
    errors: [],
  },
  createSession: {
    method: 'POST',
    path: '/api/sessions',
    summary: 'Start a session with a first message',
    credential: 'user',
    scope: 'sessions:write',
    body: CreateSession,
    largeField: 'images',
    success: { 201: CreatedSession },
    errors: [
      'DEVICE_NOT_FOUND',
      'DEVICE_OFFLINE',
      'IDEMPOTENCY_CONFLICT',
      'INVALID_IMAGE',
      'NOT_SUPPORTED_BY_DEVICE',
      'QUEUE_FULL',
      'TOO_MANY_SESSIONS',
    ],
    idempotent: true,
    limit: 'creation',
  },
  readSession: {
    method: 'GET',
    path: '/api/sessions/:id',
    summary: 'A session with its recent messages',
    credential: 'user',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: SessionDetail },
    errors: ['SESSION_NOT_FOUND'],
  },
  updateSession: {
    method: 'PATCH',
    path: '/api/sessions/:id',
    summary: 'Rename or archive',
    credential: 'user',
    scope: 'sessions:write',
    body: UpdateSession,
    success: { 200: Session },
    errors: ['SESSION_NOT_FOUND'],
  },
  deleteSession: {
    method: 'DELETE',
    path: '/api/sessions/:id',
    summary: "Forget a session; the daemon's history is untouched",
    credential: 'user',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND'],
  },
  readMessages: {
    method: 'GET',
    path: '/api/sessions/:id/messages',
    summary: 'A page of history, from the daemon',
    credential: 'user',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: MessagePage },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  sendMessage: {
    method: 'POST',
    path: '/api/sessions/:id/messages',
    summary: 'Send a follow-up or an answer',
    credential: 'user',
    scope: 'sessions:write',
    body: SendMessage,
    largeField: 'images',
    success: { 202: SentMessage },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'QUEUE_FULL',
      'DEVICE_OFFLINE',
      'IDEMPOTENCY_CONFLICT',
      'INVALID_IMAGE',
      'NOT_SUPPORTED_BY_DEVICE',
    ],
    idempotent: true,
  },
  listCommands: {
    method: 'GET',
    path: '/api/sessions/:id/commands',
    summary: 'What the agent understands after a slash',
    credential: 'user',
    scope: 'sessions:read',
    success: { 200: conversation.CommandList },
    errors: ['SESSION_NOT_FOUND'],
  },
  readContext: {
    method: 'GET',
    path: '/api/sessions/:id/context',
    summary: 'How full the context of the session is, from the daemon',
    credential: 'user',
    scope: 'sessions:read',
    success: { 200: conversation.SessionContext },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  readSummary: {
    method: 'GET',
    path: '/api/sessions/:id/summary',
    summary: 'What the session is about, from the daemon',
    credential: 'user',
    scope: 'sessions:read',
    success: { 200: conversation.SessionSummary },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  releaseSession: {
    method: 'POST',
    path: '/api/sessions/:id/release',
    summary: 'End the program on the machine that holds the session, to go on in an app',
    credential: 'user',
    scope: 'sessions:write',
    success: { 200: conversation.ReleasedSession },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT'],
  },
  cancelSession: {
    method: 'POST',
    path: '/api/sessions/:id/cancel',
    summary: 'Cancel what runs, else dismiss what the agent asks, else cancel what waits longest',
    credential: 'user',
    scope: 'sessions:write',
    success: { 202: CancelledTask },
    errors: ['SESSION_NOT_FOUND', 'NO_RUNNING_TASK'],
  },
  readTask: {
    method: 'GET',
    path: '/api/tasks/:id',
    summary: 'One task',
    credential: 'user',
    scope: 'sessions:read',
    success: { 200: Task },
    errors: ['TASK_NOT_FOUND'],
  },
  listDevices: {
    method: 'GET',
    path: '/api/devices',
    summary: 'List devices',
    credential: 'user',
    scope: 'devices:read',
    success: { 200: people.DeviceList },
    errors: [],
  },
  updateDevice: {
    method: 'PATCH',
    path: '/api/devices/:id',
    summary: 'Rename a device',
    credential: 'user',
    scope: 'devices:write',
    body: people.UpdateDevice,
    success: { 200: people.Device },
    errors: ['DEVICE_NOT_FOUND'],
  },
  deleteDevice: {
    method: 'DELETE',
    path: '/api/devices/:id',
    summary: 'Remove a device',
    credential: 'user-or-device',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['DEVICE_NOT_FOUND'],
  },
  listConnections: {
    method: 'GET',
    path: '/api/devices/:id/connections',
    summary: 'The newest 50 connections of a device',
    credential: 'user',
    scope: 'devices:read',
    success: { 200: people.ConnectionList },
    errors: ['DEVICE_NOT_FOUND'],
  },
  requestCode: {
    method: 'POST',
    path: '/api/devices/code',
    summary: 'Begin the registration of a device',
    credential: 'optional',
    body: people.RequestCode,
    success: { 200: people.DeviceCode },
    errors: [],
  },
  pollCode: {
    method: 'POST',
    path: '/api/devices/token',
    summary: 'Poll for the credential; 400 carries the strings of RFC 8628',
    credential: 'optional',
    body: people.PollCode,
    success: { 200: people.DeviceCredential },
    refusals: { 400: people.PollErrorResponse },
    errors: [],
    limit: 'misuse',
  },
  readCode: {
    method: 'GET',
    path: '/api/devices/code/:userCode',
    summary: 'Who asks to be registered',
    credential: 'user',
    scope: 'devices:write',
    success: { 200: people.CodeDetail },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
  approveCode: {
    method: 'POST',
    path: '/api/devices/code/:userCode/approve',
    summary: 'Let the device in',
    credential: 'user',
    scope: 'devices:write',
    success: { 200: people.CodeApproved },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED', 'TOO_MANY_DEVICES', 'SIGN_IN_NOT_RECENT'],
  },
  denyCode: {
    method: 'POST',
    path: '/api/devices/code/:userCode/deny',
    summary: 'Turn the device away',
    credential: 'user',
    scope: 'devices:write',
    success: { 200: people.CodeDenied },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
  listWatched: {
    method: 'GET',
    path: '/api/watched-sessions',
    summary: 'What the user watches',
    credential: 'user',
    scope: 'sessions:read',
    success: { 200: people.WatchList },
    errors: [],
  },
  watch: {
    method: 'POST',
    path: '/api/watched-sessions',
    summary: 'Watch a session',
    credential: 'user',
    scope: 'sessions:write',
    body: people.WatchRequest,
    success: { 200: people.WatchState, 201: people.WatchState },
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_WATCHED'],
  },
  unwatch: {
    method: 'DELETE',
    path: '/api/watched-sessions',
    summary: 'Stop watching; `sessionId` in the body or the query',
    credential: 'user',
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
    summary: 'The outbox of the user',
    credential: 'user',
    scope: 'sessions:read',
    query: NotificationsQuery,
    success: { 200: people.NotificationList },
    errors: [],
  },
  createTicket: {
    method: 'POST',
    path: '/api/ws-tickets',
    summary: 'A single-use credential for `/ws/attention`',
    credential: 'user',
    scope: 'sessions:read',
    success: { 201: people.Ticket },
    errors: [],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
