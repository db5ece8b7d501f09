/** Devices, registration, watching, notifications, tickets and the user, as apps and daemons see them over REST (contract §3, §4, §9). */
import {
  type Static,
  Type,
  agentTypePattern,
  count,
  flag,
  id,
  sessionId,
  limits,
  list,
  maybe,
  oneOf,
  record,
  text,
  time,
} from '../schema.ts';
import { pollErrors, type PollError } from '../errors.ts';

export const deviceStatuses = ['online', 'offline'] as const;
export type DeviceStatus = (typeof deviceStatuses)[number];

export const Device = record('Device', "A user's machine running a daemon.", {
  id: id('Device id'),
  name: text('Display name'),
  hostname: text('Host name of the machine'),
  agentType: text('Agent type name'),
  status: oneOf(deviceStatuses, 'Whether its daemon is connected'),
  lastSeenAt: time('Last sign of life; registration if it never connected'),
  capabilities: list(text('A capability'), 'What its daemon declared when it last connected, for example `images`'),
});

export const DeviceList = record('DeviceList', 'Devices of the user.', { devices: list(Device, 'Devices') });

export const UpdateDevice = record('UpdateDevice', 'Rename a device.', {
  name: text('New display name', { minLength: 1, maxLength: limits.nameCharacters }),
});

export const ConnectionList = record('ConnectionList', 'The newest 50 connections of a device.', {
  connections: list(
    record('Connection', 'One connection of the daemon.', {
      connectedAt: time('Accepted'),
      disconnectedAt: maybe(time('Ended')),
      closeCode: maybe(Type.Integer({ description: 'WebSocket close code' })),
      reason: maybe(text('Why it ended')),
      daemonVersion: text('What the daemon declared; empty if nothing'),
      instance: text('The instance that held it'),
    }),
    'Newest first',
  ),
});

const hostname = text('Host name of the machine', { minLength: 1, maxLength: limits.hostnameCharacters });
const agentType = text('Agent type name', { pattern: agentTypePattern });
const deviceName = text('Display name; default: the host name', { maxLength: limits.nameCharacters });

export const RequestCode = Type.Object(
  {
    hostname,
    agent_type: maybe(agentType),
    agentType: maybe(agentType),
    device_name: maybe(deviceName),
    deviceName: maybe(deviceName),
  },
  {
    title: 'RequestCode',
    description: 'Begin a registration. Either spelling of a field; one of `agent_type` and `agentType` is required.',
  },
);

export const DeviceCode = record('DeviceCode', 'What the daemon shows and polls with, in both spellings.', {
  device_code: text('Secret of the daemon, for polling'),
  user_code: text('What the person types, `XXXX-XXXX`'),
  verification_uri: text('Where to type it'),
  verification_uri_complete: text('The same with the code filled in'),
  verification_url: text('The same with the code filled in'),
  expires_in: count('Seconds'),
  interval: count('Seconds between polls'),
  deviceCode: text('= device_code'),
  userCode: text('= user_code'),
  verificationUri: text('= verification_uri'),
  verificationUrl: text('= verification_url'),
  expiresIn: count('= expires_in'),
});

export const PollCode = Type.Object(
  { device_code: maybe(text('From the first answer')), deviceCode: maybe(text('= device_code')) },
  { title: 'PollCode', description: 'Poll for the credential. Either spelling.' },
);

export const DeviceCredential = record(
  'DeviceCredential',
  'The credential of the device, in every spelling that daemons read. Shown once.',
  {
    device_id: id('Device id'),
    refresh_token: text('Bearer of `/ws/daemon`'),
    deviceId: id('= device_id'),
    refreshToken: text('= refresh_token'),
    access_token: text('= refresh_token: it is exchanged for nothing'),
    accessToken: text('= refresh_token'),
    expires_in: count('Seconds until it ends if the device never connects; every connection begins them anew'),
    expiresIn: count('= expires_in'),
    token_type: Type.Literal('Bearer'),
  },
);

export const CodeDetail = record('CodeDetail', 'Who asks to be registered.', {
  userCode: text('`XXXX-XXXX`'),
  hostname: text('Host name of the machine'),
  agentType: text('Agent type name'),
  deviceName: text('Display name'),
  requestedFrom: text('Address that asked'),
  requestedAt: time('When it asked'),
  expiresAt: time('When the code ends'),
});

export const CodeApproved = record('CodeApproved', 'The device may fetch its credential now.', {
  deviceId: id('The id it will have'),
  approved: Type.Literal(true),
});

export const CodeDenied = record('CodeDenied', 'The device was turned away.', { approved: Type.Literal(false) });

export const WatchList = record('WatchList', 'Sessions the user watches.', {
  sessionIds: list(text('Session id'), 'Canonical session ids'),
  watchedSessions: list(
    record('WatchedSession', 'One of them.', {
      sessionId: sessionId('Canonical session id'),
      createdAt: time('Since when'),
    }),
    'The same with times',
  ),
});

export const WatchRequest = record('WatchRequest', 'Which session.', { sessionId: sessionId('Session id or alias') });

export const WatchState = record('WatchState', 'Whether the session is watched now.', {
  sessionId: sessionId('Canonical session id'),
  watched: flag('Yes or no'),
});

export const notificationCauses = ['done', 'needs_you', 'failed'] as const;
export type NotificationCause = (typeof notificationCauses)[number];
export const notificationStates = ['pending', 'sending', 'sent', 'failed'] as const;

export const NotificationList = record('NotificationList', "The user's notifications, newest first.", {
  notifications: list(
    record('Notification', 'One notification.', {
      id: id('Notification id'),
      sessionId: sessionId('Canonical session id'),
      cause: oneOf(notificationCauses, 'Why'),
      createdAt: time('When it became due'),
      state: oneOf(notificationStates, 'What became of it'),
    }),
    'Notifications',
  ),
  nextCursor: maybe(text('For the next page')),
});

export const Ticket = record('Ticket', 'A single-use credential for `/ws/attention?ticket=`.', {
  ticket: text('Secret'),
  expiresIn: count('Seconds'),
});

export const Me = record('Me', 'Who is asking.', {
  id: id('User id'),
  email: maybe(text('E-mail address, if the issuer says')),
  name: maybe(text('Name, if the issuer says')),
  scopes: list(text('Scope'), 'What the token may do'),
});

export const Health = record('Health', 'The process lives.', {
  status: Type.Literal('ok'),
  version: text('Like 1.0.0'),
});

export const Readiness = record('Readiness', 'Whether this instance takes work.', {
  status: oneOf(['ok', 'unavailable', 'draining'], 'Verdict'),
  checks: Type.Record(Type.String(), oneOf(['ok', 'failed'], 'Verdict of one dependency')),
});

export const ErrorResponse = record('ErrorResponse', 'Every REST error, and every refused upgrade.', {
  error: text('Short message that says what to do'),
  code: text('Machine-readable code'),
  status: Type.Integer({ description: 'HTTP status' }),
  retryAfter: maybe(count('Seconds, with 429')),
});

export const PollErrorResponse = record(
  'PollErrorResponse',
  'Why polling gave no credential: `error` is the string of RFC 8628, verbatim.',
  {
    error: oneOf(Object.keys(pollErrors) as PollError[], 'Why'),
    code: text('The same in capitals'),
    status: Type.Literal(400, { description: 'HTTP status' }),
  },
);

export type Device = Static<typeof Device>;
export type ConnectionList = Static<typeof ConnectionList>;
export type RequestCode = Static<typeof RequestCode>;
export type PollCode = Static<typeof PollCode>;
export type DeviceCode = Static<typeof DeviceCode>;
export type CodeDetail = Static<typeof CodeDetail>;
export type WatchList = Static<typeof WatchList>;
export type NotificationList = Static<typeof NotificationList>;
export type WatchRequest = Static<typeof WatchRequest>;
export type UpdateDevice = Static<typeof UpdateDevice>;
