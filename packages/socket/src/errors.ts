/** The upgrade request is not a valid WebSocket handshake. */
export class HandshakeError extends Error {
  readonly code = 'BAD_HANDSHAKE';
  /** The HTTP status to refuse it with; 0 when the peer has gone. */
  readonly status: 0 | 400 | 405;

  constructor(status: 0 | 400 | 405, message: string) {
    super(message);
    this.name = 'HandshakeError';
    this.status = status;
  }
}
