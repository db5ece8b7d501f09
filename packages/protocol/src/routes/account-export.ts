/** The export of an account (rules, 8.16): all data that the relay stores about a person. Streamed, because the lists can be long. */
import { finished } from '../examples/sessions.ts';
import { openQuestion } from '../examples/transcript.ts';
import * as story from '../examples/story.ts';
import { Session, taskKinds, taskStates } from '../rest/conversation.ts';
import { inboxKinds } from '../rest/inbox.ts';
import { fileLimits } from '../rest/uploads.ts';
import { Type, count, id, limits, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { AuditEntry } from './account.ts';
import { body, exampleOf } from './body.ts';
import { AcpToken, DeviceKey, maxAcpTokens, maxDeviceKeys } from './credentials.ts';
import { ConnectionList, Device } from './devices.ts';
import { CommandList } from './from-daemon.ts';
import { CauseLevels, NotificationSettings, QuietHours } from './notification-settings.ts';
import { Subscription, maxSubscriptions } from './push.ts';
import { ExportedSchedule } from './schedules.ts';
import { NotificationList } from './watching.ts';
import type { Rows } from './route.ts';

const many = { maxItems: limits.exportItems };

const account = record('ExportedAccount', 'The person.', {
  id: id('User id'),
  email: maybe(line('E-mail address')),
  name: maybe(line('Name')),
  createdAt: maybe(time('Creation time; only for accounts of this relay')),
  secondFactor: maybe(Type.Boolean({ description: 'Sign-in requires a one-time code in addition to the password' })),
});

const signIn = record('ExportedSignIn', 'A browser that is signed in.', {
  createdAt: time('Start'),
  expiresAt: time('Expiry; use extends it'),
  address: maybe(line('Network address of the sign-in')),
  browser: maybe(text('User agent of the browser')),
});

const passkey = record('ExportedPasskey', 'A key of a device that signs the person in.', {
  name: line('Its name'),
  createdAt: time('When it was added'),
  lastUsedAt: maybe(time('When it last signed in')),
  synced: Type.Boolean({ description: 'A password manager syncs it to other devices' }),
});

const application = record('ExportedApplication', 'A program with access to the account.', {
  clientId: line('Its id'),
  name: line('Its name'),
  scopes: list(line('Scope'), 'Its scopes'),
  authorizedAt: time('Start'),
  lastUsedAt: maybe(time('Time of its latest token')),
});

const invitation = record('ExportedInvitation', 'An invitation link that the person created.', {
  createdAt: time('When'),
  expiresAt: maybe(time('Expiry')),
  usedAt: maybe(time('When it was used to create an account')),
});

const registration = record('ExportedRegistration', 'A machine that requested registration.', {
  hostname: line('Host name'),
  deviceName: line('Display name'),
  agentType: line('Agent type name'),
  requestedFrom: line('Network address of the request'),
  requestedAt: time('Time of the request'),
  state: line('State of the request'),
});

const device = record('ExportedDevice', 'A device of the person.', {
  ...Device.properties,
  createdAt: time('When it was registered'),
  connections: ConnectionList.properties.connections,
  commands: list(
    record('ExportedCommands', 'The slash commands of its agent.', {
      sessionId: maybe(line('Native id of the session, for commands of one session')),
      project: maybe(text('Folder, for commands of one project', { maxLength: limits.pathCharacters })),
      commands: CommandList.properties.commands,
    }),
    'As in the latest report of the daemon',
  ),
});

const session = record('ExportedSession', 'A session of the person.', {
  ...Session.properties,
  filePath: text('Transcript file on the device; empty if unknown', { maxLength: limits.pathCharacters }),
  earlierIds: list(sessionId('An id'), 'Former ids of the session'),
});

const task = record('ExportedTask', 'One run inside a session.', {
  id: id('Task id'),
  sessionId: sessionId('Canonical session id'),
  kind: oneOf(taskKinds, 'First message of its session, or a later one'),
  state: oneOf(taskStates, 'State'),
  createdAt: time('Accepted'),
  sentAt: maybe(time('Written to the device')),
  finishedAt: maybe(time('Ended')),
  instruction: maybe(text('The message, until the task is settled')),
  images: maybe(
    list(text('An image as a data URL', { maxLength: limits.imageCharacters }), 'Images, until the task is settled', {
      maxItems: limits.images,
    }),
  ),
  files: maybe(list(id('A file'), 'Ids of its files, until the task is settled', { maxItems: fileLimits.files })),
  result: maybe(text('The stored part of the result')),
  error: maybe(Type.Object({ code: line('Code'), error: text('Text for people') })),
  note: maybe(text('How the relay learned the outcome')),
});

const question = record('ExportedQuestion', 'A question of an agent, open or closed within 30 days.', {
  id: id('Id of the question'),
  sessionId: sessionId('Canonical session id'),
  state: line('open, answered, closed, failed, superseded or expired'),
  askedAt: time('When it was asked'),
  answeredAt: maybe(time('When it was answered')),
  option: maybe(id('The chosen option')),
});

const inboxItem = record('ExportedInboxItem', 'An inbox item, open or closed within 30 days.', {
  id: id('Item id'),
  kind: oneOf(inboxKinds, 'Kind of the item'),
  state: line('open, snoozed or closed'),
  createdAt: time('When it was opened'),
  snoozedUntil: maybe(time('When it is shown again')),
  closedAt: maybe(time('When it was closed')),
  closedBy: maybe(line('Cause of the closing')),
});

const request = record(
  'ExportedRequest',
  'A request with an Idempotency-Key; its result is among the sessions and tasks.',
  {
    route: line('Route'),
    key: line('The key'),
    createdAt: time('When'),
    status: count('Status of the answer'),
  },
);

export const AccountExport = body(
  record(
    'AccountExport',
    'All data that the relay stores about a person, without secrets, hashes of secrets and deleted data.',
    {
      exportedAt: time('When'),
      account,
      signInMethods: list(
        line('`credential` is a password; otherwise the id of the sign-in service'),
        'Sign-in methods of the person',
      ),
      signIns: list(signIn, 'Browsers', many),
      passkeys: list(passkey, 'Passkeys', { maxItems: 100 }),
      applications: list(application, 'Programs'),
      invitations: list(invitation, 'Invitations', many),
      registrations: list(registration, 'Registrations of the last hour', many),
      audit: list(AuditEntry, 'Audit log of the person', many),
      deviceKeys: list(DeviceKey, 'Registration keys that have not expired', { maxItems: maxDeviceKeys }),
      acpTokens: list(AcpToken, 'Tokens of ACP clients that are valid', { maxItems: maxAcpTokens }),
      devices: list(device, 'Devices', { maxItems: limits.devices }),
      sessions: list(session, 'Sessions', many),
      tasks: list(task, 'Tasks, grouped by session', many),
      questions: list(question, 'Questions, oldest first', many),
      schedules: list(ExportedSchedule, 'Messages that repeat, with their newest runs', { maxItems: limits.schedules }),
      watchedSessions: list(sessionId('Canonical session id'), 'Sessions that the person watches', {
        maxItems: limits.watchedSessions,
      }),
      notifications: list(NotificationList.properties.notifications.items, 'Notifications of the last 30 days', many),
      inbox: list(inboxItem, 'Open inbox items, and items closed within 30 days', many),
      subscriptions: list(Subscription, 'Notification addresses of the person', { maxItems: maxSubscriptions }),
      notificationSettings: list(
        record('ExportedNotificationSettings', 'Level chosen by the person.', {
          causes: CauseLevels,
          quietHours: maybe(QuietHours),
        }),
        'Notification settings, if the person changed any',
        { maxItems: 1 },
      ),
      requests: list(request, 'Requests of the last day', many),
    },
  ),
  {
    exportedAt: story.times.completed,
    account: {
      ...{ id: story.userId, email: 'ada@example.com', name: 'Ada', createdAt: story.times.registered },
      secondFactor: true,
    },
    signInMethods: ['credential'],
    signIns: [
      {
        createdAt: story.times.registered,
        expiresAt: story.times.completed,
        address: '192.0.2.17',
        browser: 'Firefox',
      },
    ],
    passkeys: [{ name: 'Phone', createdAt: story.times.registered, lastUsedAt: story.times.completed, synced: true }],
    applications: [
      { clientId: 'relay-cli', name: 'Command line', scopes: ['sessions:read'], authorizedAt: story.times.registered },
    ],
    invitations: [{ createdAt: story.times.registered, expiresAt: story.times.completed }],
    registrations: [
      {
        hostname: story.hostname,
        deviceName: story.deviceName,
        agentType: story.agentType,
        requestedFrom: '192.0.2.17',
        requestedAt: story.times.codeRequested,
        state: 'redeemed',
      },
    ],
    audit: [exampleOf(AuditEntry)],
    deviceKeys: [exampleOf(DeviceKey)],
    acpTokens: [exampleOf(AcpToken)],
    devices: [
      {
        ...exampleOf(Device),
        createdAt: story.times.registered,
        connections: [
          { connectedAt: story.times.connected, daemonVersion: story.daemonVersion, instance: story.instance },
        ],
        commands: [{ project: story.projectPath, commands: [{ name: 'review', description: '' }] }],
      },
    ],
    sessions: [{ ...finished, filePath: story.filePath, earlierIds: [story.pendingSessionId] }],
    tasks: [
      {
        id: story.tasks.answer,
        sessionId: story.sessionId,
        kind: 'resume',
        state: 'completed',
        createdAt: story.times.answered,
        sentAt: story.times.answerSent,
        finishedAt: story.times.completed,
        result: story.result,
      },
    ],
    schedules: [exampleOf(ExportedSchedule)],
    questions: [
      {
        id: openQuestion.uuid,
        sessionId: story.sessionId,
        state: 'closed',
        askedAt: story.times.asked,
        answeredAt: story.times.answered,
        option: 'opt1',
      },
    ],
    watchedSessions: [story.sessionId],
    notifications: [
      {
        id: '01KKNT2JVT0CQXCD98YQGY7CT0',
        sessionId: story.sessionId,
        cause: 'done',
        createdAt: story.times.completed,
        state: 'sent',
      },
    ],
    inbox: [
      {
        id: 'f0b8a1d6-7c55-4c58-9d5e-0d7f3a6c2b11',
        kind: 'finished',
        state: 'closed',
        createdAt: story.times.completed,
        closedAt: story.times.completed,
        closedBy: 'ack',
      },
    ],
    subscriptions: [exampleOf(Subscription)],
    notificationSettings: [{ causes: exampleOf(NotificationSettings).causes, quietHours: exampleOf(QuietHours) }],
    requests: [{ route: 'POST /api/sessions', key: 'garden-1', createdAt: story.times.created, status: 201 }],
  },
);

export const accountExportRoutes = {
  exportMe: {
    method: 'GET',
    path: '/api/me/export',
    credential: 'user',
    summary: 'Export all data of the person as one document; at most six times in ten minutes',
    scope: ['sessions:read', 'devices:read'],
    success: { 200: AccountExport },
    errors: [],
    limit: 'export',
    streamed: true,
  },
} as const satisfies Rows;
