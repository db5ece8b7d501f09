/** The frames of `/ws/attention` (specification §6.1; rules, 11.4). camelCase. */
import { type Static, count, flag, frame, id, limits, line, sessionId, maybe, oneOf, text, time } from '../schema.ts';
import { Message, Session } from '../rest/conversation.ts';
import { inboxUpdateFields } from '../rest/inbox.ts';
import { deviceStatuses } from '../rest/people.ts';
import { operationList, version } from '../transcript/index.ts';

/** On every frame to a client that connected with `since`: the client sends the newest one as `since` after a reconnect. */
const offset = maybe(line('Position in the history of the user; only for clients that sent `since`'));

export const SessionUpdate = frame('session_update', 'A session changed. Always the whole session, never a patch.', {
  session: Session,
  previousId: maybe(sessionId('The id it had until now: a placeholder, or a native id the daemon replaced')),
  offset,
});

const NewMessage = frame('new_message', 'Something was said.', {
  sessionId: sessionId('Canonical session id'),
  message: Message,
  offset,
});

const DeviceStatusFrame = frame('device_status', 'A device came online or went offline.', {
  deviceId: id('Device id'),
  status: oneOf(deviceStatuses, 'Its status'),
  offset,
});

const TaskOutput = frame('task_output', 'Verbose output; only to sockets that asked with `?events=output`.', {
  sessionId: sessionId('Canonical session id'),
  taskId: maybe(id('Task id')),
  output: text('Text'),
  sequence: maybe(
    count(
      'Of a task: 1 for its first output over this connection of its daemon, then one more each. A jump is output that was lost',
    ),
  ),
  offset,
});

export const TranscriptFrame = frame(
  'transcript',
  'The transcript of a session changed; only to sockets that asked with `?events=transcript`. Apply it when `v - 1` is known, drop it when `v` is known, else ask with `changed`. It is in no history.',
  {
    sessionId: sessionId('Canonical session id'),
    v: version('Version of the session'),
    ops: operationList,
    offset,
  },
);

const SessionRemoved = frame('session_removed', 'A session is gone; only to clients that sent `since`.', {
  sessionId: sessionId('Canonical session id'),
  offset,
});

const DeviceRemoved = frame('device_removed', 'A device is gone; only to clients that sent `since`.', {
  deviceId: id('Device id'),
  offset,
});

const SessionsChanged = frame(
  'sessions_changed',
  'Many sessions changed at once, in one report of a daemon: reload by REST. Instead of their `session_update`s; only to clients that sent `since`.',
  { count: count('How many'), offset },
);

const SettingsChanged = frame(
  'settings_changed',
  'A setting of a session changed, or what can be chosen: ask again. Only to clients that sent `since`.',
  { sessionId: sessionId('Canonical session id'), offset },
);

const DeviceSettingsChanged = frame(
  'device_settings_changed',
  'The defaults of an agent on a device changed: ask again. Only to clients that sent `since`.',
  { deviceId: id('Device id'), agentType: line('The agent'), offset },
);

const LaterChanged = frame(
  'later_changed',
  'The schedules of the user changed, or one of them came due. Only to clients that sent `since`.',
  { count: count('Schedules, and messages whose time has not come'), offset },
);

const AccessGranted = frame(
  'access_granted',
  'A device was approved, or a program was allowed, on the account of the person; only to clients that sent `since`.',
  {
    kind: oneOf(['device', 'program'], 'What may act for the person now'),
    name: line('Its name: without control characters and such as turn text'),
    at: time('When'),
    offset,
  },
);

const InboxUpdate = frame(
  'inbox_update',
  'The inbox changed. Keep the highest `version`; only to clients that sent `since`.',
  { ...inboxUpdateFields, offset },
);

const Resync = frame(
  'resync',
  'The history no longer reaches back to `since`, or what the relay knew was set back: reload by REST.',
  {},
);

const AuthOk = frame('auth_ok', 'The credential was renewed.', { expiresAt: time('When the new one ends') });

const Auth = frame('auth', 'From the app: renew the credential without reconnecting.', {
  token: text('A fresh access token of the same user', { maxLength: limits.tokenCharacters }),
});

const Focus = frame('focus', 'From the app, every 5 s: it shows exactly this session to its person.', {
  sessionId: sessionId('Canonical session id'),
  visible: flag('Whether it is in view'),
});

export const attentionFrames = {
  session_update: SessionUpdate,
  new_message: NewMessage,
  device_status: DeviceStatusFrame,
  task_output: TaskOutput,
  transcript: TranscriptFrame,
  session_removed: SessionRemoved,
  device_removed: DeviceRemoved,
  sessions_changed: SessionsChanged,
  settings_changed: SettingsChanged,
  device_settings_changed: DeviceSettingsChanged,
  later_changed: LaterChanged,
  access_granted: AccessGranted,
  inbox_update: InboxUpdate,
  resync: Resync,
  auth_ok: AuthOk,
} as const;

export type FromAppFrame = Static<typeof Auth> | Static<typeof Focus>;

export const fromAppFrames = { auth: Auth, focus: Focus } as const;

export type AttentionFrame = {
  [K in keyof typeof attentionFrames]: Static<(typeof attentionFrames)[K]>;
}[keyof typeof attentionFrames];
export type Attention<K extends AttentionFrame['type']> = Extract<AttentionFrame, { type: K }>;
