/** Text of a socket → something that travelled on `/ws/attention`. Types this release does not know pass; they are shown to machines only. */
import type { AttentionFrame } from '@relay/protocol';

/** A frame of any type, known or not. */
export type AnyFrame = AttentionFrame | (Record<string, unknown> & { type: 'unknown'; rawType: string });

const has: Readonly<Record<AttentionFrame['type'], (frame: Record<string, unknown>) => boolean>> = {
  session_update: ({ session }) => isObject(session) && typeof session.id === 'string',
  new_message: ({ sessionId, message }) =>
    typeof sessionId === 'string' && isObject(message) && typeof message.content === 'string',
  device_status: ({ deviceId, status }) => typeof deviceId === 'string' && typeof status === 'string',
  task_output: ({ sessionId, output }) => typeof sessionId === 'string' && typeof output === 'string',
  transcript: ({ sessionId, v, ops }) => typeof sessionId === 'string' && typeof v === 'number' && Array.isArray(ops),
  session_removed: ({ sessionId }) => typeof sessionId === 'string',
  device_removed: ({ deviceId }) => typeof deviceId === 'string',
  sessions_changed: ({ count }) => typeof count === 'number',
  access_granted: ({ kind, name }) => typeof kind === 'string' && typeof name === 'string',
  resync: () => true,
  auth_ok: () => true,
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** undefined for what is no frame, or one of a known type without the fields it lives on. */
export function decodeFrame(text: string): AnyFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value.type !== 'string') return undefined;
  if (!Object.hasOwn(has, value.type)) return { ...value, type: 'unknown', rawType: value.type };
  return has[value.type as AttentionFrame['type']](value) ? (value as AttentionFrame) : undefined;
}
