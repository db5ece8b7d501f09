/**
 * The answer of `GET /api/me/export` (rules, 8.16): all data that the relay stores about a person. Streamed, because
 * the lists can be long.
 */
import { Type, count, id, limits, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { CommandList, Session, taskKinds, taskStates } from './conversation.ts';
import { AuditEntry } from './audit.ts';
import { AcpToken, maxAcpTokens } from './acp-tokens.ts';
import { DeviceKey, maxDeviceKeys } from './device-keys.ts';
import { ConnectionList, Device, NotificationList } from './people.ts';
import { CauseLevels, QuietHours } from './notification-settings.ts';
import { inboxKinds } from './inbox.ts';
import { Subscription, maxSubscriptions } from './push.ts';
import { ExportedSchedule } from './schedules.ts';

const many = { maxItems: limits.exportItems };

const account = record('ExportedAccount', 'The person.', {
  id: id('User id'),
  email: maybe(line('E-mail address')),
  name: maybe(line('Name')),
  createdAt: maybe(time('Creation; only of accounts of this relay')),
  secondFactor: maybe(Type.Boolean({ description: 'A sign-in takes a one-time code besides the password' })),
});

const signIn = record('ExportedSignIn', 'A browser that is signed in.', {
  createdAt: time('Since when'),
  expiresAt: time('Until when, unless it is used'),
  address: maybe(line('Where it signed in from')),
  browser: maybe(text('What it calls itself')),
});

const passkey = record('ExportedPasskey', 'A key of a device that signs the person in.', {
  name: line('Its name'),
  createdAt: time('When it was added'),
  lastUsedAt: maybe(time('When it last signed in')),
  synced: Type.Boolean({ description: 'A password manager takes it to other devices' }),
});

const application = record('ExportedApplication', 'A program that acts for the person.', {
  clientId: line('Its id'),
  name: line('Its name'),
  scopes: list(line('Scope'), 'What it may do'),
  authorizedAt: time('Since when'),
  lastUsedAt: maybe(time('When it last got a token')),
});

const invitation = record('ExportedInvitation', 'A link that the person made for someone else.', {
  createdAt: time('When'),
  expiresAt: maybe(time('Until when')),
  usedAt: maybe(time('When an account was created with it')),
});

const registration = record('ExportedRegistration', 'A machine that asked to be registered.', {
  hostname: line('Host name'),
  deviceName: line('Display name'),
  agentType: line('Agent type name'),
  requestedFrom: line('Address that asked'),
  requestedAt: time('When it asked'),
  state: line('What became of it'),
});

const device = record('ExportedDevice', 'A device of the person.', {
  ...Device.properties,
  createdAt: time('When it was registered'),
  connections: ConnectionList.properties.connections,
  commands: list(
    record('ExportedCommands', 'The slash commands of its agent.', {
      sessionId: maybe(line("Only in this session: the agent's own id")),
      project: maybe(text('Only in this folder', { maxLength: limits.pathCharacters })),
      commands: CommandList.properties.commands,
    }),
    'As the daemon last said',
  ),
});

const session = record('ExportedSession', 'A session of the person.', {
  ...Session.properties,
  filePath: text('File of the agent on the device; empty if unknown', { maxLength: limits.pathCharacters }),
  earlierIds: list(sessionId('An id'), 'Ids that the session once had'),
});

const task = record('ExportedTask', 'One run inside a session.', {
  id: id('Task id'),
  sessionId: sessionId('Canonical session id'),
  kind: oneOf(taskKinds, 'A first message or a later one'),
  state: oneOf(taskStates, 'State'),
  createdAt: time('Accepted'),
  sentAt: maybe(time('Written to the device')),
  finishedAt: maybe(time('Ended')),
  instruction: maybe(text('The message, until the task has ended')),
  images: maybe(
    list(text('An image as a data URL', { maxLength: limits.imageCharacters }), 'Until the task has ended', {
      maxItems: limits.images,
    }),
  ),
  result: maybe(text('What is kept of the result')),
  error: maybe(Type.Object({ code: line('Code'), error: text('For people') })),
  note: maybe(text('How the outcome was learned')),
});

const question = record('ExportedQuestion', 'A question of an agent, open or ended within 30 days.', {
  id: id('Id of the question'),
  sessionId: sessionId('Canonical session id'),
  state: line('open, answered, closed, failed, superseded or expired'),
  askedAt: time('When it was asked'),
  answeredAt: maybe(time('When it was answered')),
  option: maybe(id('The option that was chosen')),
});

const inboxItem = record('ExportedInboxItem', 'Something that waits for the person, or did within 30 days.', {
  id: id('Item id'),
  kind: oneOf(inboxKinds, 'What it is'),
  state: line('open, snoozed or closed'),
  createdAt: time('When it began to wait'),
  snoozedUntil: maybe(time('Until when it is hidden')),
  closedAt: maybe(time('When it was closed')),
  closedBy: maybe(line('By what')),
});

const request = record(
  'ExportedRequest',
  'A request with an Idempotency-Key; its answer is among the sessions and tasks.',
  {
    route: line('Route'),
    key: line('The key'),
    createdAt: time('When'),
    status: count('Status of the answer'),
  },
);

export const AccountExport = record(
  'AccountExport',
  'Everything that the relay keeps of a person. No secret and no hash of one; of what was deleted, nothing.',
  {
    exportedAt: time('When'),
    account,
    signInMethods: list(line('`credential` is a password; else the service'), 'How the person signs in here'),
    signIns: list(signIn, 'Browsers', many),
    passkeys: list(passkey, 'Passkeys', { maxItems: 100 }),
    applications: list(application, 'Programs'),
    invitations: list(invitation, 'Invitations', many),
    registrations: list(registration, 'Registrations of the last hour', many),
    audit: list(AuditEntry, 'What was done in the name of the person', many),
    deviceKeys: list(DeviceKey, 'Registration keys that have not expired', { maxItems: maxDeviceKeys }),
    acpTokens: list(AcpToken, 'Tokens of ACP clients that are valid', { maxItems: maxAcpTokens }),
    devices: list(device, 'Devices', { maxItems: limits.devices }),
    sessions: list(session, 'Sessions', many),
    tasks: list(task, 'Tasks, by session', many),
    questions: list(question, 'Questions, in the order in which they were asked', many),
    schedules: list(ExportedSchedule, 'Messages that repeat, with their newest runs', { maxItems: limits.schedules }),
    watchedSessions: list(sessionId('Canonical session id'), 'Sessions that the person watches', {
      maxItems: limits.watchedSessions,
    }),
    notifications: list(NotificationList.properties.notifications.items, 'Of the last 30 days', many),
    inbox: list(inboxItem, 'What waits, and what was closed within 30 days', many),
    subscriptions: list(Subscription, 'Addresses at which the person is notified', { maxItems: maxSubscriptions }),
    notificationSettings: list(
      record('ExportedNotificationSettings', 'The choice of the person.', {
        causes: CauseLevels,
        quietHours: maybe(QuietHours),
      }),
      'Settings of notifications, where the person chose any',
      { maxItems: 1 },
    ),
    requests: list(request, 'Of the last day', many),
  },
);
