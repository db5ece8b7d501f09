/** Ids of sessions towards ACP clients: the id that the agent gave it, in characters that every transport can carry. */
import { formatSessionId, parseSessionId } from '@relay/protocol';

const visibleAscii = /^[\x21-\x7e]+$/;
const encoded = 'u.';

/** One device and one of its agents: what one ACP address leads to. */
export interface Place {
  deviceId: string;
  agentType: string;
}

/** The id for clients of a session of the relay. An id with other characters than visible ASCII is `u.<base64url>`. */
export function acpIdOf(sessionId: string): string {
  const nativeId = parseSessionId(sessionId)?.nativeId ?? sessionId;
  return visibleAscii.test(nativeId) && !nativeId.startsWith(encoded)
    ? nativeId
    : `${encoded}${Buffer.from(nativeId, 'utf8').toString('base64url')}`;
}

/** The session of the relay that a client means; undefined for a text that can be none. */
export function sessionIdOf(acpId: string, place: Place): string | undefined {
  const nativeId = acpId.startsWith(encoded)
    ? Buffer.from(acpId.slice(encoded.length), 'base64url').toString('utf8')
    : acpId;
  const sessionId = formatSessionId({ ...place, nativeId });
  return parseSessionId(sessionId) && nativeId !== '' ? sessionId : undefined;
}
