/** The only error for a refused credential. The caller that answers chooses the status code. */
import * as sentences from '@relay/protocol/sentences';

/** Stable codes, a part of the error catalogue (rules, 6.2). */
type AuthErrorCode = 'INVALID_TOKEN' | 'TOKEN_EXPIRED' | 'TOKEN_REVOKED' | 'SERVICE_UNAVAILABLE';

interface AuthErrorOptions {
  /** For the log only: can contain details that strangers must not read. */
  readonly cause?: unknown;
  /** Set for SERVICE_UNAVAILABLE: seconds until a retry makes sense, as an integer. */
  readonly retryAfterSeconds?: number;
}

/**
 * `message` is safe to show to the sender of the credential: it gives advice and contains no part of the credential.
 */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  readonly code: AuthErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: AuthErrorCode, options?: AuthErrorOptions);
  /** `detail`: instead of the sentence of the code, where another credential needs other advice. */
  constructor(code: AuthErrorCode, detail: string, options?: AuthErrorOptions);
  constructor(code: AuthErrorCode, detail: string | AuthErrorOptions = {}, given: AuthErrorOptions = {}) {
    const [message, options] = typeof detail === 'string' ? [detail, given] : [sentences[code], detail];
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
