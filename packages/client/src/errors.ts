/**
 * Every failure of a call or a stream. Each class has a stable `code`; `instanceof` and `code` are equivalent.
 * An aborted call rejects with the reason of the caller's signal instead.
 */
import type { ErrorCode } from '@relay/protocol';

export abstract class ClientError extends Error {
  /** Stable; branch on it. */
  abstract readonly code: string;
}

/** The relay refused the request. docs/errors.md lists the codes; a later relay can send others. */
export class RelayError extends ClientError {
  override readonly name = 'RelayError';
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  /** Seconds until a retry makes sense. */
  readonly retryAfter: number | undefined;
  /** Every field of the answer: some refusals carry more than code and text. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Headers;

  constructor(answer: {
    code: string;
    message: string;
    status: number;
    retryAfter: number | undefined;
    details: Readonly<Record<string, unknown>>;
    headers: Headers;
  }) {
    super(answer.message);
    this.code = answer.code;
    this.status = answer.status;
    this.retryAfter = answer.retryAfter;
    this.details = answer.details;
    this.headers = answer.headers;
  }
}

/** The relay did not answer: DNS, network or TLS failed. `cause` is the error of the runtime. */
export class NetworkError extends ClientError {
  override readonly name = 'NetworkError';
  readonly code = 'NETWORK';
}

/** No complete answer within the time limit. The relay can still have carried out the request. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError';
  readonly code = 'TIMEOUT';
}

/** The answer does not come from a relay: a proxy's page, a redirect, or a body that is not JSON. */
export class BadAnswerError extends ClientError {
  override readonly name = 'BadAnswerError';
  readonly code = 'BAD_ANSWER';
  /** 0 if the browser hides it. */
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, headers: Headers, why: string) {
    super(`${why} (status ${status}).`);
    this.status = status;
    this.headers = headers;
  }
}

/** The relay closed the stream. docs/errors.md explains `closeCode`. */
export class ClosedError extends ClientError {
  override readonly name = 'ClosedError';
  readonly code = 'CLOSED';
  readonly closeCode: number;
  readonly reason: string;

  constructor(closeCode: number, reason: string) {
    super(`The connection was closed (${closeCode}${reason === '' ? '' : `, ${reason}`}).`);
    this.closeCode = closeCode;
    this.reason = reason;
  }
}

/** Throw it from `getToken` if the user must sign in again: the stream then rejects with it and stops. */
export class SignedOutError extends ClientError {
  override readonly name = 'SignedOutError';
  readonly code = 'SIGNED_OUT';
}
