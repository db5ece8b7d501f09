/**
 * Every REST route (specification §4.1), written once: the api serves exactly these, and OpenAPI is
 * generated from them. The paths are in `endpoints.ts`. `errors` lists the errors particular to a route; those any
 * route may answer are in `commonErrors`.
 */
import { Type, type TSchema, count, id, sessionId, limits, maybe, oneOf, text } from './schema.ts';
import { type Endpoint, type EndpointName, endpoints } from './endpoints.ts';
import type { ErrorCode } from './errors.ts';
import { AuditPage, AuditQuery } from './rest/audit.ts';
import * as bulk from './rest/bulk.ts';
import * as content from './rest/content.ts';
import * as folders from './rest/folders.ts';
import * as conversation from './rest/conversation.ts';
import { AccountExport } from './rest/account-export.ts';
import * as people from './rest/people.ts';
import * as prompts from './rest/prompts.ts';
import { acpTokenRoutes } from './acp-token-routes.ts';
import { deviceKeyRoutes } from './device-key-routes.ts';
import { inboxRoutes } from './inbox-routes.ts';
import { pushRoutes } from './push-routes.ts';
import * as queue from './rest/queue.ts';
import * as settings from './rest/settings.ts';
import { transcriptLimits, version } from './transcript/index.ts';

export type Scope = 'sessions:read' | 'sessions:write' | 'devices:read' | 'devices:write';

export interface Route extends Endpoint {
  summary: string;
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
  /** The fields of the body may be in the query instead. */
  bodyInQuery?: true;
  /**
   * How a call counts against the rate limit (rules, 6.10). Absent: as one request. `none`: not at all. `creation`: also against the limit
   * of new sessions. `export`, `pushTest`: also against that of exports, of tests of addresses. `misuse`: only if it turns out to be a
   * misuse, per address.
   */
  limit?: 'none' | 'creation' | 'export' | 'pushTest' | 'misuse';
  /** The answer is written part by part. */
  streamed?: true;
}

const page = (maximum: number) => maybe(Type.Integer({ description: 'Page size', minimum: 1, maximum }));

export const SessionsQuery = Type.Object({
  limit: page(limits.sessionsPage),
  cursor: maybe(text('nextCursor of the page before', { maxLength: 512 })),
  deviceId: maybe(id('Only of this device')),
  status: maybe(oneOf(conversation.sessionStatuses, 'Only in this state')),
  q: maybe(
    text('Only those in which every word of it begins a word of the title, the project path or the last message', {
      maxLength: limits.nameCharacters,
    }),
  ),
  pinned: maybe(oneOf(['true'], 'Only pinned ones')),
  archived: maybe(oneOf(['false', 'true', 'all'], 'false: not archived (default), true: only archived, all: both')),
});

export const HistoryQuery = Type.Object({
  limit: page(limits.historyPage),
  before: maybe(id('Only messages before this uuid')),
  after: maybe(id('Only messages after this uuid')),
  parts: maybe(oneOf(['0', '1'], '1: items with their parts, where the daemon has them')),
  changed: maybe(version('With `parts=1`, instead of a cursor: the items that changed after this version')),
});

export const ContentQuery = Type.Object({
  offset: maybe(count('First byte of the piece; 0 unless given')),
  limit: maybe(
    Type.Integer({ description: 'Bytes of the piece, at most', minimum: 1, maximum: transcriptLimits.pieceBytes }),
  ),
});

export const FoldersQuery = Type.Object({
  path: maybe(
    text('Also the folders in this one, from a daemon that declared `browse`; empty: those that it allows', {
      maxLength: limits.pathCharacters,
    }),
  ),
});

export const NotificationsQuery = Type.Object({
  limit: page(limits.sessionsPage),
  cursor: maybe(text('nextCursor of the page before', { maxLength: 512 })),
});

export const WatchQuery = Type.Object({
  sessionId: maybe(sessionId('Session id or alias; may be in the body instead')),
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
    ...endpoints.health,
    summary: 'The process lives',
    success: { 200: people.Health },
    errors: [],
    limit: 'none',
  },
  ready: {
    ...endpoints.ready,
    summary: 'Whether this instance takes work',
    success: { 200: people.Readiness, 503: people.Readiness },
    errors: [],
    limit: 'none',
  },
  openapi: {
    ...endpoints.openapi,
    summary: 'This document',
    success: { 200: Type.Object({}) },
    errors: [],
  },
  asyncapi: {
    ...endpoints.asyncapi,
    summary: 'The WebSocket planes',
    success: { 200: Type.Object({}) },
    errors: [],
  },
  me: {
    ...endpoints.me,
    summary: 'The caller',
    success: { 200: people.Me },
    errors: [],
  },
  deleteMe: {
    ...endpoints.deleteMe,
    summary: 'Delete the account and everything that the relay keeps of the person, at once',
    scope: ['sessions:write', 'devices:write'],
    body: people.DeleteAccount,
    success: { 204: undefined },
    errors: ['SIGN_IN_NOT_RECENT'],
  },
  exportMe: {
    ...endpoints.exportMe,
    summary: 'Everything that the relay keeps of the person, as one document; six times in ten minutes',
    scope: ['sessions:read', 'devices:read'],
    success: { 200: AccountExport },
    errors: [],
    limit: 'export',
    streamed: true,
  },
  listSessions: {
    ...endpoints.listSessions,
    summary: 'List sessions, newest first',
    scope: 'sessions:read',
    query: SessionsQuery,
    success: { 200: SessionList },
    errors: [],
  },
  createSession: {
    ...endpoints.createSession,
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
    ],
    limit: 'creation',
  },
  changeSessions: {
    ...endpoints.changeSessions,
    summary: 'Archive or delete what a filter means, 100 sessions at a time',
    scope: 'sessions:write',
    body: bulk.ChangeSessions,
    success: { 200: bulk.ChangedSessions },
    errors: [],
  },
  readSession: {
    ...endpoints.readSession,
    summary: 'A session with its recent messages',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: SessionDetail },
    errors: ['SESSION_NOT_FOUND'],
  },
  updateSession: {
    ...endpoints.updateSession,
    summary: 'Rename, archive, pin, or choose its notifications',
    scope: 'sessions:write',
    body: UpdateSession,
    success: { 200: Session },
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_WATCHED'],
  },
  deleteSession: {
    ...endpoints.deleteSession,
    summary: "Forget a session; the daemon's history is untouched",
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND'],
  },
  markRead: {
    ...endpoints.markRead,
    summary: 'Mark the messages of the agent as read, on every device of the user',
    scope: 'sessions:write',
    body: conversation.MarkRead,
    success: { 200: Session },
    errors: ['SESSION_NOT_FOUND'],
  },
  markUnread: {
    ...endpoints.markUnread,
    summary: 'Mark a session as unread',
    scope: 'sessions:write',
    success: { 200: Session },
    errors: ['SESSION_NOT_FOUND'],
  },
  readMessages: {
    ...endpoints.readMessages,
    summary: 'A page of history, from the daemon',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: MessagePage },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  sendMessage: {
    ...endpoints.sendMessage,
    summary: 'Send a follow-up or an answer',
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
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
      'PROMPT_REFERENCE_REQUIRED',
    ],
    refusals: { 409: prompts.PromptRefusal },
  },
  answerPrompt: {
    ...endpoints.answerPrompt,
    summary: 'Answer a question of the agent, by its id: the first answer counts, and no other one reaches the agent',
    scope: 'sessions:write',
    body: prompts.AnswerPrompt,
    success: { 202: prompts.AnsweredPrompt },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
      'IDEMPOTENCY_CONFLICT',
    ],
    refusals: { 409: prompts.PromptRefusal },
  },
  listCommands: {
    ...endpoints.listCommands,
    summary: 'The slash commands of the agent',
    scope: 'sessions:read',
    success: { 200: conversation.CommandList },
    errors: ['SESSION_NOT_FOUND'],
  },
  readContext: {
    ...endpoints.readContext,
    summary: 'How full the context of the session is, from the daemon',
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
    ...endpoints.readSummary,
    summary: 'The subject of the session, from the daemon',
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
  readSettings: {
    ...endpoints.readSettings,
    summary: 'The settings of the session (mode, model, …), from the daemon',
    scope: 'sessions:read',
    success: { 200: settings.SessionSettings },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'SETTINGS_NOT_SUPPORTED',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  changeSetting: {
    ...endpoints.changeSetting,
    summary: 'Choose something else in the session; answers all settings as they are then',
    scope: 'sessions:write',
    body: settings.SettingChange,
    success: { 200: settings.SessionSettings },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'SETTINGS_NOT_SUPPORTED',
      'INVALID_SETTING',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  readContent: {
    ...endpoints.readContent,
    summary: 'A piece of what an item names: an image, or the whole output of a tool, from the daemon',
    scope: 'sessions:read',
    query: ContentQuery,
    success: { 200: content.ItemContent },
    errors: [
      'SESSION_NOT_FOUND',
      'CONTENT_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  releaseSession: {
    ...endpoints.releaseSession,
    summary: 'End the program on the machine that holds the session, to go on in an app',
    scope: 'sessions:write',
    success: { 200: conversation.ReleasedSession },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT'],
  },
  cancelSession: {
    ...endpoints.cancelSession,
    summary:
      'Cancel what runs, else dismiss what the agent asks, else cancel what waits longest; or only what runs, or all',
    scope: 'sessions:write',
    body: conversation.CancelSession,
    success: { 202: CancelledTask },
    errors: ['SESSION_NOT_FOUND', 'NO_RUNNING_TASK'],
  },
  readQueue: {
    ...endpoints.readQueue,
    summary: 'The messages that wait in a session, in the order in which they will be sent',
    scope: 'sessions:read',
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND'],
  },
  changeQueued: {
    ...endpoints.changeQueued,
    summary: 'Edit or move a message that waits; only before it is sent to the daemon',
    scope: 'sessions:write',
    body: queue.ChangeQueued,
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED', 'TASK_NOT_CHANGEABLE'],
  },
  removeQueued: {
    ...endpoints.removeQueued,
    summary: 'Take a message back that waits; only before it is sent to the daemon',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED'],
  },
  readTask: {
    ...endpoints.readTask,
    summary: 'One task',
    scope: 'sessions:read',
    success: { 200: Task },
    errors: ['TASK_NOT_FOUND'],
  },
  listDevices: {
    ...endpoints.listDevices,
    summary: 'List devices',
    scope: 'devices:read',
    success: { 200: people.DeviceList },
    errors: [],
  },
  updateDevice: {
    ...endpoints.updateDevice,
    summary: 'Rename a device',
    scope: 'devices:write',
    body: people.UpdateDevice,
    success: { 200: people.Device },
    errors: ['DEVICE_NOT_FOUND'],
  },
  deleteDevice: {
    ...endpoints.deleteDevice,
    summary: 'Remove a device',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['DEVICE_NOT_FOUND'],
  },
  pingDevice: {
    ...endpoints.pingDevice,
    summary: 'Ask the daemon of a device whether it answers',
    scope: 'devices:read',
    success: { 200: people.DevicePing },
    errors: ['DEVICE_NOT_FOUND', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT'],
  },
  listFolders: {
    ...endpoints.listFolders,
    summary:
      'The folders in which sessions of a device worked last; with `path` the folders in that folder, from the daemon',
    scope: ['devices:read', 'sessions:read'],
    query: FoldersQuery,
    success: { 200: folders.FolderList },
    errors: [
      'DEVICE_NOT_FOUND',
      'FOLDER_NOT_FOUND',
      'NOT_SUPPORTED_BY_DEVICE',
      'DEVICE_OFFLINE',
      'DEVICE_TIMEOUT',
      'DEVICE_ERROR',
    ],
  },
  listConnections: {
    ...endpoints.listConnections,
    summary: 'The newest 50 connections of a device',
    scope: 'devices:read',
    success: { 200: people.ConnectionList },
    errors: ['DEVICE_NOT_FOUND'],
  },
  requestCode: {
    ...endpoints.requestCode,
    summary: 'Begin the registration of a device',
    body: people.RequestCode,
    success: { 200: people.DeviceCode },
    errors: ['KEY_NOT_VALID', 'TOO_MANY_DEVICES'],
  },
  pollCode: {
    ...endpoints.pollCode,
    summary: 'Poll for the credential; 400 carries the strings of RFC 8628',
    body: people.PollCode,
    success: { 200: people.DeviceCredential },
    refusals: { 400: people.PollErrorResponse },
    errors: [],
    limit: 'misuse',
  },
  readCode: {
    ...endpoints.readCode,
    summary: 'The machine that asks to be registered',
    scope: 'devices:write',
    success: { 200: people.CodeDetail },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
  approveCode: {
    ...endpoints.approveCode,
    summary: 'Let the device in',
    scope: 'devices:write',
    success: { 200: people.CodeApproved },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED', 'TOO_MANY_DEVICES', 'SIGN_IN_NOT_RECENT'],
  },
  denyCode: {
    ...endpoints.denyCode,
    summary: 'Turn the device away',
    scope: 'devices:write',
    success: { 200: people.CodeDenied },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
  listAudit: {
    ...endpoints.listAudit,
    summary: 'What was done in the name of the user, newest first',
    scope: ['sessions:read', 'devices:read'],
    query: AuditQuery,
    success: { 200: AuditPage },
    errors: [],
  },
  ...deviceKeyRoutes,
  ...acpTokenRoutes,
  listWatched: {
    ...endpoints.listWatched,
    summary: 'The sessions that the user watches',
    scope: 'sessions:read',
    success: { 200: people.WatchList },
    errors: [],
  },
  watch: {
    ...endpoints.watch,
    summary: 'Watch a session',
    scope: 'sessions:write',
    body: people.WatchRequest,
    success: { 200: people.WatchState, 201: people.WatchState },
    errors: ['SESSION_NOT_FOUND', 'TOO_MANY_WATCHED'],
  },
  unwatch: {
    ...endpoints.unwatch,
    summary: 'Stop watching; `sessionId` in the body or the query',
    scope: 'sessions:write',
    query: WatchQuery,
    body: people.WatchRequest,
    success: { 200: people.WatchState },
    errors: [],
    bodyInQuery: true,
  },
  listNotifications: {
    ...endpoints.listNotifications,
    summary: 'The outbox of the user',
    scope: 'sessions:read',
    query: NotificationsQuery,
    success: { 200: people.NotificationList },
    errors: [],
  },
  ...pushRoutes,
  ...inboxRoutes,
  createTicket: {
    ...endpoints.createTicket,
    summary: 'A single-use credential for `/ws/attention`',
    scope: 'sessions:read',
    success: { 201: people.Ticket },
    errors: [],
  },
} as const satisfies Record<EndpointName, Route>;

export type RouteName = EndpointName;
