/** Session ids for ACP clients: the agent's own id, in characters that every transport can carry. */
import { formatSessionId, parseSessionId } from '@relay/protocol';

const visibleAscii = /^[\x21-\x7e]+$/;
const encoded = 'u.';

/** The device and agent behind one ACP address. */
export interface Place {
  deviceId: string;
  agentType: string;
}

/** Returns a session's id for clients. An id with characters outside visible ASCII becomes `u.<base64url>`. */
export function acpIdOf(sessionId: string): string {
  const nativeId = parseSessionId(sessionId)?.nativeId ?? sessionId;
  return visibleAscii.test(nativeId) && !nativeId.startsWith(encoded)
    ? nativeId
    : `${encoded}${Buffer.from(nativeId, 'utf8').toString('base64url')}`;
}

/** Returns the relay's session id; undefined if the text cannot be a session id. */
export function sessionIdOf(acpId: string, place: Place): string | undefined {
  const nativeId = acpId.startsWith(encoded)
    ? Buffer.from(acpId.slice(encoded.length), 'base64url').toString('utf8')
    : acpId;
  const sessionId = formatSessionId({ ...place, nativeId });
  return parseSessionId(sessionId) && nativeId !== '' ? sessionId : undefined;
}
