/** Why a call failed. Callers branch on `code`; the message is for logs and holds no body. */

/**
 * - `OFFLINE`: no live owner accepted the command; it reached no socket
 * - `TIMEOUT`: no reply in time; the owner might have executed the command
 * - `CLOSED`: this instance or the replying instance closed first
 * - `OVERLOADED`: too many calls of this instance already wait; nothing was sent
 * - `UNAVAILABLE`: this instance cannot reach the others at the moment. The call might have taken effect; it cannot
 *   take effect later
 */
type BackplaneErrorCode = 'OFFLINE' | 'TIMEOUT' | 'CLOSED' | 'OVERLOADED' | 'UNAVAILABLE';

export class BackplaneError extends Error {
  readonly code: BackplaneErrorCode;

  constructor(code: BackplaneErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackplaneError';
    this.code = code;
  }
}

/** UNAVAILABLE where the outcome is unknown: the command left, and no answer came. */
export class UncertainError extends BackplaneError {
  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}
