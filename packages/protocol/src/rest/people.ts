/** Devices, registration, watching, notifications, tickets and the user, as apps and daemons see them over REST. */
import {
  type Static,
  Type,
  agentTypePattern,
  count,
  flag,
  id,
  sessionId,
  limits,
  line,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  text,
  time,
} from '../schema.ts';
import { pollErrors, type PollError } from '../errors.ts';
import { notificationCauses } from './causes.ts';
import { Delivery, maxSubscriptions } from './push.ts';

export const deviceStatuses = ['online', 'offline'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];

export const DeviceConflict = Type.Object(
  {
    machines: list(
      record('ConflictMachine', 'One of the two daemons; unknown texts are empty.', {
        hostname: text('Host name, where its daemon tells it', { maxLength: limits.hostnameCharacters }),
        address: line('Network address it connects from'),
        daemonVersion: line('What its daemon declared'),
      }),
      'The machines; one alone where nothing tells them apart',
      { maxItems: limits.conflictMachines },
    ),
    since: time('When it was noticed'),
  },
  {
    description:
      'Two daemons take the place of the device from each other: one machine must be registered again. Null without such a conflict, or no longer',
  },
);

export const Device = record('Device', "A user's machine running a daemon.", {
  id: id('Device id'),
  name: line('Display name'),
  hostname: line('Host name of the machine'),
  agentType: line('Agent type name'),
  status: oneOf(deviceStatuses, 'Whether its daemon is connected'),
  lastSeenAt: time('Last sign of life; registration if it never connected'),
  capabilities: list(line('A capability'), 'What its daemon declared when it last connected, for example `images`', {
    maxItems: limits.capabilities,
  }),
  agents: maybe(
    list(
      record('DeviceAgent', 'An agent with which a session can be started.', {
        agentType: text('Agent type name', { pattern: agentTypePattern, maxLength: 64 }),
        name: maybe(text('Name of the product', { maxLength: limits.nameCharacters })),
        version: maybe(text('Its version', { maxLength: 64 })),
      }),
      'The one it is registered for first, then those that its daemon declared when it last connected',
      { maxItems: limits.agents },
    ),
  ),
  continues: maybe(
    list(
      text('Agent type name', { maxLength: 64 }),
      'Agents whose sessions continue by themselves after a usage limit; absent: none',
      { maxItems: limits.agents },
    ),
  ),
  /** Additive: absent in the answers of older releases. */
  conflict: maybe(nullable(DeviceConflict)),
});

export const DeviceList = record('DeviceList', 'Devices of the user.', {
  devices: list(Device, 'Devices', { maxItems: limits.devices }),
});

export const UpdateDevice = record('UpdateDevice', 'Rename a device.', {
  name: text('New display name', { minLength: 1, maxLength: limits.nameCharacters }),
});

export const ChangeContinue = record('ChangeContinue', 'Whether sessions of an agent continue after a usage limit.', {
  agentType: text('Agent type name', { pattern: agentTypePattern, maxLength: 64 }),
  mode: oneOf(
    ['ask', 'auto'],
    'auto: the relay sends a message when the limit resets, at most 3 times in a row. ask: the user decides each time',
  ),
});

export const DevicePing = record('DevicePing', 'Its daemon answered.', {
  ms: count('Milliseconds from the api to the daemon and back'),
});

export const ConnectionList = record('ConnectionList', 'The newest 50 connections of a device.', {
  connections: list(
    record('Connection', 'One connection of the daemon.', {
      connectedAt: time('Accepted'),
      disconnectedAt: maybe(time('Ended')),
      closeCode: maybe(Type.Integer({ description: 'WebSocket close code' })),
      reason: maybe(line('Why it ended')),
      daemonVersion: line('What the daemon declared; empty if nothing'),
      instance: line('The instance that held it'),
    }),
    'Newest first',
    { maxItems: limits.connections },
  ),
});

const hostname = text('Host name of the machine', { minLength: 1, maxLength: limits.hostnameCharacters });
const agentType = text('Agent type name', { pattern: agentTypePattern, maxLength: 64 });
const deviceName = text('Display name; default: the host name', { maxLength: limits.nameCharacters });

export const RequestCode = Type.Object(
  {
    hostname,
    agent_type: maybe(agentType),
    agentType: maybe(agentType),
    device_name: maybe(deviceName),
    deviceName: maybe(deviceName),
    key: maybe(line('A registration key: the code is approved at once, by the person who made the key')),
  },
  {
    title: 'RequestCode',
    description: 'Begin a registration. Either spelling of a field; one of `agent_type` and `agentType` is required.',
  },
);

export const DeviceCode = record('DeviceCode', 'The codes that a daemon shows and polls with, in both spellings.', {
  device_code: line('Secret of the daemon, for polling'),
  user_code: line('What the person types, `XXXX-XXXX`'),
  verification_uri: text('Where to type it', { maxLength: limits.pathCharacters }),
  verification_uri_complete: text('The same with the code filled in', { maxLength: limits.pathCharacters }),
  verification_url: text('The same with the code filled in', { maxLength: limits.pathCharacters }),
  expires_in: count('Seconds'),
  interval: count('Seconds between polls'),
  deviceCode: line('= device_code'),
  userCode: line('= user_code'),
  verificationUri: text('= verification_uri', { maxLength: limits.pathCharacters }),
  verificationUrl: text('= verification_url', { maxLength: limits.pathCharacters }),
  expiresIn: count('= expires_in'),
  approved: maybe(flag('Approved by a registration key: poll at once')),
});

export const PollCode = Type.Object(
  { device_code: maybe(line('From the first answer')), deviceCode: maybe(line('= device_code')) },
  { title: 'PollCode', description: 'Poll for the credential. Either spelling.' },
);

export const DeviceCredential = record(
  'DeviceCredential',
  'The credential of the device, in every spelling that daemons read. Shown once.',
  {
    device_id: id('Device id'),
    refresh_token: line('Bearer of `/ws/daemon`'),
    deviceId: id('= device_id'),
    refreshToken: line('= refresh_token'),
    access_token: line('= refresh_token: it is exchanged for nothing'),
    accessToken: line('= refresh_token'),
    expires_in: count('Seconds until it ends if the device never connects; every connection starts the count again'),
    expiresIn: count('= expires_in'),
    token_type: Type.Literal('Bearer'),
  },
);

export const CodeDetail = record('CodeDetail', 'The machine that asks to be registered.', {
  userCode: line('`XXXX-XXXX`'),
  hostname: line('Host name of the machine'),
  agentType: line('Agent type name'),
  deviceName: line('Display name'),
  requestedFrom: line('Address that asked'),
  requestedAt: time('When it asked'),
  expiresAt: time('When the code ends'),
});

export const CodeApproved = record('CodeApproved', 'The device may fetch its credential now.', {
  deviceId: id('The id it will have'),
  approved: Type.Literal(true),
});

export const CodeDenied = record('CodeDenied', 'The device was turned away.', { approved: Type.Literal(false) });

export const WatchList = record('WatchList', 'Sessions the user watches.', {
  sessionIds: list(sessionId('Session id'), 'Canonical session ids', { maxItems: limits.watchedSessions }),
  watchedSessions: list(
    record('WatchedSession', 'One of them.', {
      sessionId: sessionId('Canonical session id'),
      createdAt: time('Since when'),
    }),
    'The same with times',
    { maxItems: limits.watchedSessions },
  ),
});

export const WatchRequest = record('WatchRequest', 'The session to watch.', {
  sessionId: sessionId('Session id or alias'),
});

export const WatchState = record('WatchState', 'Whether the session is watched now.', {
  sessionId: sessionId('Canonical session id'),
  watched: flag('Yes or no'),
});

const notificationStates = ['pending', 'sending', 'sent', 'failed', 'suppressed', 'unaddressed'] as const;

export const NotificationList = record('NotificationList', "The user's notifications, newest first.", {
  notifications: list(
    record('Notification', 'One notification.', {
      id: id('Notification id'),
      sessionId: text('Canonical session id; empty for what concerns a device, a program or the account', {
        maxLength: limits.sessionIdCharacters,
      }),
      deviceId: maybe(id('The device, for `device_conflict` and `device_allowed`')),
      name: maybe(
        line(
          'Of the device or program, for `device_allowed` and `program_allowed`; for `account_changed` what changed',
        ),
      ),
      cause: oneOf(notificationCauses, 'Why'),
      createdAt: time('When it became due'),
      state: oneOf(
        notificationStates,
        '`sent`: a delivery to each address was written down. `suppressed`: none of them is wanted. `unaddressed`: the person has no address',
      ),
      /** Additive: absent in the answers of older releases. */
      deliveries: maybe(list(Delivery, 'To each address', { maxItems: maxSubscriptions })),
    }),
    'Notifications',
    { maxItems: limits.sessionsPage },
  ),
  nextCursor: maybe(line('For the next page')),
});

export const Ticket = record('Ticket', 'A single-use credential for `/ws/attention?ticket=`.', {
  ticket: line('Secret'),
  expiresIn: count('Seconds'),
  offset: maybe(
    line('Position in the frames of the person before the ticket was made, for `since`. Absent where there is none'),
  ),
});

export const Me = record('Me', 'The caller.', {
  id: id('User id'),
  email: maybe(line('E-mail address, if the issuer says')),
  name: maybe(line('Name, if the issuer says')),
  scopes: list(line('Scope'), 'What the token may do'),
});

export const deleteConfirmation = 'delete my account';

export const DeleteAccount = record('DeleteAccount', 'That the person means it.', {
  confirm: Type.Literal(deleteConfirmation, { description: 'What the person was asked to type' }),
});

export const Health = record('Health', 'The process lives.', {
  status: Type.Literal('ok'),
  version: line('Like 1.0.0'),
  capabilities: list(
    line('A name'),
    'The abilities that the relay has beyond the specification, as in `X-Relay-Capabilities`',
    { maxItems: 64 },
  ),
});

export const Readiness = record('Readiness', 'Whether this instance takes work.', {
  status: oneOf(
    ['ok', 'degraded', 'unavailable', 'draining'],
    'Verdict. `degraded` takes work (200): an api without Redis has the database, and refuses with 503 what needs another instance',
  ),
  checks: Type.Record(Type.String(), oneOf(['ok', 'failed'], 'Verdict of one dependency')),
  schema: maybe(oneOf(['newer'], 'The database was migrated by a newer release, which this one runs with')),
});

export const ErrorResponse = record('ErrorResponse', 'Every REST error, and every refused upgrade.', {
  error: text('Short message that says what to do'),
  code: line('Machine-readable code'),
  status: Type.Integer({ description: 'HTTP status' }),
  retryAfter: maybe(count('Seconds, with 429')),
});

export const PollErrorResponse = record(
  'PollErrorResponse',
  'Why polling gave no credential: `error` is the string of RFC 8628, verbatim.',
  {
    error: oneOf(Object.keys(pollErrors) as PollError[], 'Why'),
    code: line('The same in capitals'),
    status: Type.Literal(400, { description: 'HTTP status' }),
  },
);

export type Device = Static<typeof Device>;
export type DevicePing = Static<typeof DevicePing>;
export type ConnectionList = Static<typeof ConnectionList>;
export type RequestCode = Static<typeof RequestCode>;
export type PollCode = Static<typeof PollCode>;
export type DeviceCode = Static<typeof DeviceCode>;
export type CodeDetail = Static<typeof CodeDetail>;
export type WatchList = Static<typeof WatchList>;
export type DeviceConflict = Static<typeof DeviceConflict>;
export type NotificationList = Static<typeof NotificationList>;
export type WatchRequest = Static<typeof WatchRequest>;
export type UpdateDevice = Static<typeof UpdateDevice>;
export type ChangeContinue = Static<typeof ChangeContinue>;
