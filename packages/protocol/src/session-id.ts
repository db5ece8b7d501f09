/**
 * Session ids: `<device_id>:<agent_type>:<native_session_id>` (specification §2.1; rules, 1.4).
 * Pure text; knows no database and no frame.
 */
import { limits } from './schema.ts';

export interface SessionIdParts {
  deviceId: string;
  agentType: string;
  nativeId: string;
}

const placeholderPrefix = 'PENDING-';

export function formatSessionId({ deviceId, agentType, nativeId }: SessionIdParts): string {
  return `${deviceId}:${agentType}:${nativeId}`;
}

/**
 * Splits on the first two colons only: a native id can contain colons and slashes.
 * Returns undefined for an invalid session id (a part is empty, or the whole exceeds 512 characters plus the two other
 * parts).
 */
export function parseSessionId(sessionId: string): SessionIdParts | undefined {
  const first = sessionId.indexOf(':');
  const second = sessionId.indexOf(':', first + 1);
  if (first <= 0 || second <= first + 1 || second === sessionId.length - 1) return undefined;
  const parts = {
    deviceId: sessionId.slice(0, first),
    agentType: sessionId.slice(first + 1, second),
    nativeId: sessionId.slice(second + 1),
  };
  return parts.nativeId.length > limits.idCharacters || second > limits.idCharacters ? undefined : parts;
}

/** The native id of a session that the daemon has not named yet. `ulid` makes it unique. */
export const placeholderNativeId = (ulid: string): string => placeholderPrefix + ulid;

/**
 * Whether a native id is a placeholder of the relay for "not named yet". A daemon must never report such an id (rules,
 * 1.7).
 */
export const isPlaceholder = (nativeId: string): boolean => nativeId.startsWith(placeholderPrefix);

/**
 * Whether a daemon can use this as the native id of a session (rules, 1.7: not a placeholder, at most 512 characters).
 */
export const isNativeId = (nativeId: string): boolean =>
  nativeId.length > 0 && nativeId.length <= limits.idCharacters && !isPlaceholder(nativeId);
