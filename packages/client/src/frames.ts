/** Parses the text of a frame. Frames of a later relay become `unknown`; malformed frames are dropped. */
import type { AttentionFrame } from '@relay/protocol';

/** The raw frame, of a type that this client does not know. */
export interface UnknownFrame {
  type: 'unknown';
  frame: Readonly<Record<string, unknown>>;
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Checks the fields that a frame needs to be understood. */
const hasFields: Readonly<Record<AttentionFrame['type'], (frame: Fields) => boolean>> = {
  session_update: ({ session }) => isObject(session) && typeof session.id === 'string',
  new_message: ({ sessionId, message }) =>
    typeof sessionId === 'string' && isObject(message) && typeof message.content === 'string',
  device_status: ({ deviceId, status }) => typeof deviceId === 'string' && typeof status === 'string',
  task_output: ({ sessionId, output }) => typeof sessionId === 'string' && typeof output === 'string',
  transcript: ({ sessionId, v, ops }) => typeof sessionId === 'string' && typeof v === 'number' && Array.isArray(ops),
  session_removed: ({ sessionId }) => typeof sessionId === 'string',
  device_removed: ({ deviceId }) => typeof deviceId === 'string',
  sessions_changed: ({ count }) => typeof count === 'number',
  settings_changed: ({ sessionId }) => typeof sessionId === 'string',
  device_settings_changed: ({ deviceId, agentType }) => typeof deviceId === 'string' && typeof agentType === 'string',
  later_changed: ({ count }) => typeof count === 'number',
  access_granted: ({ kind, name }) => typeof kind === 'string' && typeof name === 'string',
  inbox_update: ({ version, counts }) => typeof version === 'number' && isObject(counts),
  resync: () => true,
  auth_ok: () => true,
};

/** Returns undefined if the text is not a frame, or if a known type lacks its fields. */
export function decodeFrame(text: string): AttentionFrame | UnknownFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value.type !== 'string') return undefined;
  if (!Object.hasOwn(hasFields, value.type)) return { type: 'unknown', frame: value };
  return hasFields[value.type as AttentionFrame['type']](value) ? (value as AttentionFrame) : undefined;
}
