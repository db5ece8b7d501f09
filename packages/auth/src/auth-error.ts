/** The one way in which a credential is refused. Status codes belong to the caller that answers. */
/** Stable codes, a part of the error catalogue (rules, 6.2). */
type AuthErrorCode = 'INVALID_TOKEN' | 'TOKEN_EXPIRED' | 'TOKEN_REVOKED' | 'SERVICE_UNAVAILABLE';

interface AuthErrorOptions {
  /** For the log only: may hold what a stranger must not read. */
  readonly cause?: unknown;
  /** With SERVICE_UNAVAILABLE: whole seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number;
}

/** `message` is safe to show to the sender of the credential: it says what to do and contains nothing of the credential. */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  readonly code: AuthErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: AuthErrorCode, message: string, options: AuthErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
