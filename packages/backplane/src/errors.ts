/** Why a call failed. Callers branch on `code`; the message is for logs and holds no body. */

/**
 * - `OFFLINE`: no live owner accepted the command; it reached no socket
 * - `TIMEOUT`: no answer in time; the command may have been carried out
 * - `CLOSED`: this instance, or the one that owed the answer, closed first
 * - `OVERLOADED`: too many calls of this instance wait already; nothing was sent
 * - `UNAVAILABLE`: the other instances cannot be reached at the moment. The call may have been carried out; it will not be
 *   carried out later
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
