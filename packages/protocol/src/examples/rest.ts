/** Every REST body: one golden example per schema. */
import type { QuietHours } from '../rest/notification-settings.ts';
import type { Delivery, Subscription } from '../rest/push.ts';
import type { restBodies } from '../rest/bodies.ts';
import type { ExamplesOf } from './shape.ts';
import { inboxCounts, inboxItem } from './inbox.ts';
import { finished, pending, waiting } from './sessions.ts';
import * as story from './story.ts';
import { asked } from './transcript.ts';

const { messages, sessionId, deviceId, times, tasks } = story;

const page = {
  messages: [...messages],
  hasMore: false,
  oldestUuid: messages[0].uuid,
  newestUuid: messages[3].uuid,
};

const device = {
  id: deviceId,
  name: story.deviceName,
  hostname: story.hostname,
  agentType: story.agentType,
  status: 'online' as const,
  lastSeenAt: times.completed,
  capabilities: ['images', 'context'],
  agents: [
    { agentType: story.agentType, name: 'Claude Code', version: '2.1.0' },
    { agentType: 'codex', name: 'Codex' },
  ],
  conflict: {
    machines: [
      { hostname: story.hostname, address: '192.0.2.17', daemonVersion: story.daemonVersion },
      { hostname: 'restored', address: '192.0.2.44', daemonVersion: story.daemonVersion },
    ],
    since: times.connected,
  },
};

const delivery: Delivery = {
  id: '01KKNT2JW0K4M8Q1Z5T7YB3C6D',
  subscriptionId: '01KKNSA6R8W2X4Y6Z8A0B2C4D6',
  cause: 'done',
  state: 'accepted',
  attempts: 1,
  httpStatus: 200,
  maybeDuplicate: false,
  createdAt: times.completed,
  acceptedAt: '2026-03-14T09:15:42.910Z',
};
const subscription: Subscription = {
  id: delivery.subscriptionId,
  kind: 'ntfy',
  label: 'My phone',
  address: 'ntfy.sh/garden-x7k2p9',
  causes: { done: 'off' },
  detail: 'none',
  actions: 'none',
  state: 'active',
  createdAt: times.registered,
  lastDelivery: delivery,
};

const auditEntry = {
  id: '01KKNSXYQZ2S5B0V7K9D3M4N6P',
  at: times.answered,
  action: 'answerPrompt',
  outcome: 'done',
  program: 'relay-web',
  address: '192.0.2.17',
  target: sessionId,
  question: asked.uuid,
  digest: '5f2c1d9e0b7a4c3e8d6f1a2b3c4d5e6f',
  requestId: story.requestId,
};
const refusedEntry = {
  id: '01KKNSXYQZ2S5B0V7K9D3M4N6Q',
  at: times.answered,
  action: 'signIn',
  outcome: 'INVALID_EMAIL_OR_PASSWORD',
  times: 20,
  address: '198.51.100.7',
};
const deviceKey = {
  id: '01KKNS0W7M4GQ0C3Y5R8T2V6XB',
  name: 'Build machines',
  uses: 5,
  used: 1,
  createdAt: times.registered,
  expiresAt: times.completed,
};
const acpToken = {
  id: '01KKNS0W7M4GQ0C3Y5R8T2V6XC',
  deviceId: story.deviceId,
  name: 'Phone',
  scopes: ['sessions:read' as const, 'sessions:write' as const],
  createdAt: times.registered,
  expiresAt: times.completed,
};
const levels = { needs_you: 'all', failed: 'watched', unknown: 'watched', done: 'watched', device: 'off' } as const;
const quietHours: QuietHours = { start: '22:00', end: '07:00', timeZone: 'Europe/Berlin', passes: ['needs_you'] };

export const restExamples: ExamplesOf<typeof restBodies> = {
  Health: { status: 'ok', version: '1.0.0', capabilities: ['transcript', 'prompts', 'settings', 'controls'] },
  Readiness: { status: 'ok', checks: { database: 'ok', backplane: 'ok' } },
  Me: {
    id: story.userId,
    email: 'ada@example.com',
    name: 'Ada',
    scopes: ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'],
  },
  DeleteAccount: { confirm: 'delete my account' },
  AccountExport: {
    exportedAt: times.completed,
    account: {
      ...{ id: story.userId, email: 'ada@example.com', name: 'Ada', createdAt: times.registered },
      secondFactor: true,
    },
    signInMethods: ['credential'],
    signIns: [{ createdAt: times.registered, expiresAt: times.completed, address: '192.0.2.17', browser: 'Firefox' }],
    passkeys: [{ name: 'Phone', createdAt: times.registered, lastUsedAt: times.completed, synced: true }],
    applications: [
      { clientId: 'relay-cli', name: 'Command line', scopes: ['sessions:read'], authorizedAt: times.registered },
    ],
    invitations: [{ createdAt: times.registered, expiresAt: times.completed }],
    registrations: [
      {
        hostname: story.hostname,
        deviceName: story.deviceName,
        agentType: story.agentType,
        requestedFrom: '192.0.2.17',
        requestedAt: times.codeRequested,
        state: 'redeemed',
      },
    ],
    audit: [auditEntry],
    deviceKeys: [deviceKey],
    acpTokens: [acpToken],
    devices: [
      {
        ...device,
        createdAt: times.registered,
        connections: [{ connectedAt: times.connected, daemonVersion: story.daemonVersion, instance: story.instance }],
        commands: [{ project: story.projectPath, commands: [{ name: 'review', description: '' }] }],
      },
    ],
    sessions: [{ ...finished, filePath: story.filePath, earlierIds: [story.pendingSessionId] }],
    tasks: [
      {
        id: tasks.answer,
        sessionId,
        kind: 'resume',
        state: 'completed',
        createdAt: times.answered,
        sentAt: times.answerSent,
        finishedAt: times.completed,
        result: story.result,
      },
    ],
    questions: [
      {
        id: asked.uuid,
        sessionId,
        state: 'closed',
        askedAt: times.asked,
        answeredAt: times.answered,
        option: 'opt1',
      },
    ],
    watchedSessions: [sessionId],
    notifications: [
      { id: '01KKNT2JVT0CQXCD98YQGY7CT0', sessionId, cause: 'done', createdAt: times.completed, state: 'sent' },
    ],
    inbox: [
      {
        id: 'f0b8a1d6-7c55-4c58-9d5e-0d7f3a6c2b11',
        kind: 'finished',
        state: 'closed',
        createdAt: times.completed,
        closedAt: times.completed,
        closedBy: 'ack',
      },
    ],
    subscriptions: [subscription],
    notificationSettings: [{ causes: levels, quietHours }],
    requests: [{ route: 'POST /api/sessions', key: 'garden-1', createdAt: times.created, status: 201 }],
  },
  AuditPage: { entries: [auditEntry, refusedEntry] },
  SessionList: { sessions: [finished], nextCursor: 'eyJhdCI6MTc3MzQ3OTc0MjMzMH0' },
  CreateSession: {
    deviceId,
    message: story.title,
    projectPath: story.projectPath,
    queueTtlSeconds: 900,
  },
  CreatedSession: { ...pending, taskId: tasks.start, message: messages[0] },
  SessionDetail: { ...finished, ...page },
  UpdateSession: { title: story.title, archived: false },
  Session: waiting,
  MessagePage: page,
  SendMessage: { content: story.answer, queueTtlSeconds: 900 },
  SentMessage: { taskId: tasks.answer, sessionId, state: 'queued', message: messages[2] },
  AnswerPrompt: { option: 'opt1', digest: asked.digest },
  AnsweredPrompt: { sessionId, promptId: asked.uuid, taskId: tasks.answer, message: messages[2] },
  PromptRefusal: {
    error: 'The question was answered before.',
    code: 'PROMPT_ALREADY_ANSWERED',
    status: 409,
    answer: { option: 'opt1', at: times.answered, by: story.userId },
  },
  GiveAnswer: { text: 'Only the weeds, please' },
  GivenByToken: { sessionId, promptId: asked.uuid, outcome: 'sent' },
  CommandList: {
    commands: [
      { name: 'compact', description: 'Summarise the conversation', inputHint: 'what to keep' },
      { name: 'review', description: '' },
    ],
  },
  SessionContext: {
    sessionId,
    usedTokens: 41_200,
    maxTokens: 200_000,
    details: { used_tokens: 41_200, max_tokens: 200_000 },
  },
  SessionSummary: { sessionId, ...story.summary },
  SessionSettings: { sessionId, settings: story.settings },
  SettingChange: { id: 'mode', value: 'code', keep: true, on: 'iPhone' },
  AgentSettings: {
    deviceId: story.deviceId,
    agentType: 'codex',
    settings: story.settings,
    asOf: times.completed,
    can: ['images'],
  },
  DefaultChange: { agentType: 'codex', id: 'mode', value: 'code' },
  ItemContent: { sessionId, uuid: story.messages[3].uuid, name: 'output', offset: 0, ...story.piece, next: 27 },
  ReleasedSession: { sessionId, result: 'released' },
  ChangeSessions: { action: 'archive', filter: { status: 'idle', before: times.created } },
  ChangedSessions: { changed: 100, more: true },
  MarkRead: { upTo: times.completed },
  CancelSession: { which: 'running' },
  CancelledTask: { taskId: tasks.cancelled, state: 'cancelled' },
  Task: {
    id: tasks.answer,
    sessionId,
    kind: 'resume',
    state: 'completed',
    createdAt: times.answered,
    sentAt: times.answerSent,
    finishedAt: times.completed,
    result: story.result,
  },
  SessionQueue: {
    sessionId,
    v: '-3306251862211426917',
    tasks: [
      {
        taskId: tasks.cancelled,
        uuid: '19c54259-4d73-573b-93ad-fd151d407f20',
        kind: 'resume',
        content: 'Then push it.',
        images: false,
        createdAt: times.answered,
        expiresAt: '2026-03-14T09:28:10.655Z',
      },
    ],
  },
  ChangeQueued: { content: 'Then push it to a branch.', before: tasks.failed },
  DeviceList: { devices: [device] },
  UpdateDevice: { name: story.deviceName },
  Device: device,
  FolderList: { recent: [{ path: story.projectPath, usedAt: times.completed }], browsed: story.folder },
  DevicePing: { ms: 24 },
  ConnectionList: {
    connections: [
      { connectedAt: times.connected, daemonVersion: story.daemonVersion, instance: story.instance },
      {
        connectedAt: times.registered,
        disconnectedAt: times.connected,
        closeCode: 4409,
        reason: 'replaced by a newer connection',
        daemonVersion: story.daemonVersion,
        instance: story.instance,
      },
    ],
  },
  RequestCode: { hostname: story.hostname, agent_type: story.agentType, device_name: story.deviceName },
  DeviceCode: {
    device_code: story.deviceCode,
    user_code: story.userCode,
    verification_uri: 'https://relay.example.com/device',
    verification_uri_complete: `https://relay.example.com/device?user_code=${story.userCode}`,
    verification_url: `https://relay.example.com/device?user_code=${story.userCode}`,
    expires_in: 900,
    interval: 5,
    deviceCode: story.deviceCode,
    userCode: story.userCode,
    verificationUri: 'https://relay.example.com/device',
    verificationUrl: `https://relay.example.com/device?user_code=${story.userCode}`,
    expiresIn: 900,
  },
  PollCode: { device_code: story.deviceCode },
  DeviceCredential: {
    device_id: deviceId,
    refresh_token: story.refreshToken,
    deviceId,
    refreshToken: story.refreshToken,
    access_token: story.refreshToken,
    accessToken: story.refreshToken,
    expires_in: 7_776_000,
    expiresIn: 7_776_000,
    token_type: 'Bearer',
  },
  PollErrorResponse: { error: 'authorization_pending', code: 'AUTHORIZATION_PENDING', status: 400 },
  CodeDetail: {
    userCode: story.userCode,
    hostname: story.hostname,
    agentType: story.agentType,
    deviceName: story.deviceName,
    requestedFrom: '192.0.2.17',
    requestedAt: times.codeRequested,
    expiresAt: '2026-03-14T09:13:12.402Z',
  },
  CodeApproved: { deviceId, approved: true },
  CodeDenied: { approved: false },
  CreateDeviceKey: { ttlSeconds: 600, uses: 5, name: 'Build machines' },
  CreatedDeviceKey: { ...deviceKey, used: 0, key: story.deviceKey },
  DeviceKeyList: { keys: [deviceKey] },
  CreateAcpToken: { deviceId: story.deviceId, name: 'Phone', scopes: ['sessions:read', 'sessions:write'] },
  CreatedAcpToken: { ...acpToken, url: `wss://relay.example.com/acp/${story.deviceId}`, token: story.acpToken },
  AcpTokenList: { tokens: [{ ...acpToken, usedAt: times.connected }] },
  WatchList: { sessionIds: [sessionId], watchedSessions: [{ sessionId, createdAt: times.started }] },
  WatchRequest: { sessionId },
  WatchState: { sessionId, watched: true },
  NotificationList: {
    notifications: [
      { id: '01KKNT2JVT0CQXCD98YQGY7CT0', sessionId, cause: 'done', createdAt: times.completed, state: 'sent' },
      { id: '01KKNSWQ7W843XTDGVJ6JSHHDD', sessionId, cause: 'needs_you', createdAt: times.asked, state: 'sent' },
    ],
  },
  NotificationSettings: { causes: levels, quietHours, held: { count: 2, until: '2026-03-15T06:00:00.000Z' } },
  SaveNotificationSettings: { causes: levels, quietHours },
  PushConfig: {
    kinds: ['ntfy', 'webhook', 'webpush'],
    vapid: { publicKey: story.vapidKey },
    limits: { subscriptions: 20, addressCharacters: 1000 },
  },
  SubscriptionList: { subscriptions: [subscription] },
  AddSubscription: { kind: 'ntfy', label: 'My phone', url: 'https://ntfy.sh', topic: 'garden-x7k2p9', language: 'de' },
  AddedSubscription: { subscription },
  Subscription: subscription,
  ChangeSubscription: { causes: { done: 'off' } },
  TestStarted: { deliveryId: delivery.id },
  RotatedSecret: { secret: story.webhookSecret },
  Delivery: delivery,
  Inbox: { version: 42, counts: inboxCounts, items: [inboxItem] },
  InboxState: { version: 43, counts: { ...inboxCounts, failure: 0, total: 2, badge: 1 } },
  AckItems: { kind: 'finished', upToVersion: 42 },
  SnoozeItem: { until: '2026-03-14T18:00:00.000Z' },
  Ticket: { ticket: story.ticket, expiresIn: 30, offset: 'm8x2k1-17' },
  ErrorResponse: { error: 'No such session.', code: 'SESSION_NOT_FOUND', status: 404 },
};
