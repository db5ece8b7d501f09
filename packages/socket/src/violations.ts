/** The close frame that `ws` has already sent when it refused a frame: it closes by itself and reports only an error. */
import type { CloseCode } from './socket.ts';

/** RFC 6455, 7.4.1. Every other `WS_ERR_…` of its receiver is a protocol error. */
const codes = new Map([
  ['WS_ERR_INVALID_UTF8', 1007],
  ['WS_ERR_TOO_MANY_BUFFERED_PARTS', 1008],
  ['WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH', 1009],
  ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 1009],
]);
const protocolError = 1002;

export function violationOf(error: Error | undefined): CloseCode | undefined {
  if (!error || !('code' in error) || typeof error.code !== 'string' || !error.code.startsWith('WS_ERR_'))
    return undefined;
  return { code: codes.get(error.code) ?? protocolError, reason: error.message };
}
