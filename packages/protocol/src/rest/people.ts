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
import { word } from '../transcript/question.ts';
import { Delivery, maxSubscriptions } from './push.ts';

export const deviceStatuses = ['online', 'offline'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];

export const DeviceConflict = Type.Object(
  {
    machines: list(
      record('ConflictMachine', 'One of the two daemons; unknown values are empty.', {
        hostname: text('Host name, if its daemon reports it', { maxLength: limits.hostnameCharacters }),
        address: line('Network address of its connection'),
        daemonVersion: line('Version that its daemon declared'),
      }),
      'The machines; only one if the relay cannot distinguish them',
      { maxItems: limits.conflictMachines },
    ),
    since: time('When the relay detected the conflict'),
  },
  {
    description:
      'Two daemons with this registration displace each other: register one of the machines again. Null if there is no conflict',
  },
);

export const Device = record('Device', 'A machine of the user that runs a daemon.', {
  id: id('Device id'),
  name: line('Display name'),
  hostname: line('Host name of the machine'),
  agentType: line('Agent type name'),
  status: oneOf(deviceStatuses, 'Whether its daemon is connected'),
  lastSeenAt: time('Time of its last activity; time of registration if it never connected'),
  capabilities: list(
    line('A capability'),
    'Capabilities that its daemon declared when it last connected, for example `images`',
    {
      maxItems: limits.capabilities,
    },
  ),
  agents: maybe(
    list(
      record('DeviceAgent', 'An agent that can run new sessions.', {
        agentType: text('Agent type name', { pattern: agentTypePattern, maxLength: 64 }),
        name: maybe(text('Name of the product', { maxLength: limits.nameCharacters })),
        version: maybe(text('Its version', { maxLength: 64 })),
      }),
      'The agent of the registration first, then the agents that its daemon declared when it last connected',
      { maxItems: limits.agents },
    ),
  ),
  continues: maybe(
    list(
      text('Agent type name', { maxLength: 64 }),
      'Agents whose sessions continue automatically after a usage limit; absent: none',
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

export const DevicePing = record('DevicePing', 'The daemon responded.', {
  ms: count('Round-trip time from the api to the daemon in milliseconds'),
});

export const ConnectionList = record('ConnectionList', 'The newest 50 connections of a device.', {
  connections: list(
    record('Connection', 'One connection of the daemon.', {
      connectedAt: time('Accepted'),
      disconnectedAt: maybe(time('Ended')),
      closeCode: maybe(Type.Integer({ description: 'WebSocket close code' })),
      reason: maybe(line('Why it was closed')),
      daemonVersion: line('Version that the daemon declared; empty if none'),
      instance: line('The instance that had the connection'),
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
    key: maybe(line('A registration key: approves the code at once in the name of its creator')),
  },
  {
    title: 'RequestCode',
    description:
      'Begin a registration. Each field is accepted in both spellings; `agent_type` or `agentType` is required.',
  },
);

export const DeviceCode = record(
  'DeviceCode',
  'The code that a daemon shows and the code for its polling, in both spellings.',
  {
    device_code: line('Secret of the daemon, for polling'),
    user_code: line('Code that the person types, `XXXX-XXXX`'),
    verification_uri: text('Page on which the person types it', { maxLength: limits.pathCharacters }),
    verification_uri_complete: text('The same page with the code filled in', { maxLength: limits.pathCharacters }),
    verification_url: text('The same page with the code filled in', { maxLength: limits.pathCharacters }),
    expires_in: count('Seconds'),
    interval: count('Seconds between polls'),
    deviceCode: line('= device_code'),
    userCode: line('= user_code'),
    verificationUri: text('= verification_uri', { maxLength: limits.pathCharacters }),
    verificationUrl: text('= verification_url', { maxLength: limits.pathCharacters }),
    expiresIn: count('= expires_in'),
    approved: maybe(flag('A registration key approved the code: poll at once')),
  },
);

export const PollCode = Type.Object(
  { device_code: maybe(line('`device_code` of the first answer')), deviceCode: maybe(line('= device_code')) },
  { title: 'PollCode', description: 'Poll for the credential. Either spelling.' },
);

export const DeviceCredential = record(
  'DeviceCredential',
  'The credential of the device, in every spelling that daemons read. Shown only once.',
  {
    device_id: id('Device id'),
    refresh_token: line('Bearer token for `/ws/daemon`'),
    deviceId: id('= device_id'),
    refreshToken: line('= refresh_token'),
    access_token: line('= refresh_token; the daemon does not exchange it for another token'),
    accessToken: line('= refresh_token'),
    expires_in: count('Seconds until it expires if the device does not connect; every connection restarts the period'),
    expiresIn: count('= expires_in'),
    token_type: Type.Literal('Bearer'),
  },
);

export const CodeDetail = record('CodeDetail', 'The machine that requests registration.', {
  userCode: line('`XXXX-XXXX`'),
  hostname: line('Host name of the machine'),
  agentType: line('Agent type name'),
  deviceName: line('Display name'),
  requestedFrom: line('Network address of the request'),
  requestedAt: time('Time of the request'),
  expiresAt: time('Expiry of the code'),
});

export const CodeApproved = record('CodeApproved', 'The device was approved and can fetch its credential.', {
  deviceId: id('Its device id'),
  approved: Type.Literal(true),
});

export const CodeDenied = record('CodeDenied', 'The device was denied.', { approved: Type.Literal(false) });

export const WatchList = record('WatchList', 'Sessions the user watches.', {
  sessionIds: list(sessionId('Session id'), 'Canonical session ids', { maxItems: limits.watchedSessions }),
  watchedSessions: list(
    record('WatchedSession', 'A watched session.', {
      sessionId: sessionId('Canonical session id'),
      createdAt: time('Start of watching'),
    }),
    'The same sessions with their times',
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
});

export const Ticket = record('Ticket', 'A single-use credential for `/ws/attention?ticket=`.', {
  ticket: line('Secret'),
  expiresIn: count('Seconds'),
  offset: maybe(
    line(
      'Position in the frames of the person before the ticket was made, for `since`. Absent if there is no such position',
    ),
  ),
});

export const Me = record('Me', 'The caller.', {
  id: id('User id'),
  email: maybe(line('E-mail address, if the issuer provides it')),
  name: maybe(line('Name, if the issuer provides it')),
  scopes: list(line('Scope'), 'Scopes of the token'),
});

export const deleteConfirmation = 'delete my account';

export const DeleteAccount = record('DeleteAccount', 'Confirmation of the person.', {
  confirm: Type.Literal(deleteConfirmation, { description: 'The phrase that the person must type' }),
});

export const Health = record('Health', 'The process is alive.', {
  status: Type.Literal('ok'),
  version: line('Like 1.0.0'),
  capabilities: list(
    line('A name'),
    'Capabilities of the relay beyond the specification, as in `X-Relay-Capabilities`',
    { maxItems: 64 },
  ),
});

export const Readiness = record('Readiness', 'Whether this instance accepts work.', {
  status: oneOf(
    ['ok', 'degraded', 'unavailable', 'draining'],
    'Verdict. A `degraded` instance accepts work (200): an api without Redis still reaches the database, and answers 503 to requests that need another instance',
  ),
  checks: Type.Record(Type.String(), oneOf(['ok', 'failed'], 'Verdict of one dependency')),
  schema: maybe(oneOf(['newer'], 'A newer release migrated the database; this release is compatible with it')),
});

export const ErrorResponse = record('ErrorResponse', 'Every REST error, and every refused upgrade.', {
  error: text('Short message for people with the next step'),
  code: line('Machine-readable code'),
  status: Type.Integer({ description: 'HTTP status' }),
  retryAfter: maybe(count('Seconds until a retry, with 429')),
});

export const PollErrorResponse = record(
  'PollErrorResponse',
  'Why polling returned no credential: `error` is the string of RFC 8628, verbatim.',
  {
    error: oneOf(Object.keys(pollErrors) as PollError[], 'Why'),
    code: line('The same string in capitals'),
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
