/** The frames of `/ws/attention` (specification §6.1; rules, 11.4). camelCase. */
import { type Static, count, flag, frame, id, limits, line, sessionId, maybe, oneOf, text, time } from '../schema.ts';
import { Message, Session } from '../rest/conversation.ts';
import { inboxUpdateFields } from '../rest/inbox.ts';
import { deviceStatuses } from '../rest/device.ts';
import { operationList, version } from '../transcript/index.ts';

/** On every frame to a client that connected with `since`: the client sends the newest one as `since` after a reconnect. */
const offset = maybe(line('Position in the history of the user; only for clients that sent `since`'));

const SessionUpdate = frame(
  'session_update',
  'A session changed. The frame contains the whole session, never a patch.',
  {
    session: Session,
    previousId: maybe(sessionId('The previous id: a placeholder, or a native id that the daemon replaced')),
    offset,
  },
);

const NewMessage = frame('new_message', 'A session has a new message.', {
  sessionId: sessionId('Canonical session id'),
  message: Message,
  offset,
});

const DeviceStatusFrame = frame('device_status', 'A device came online or went offline.', {
  deviceId: id('Device id'),
  status: oneOf(deviceStatuses, 'Its status'),
  offset,
});

const TaskOutput = frame('task_output', 'Verbose output; only for sockets that requested it with `?events=output`.', {
  sessionId: sessionId('Canonical session id'),
  taskId: maybe(id('Task id')),
  output: text('Text'),
  sequence: maybe(
    count('Counts the outputs of the task over this connection of its daemon, from 1. A gap means lost output'),
  ),
  offset,
});

const TranscriptFrame = frame(
  'transcript',
  'The transcript of a session changed; only for sockets that requested it with `?events=transcript`. Apply the frame if your version is `v - 1` and drop it if you already have `v`; otherwise load the changes with `changed`. The history does not keep this frame.',
  {
    sessionId: sessionId('Canonical session id'),
    v: version('Version of the session'),
    ops: operationList,
    offset,
  },
);

const SessionRemoved = frame('session_removed', 'A session was deleted; only for clients that sent `since`.', {
  sessionId: sessionId('Canonical session id'),
  offset,
});

const DeviceRemoved = frame('device_removed', 'A device was removed; only for clients that sent `since`.', {
  deviceId: id('Device id'),
  offset,
});

const SessionsChanged = frame(
  'sessions_changed',
  'One report of a daemon changed many sessions: reload them over REST. Replaces their `session_update` frames for clients that sent `since`.',
  { count: count('Number of sessions'), offset },
);

const SettingsChanged = frame(
  'settings_changed',
  'A setting of a session or its options changed: request the settings again. Only for clients that sent `since`.',
  { sessionId: sessionId('Canonical session id'), offset },
);

const DeviceSettingsChanged = frame(
  'device_settings_changed',
  'The defaults of an agent on a device changed: request them again. Only for clients that sent `since`.',
  { deviceId: id('Device id'), agentType: line('The agent'), offset },
);

const LaterChanged = frame(
  'later_changed',
  'The schedules of the user changed, or a run became due. Only for clients that sent `since`.',
  { count: count('The schedules and delayed messages of the user'), offset },
);

const AccessGranted = frame(
  'access_granted',
  'The account of the person has a newly approved device or a newly allowed program; only for clients that sent `since`.',
  {
    kind: oneOf(['device', 'program'], 'Whether a device or a program got access'),
    name: line('Its name, without control characters and characters that reverse the direction of text'),
    at: time('When'),
    offset,
  },
);

const InboxUpdate = frame(
  'inbox_update',
  'The inbox changed. Keep the highest `version`; only for clients that sent `since`.',
  { ...inboxUpdateFields, offset },
);

const Resync = frame(
  'resync',
  'The history no longer reaches back to `since`, or the database of the relay was set back: reload over REST.',
  {},
);

const AuthOk = frame('auth_ok', 'The credential was renewed.', { expiresAt: time('Expiry of the new credential') });

const Auth = frame('auth', 'From the app: renew the credential without reconnecting.', {
  token: text('A fresh access token of the same user', { maxLength: limits.tokenCharacters }),
});

const Focus = frame('focus', 'The app sends this every 5 s while it shows this session to its person.', {
  sessionId: sessionId('Canonical session id'),
  visible: flag('Whether the session is in view'),
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
