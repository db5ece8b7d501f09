/**
 * Everything a call or a stream can fail with. Each class has a stable `code`; `instanceof` and `code` lead to the same branch.
 * An aborted call is none of these: it rejects with the reason of the caller's signal.
 */
import type { ErrorCode } from '@relay/protocol';

export abstract class ClientError extends Error {
  /** Stable; branch on it. */
  abstract readonly code: string;
}

/** The relay refused. `code` is one of docs/errors.md; a later relay may send others. */
export class RelayError extends ClientError {
  override readonly name = 'RelayError';
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  /** Seconds after which it makes sense to ask again. */
  readonly retryAfter: number | undefined;
  /** Every field of the answer: some refusals say more than code and text. */
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

/** No answer at all: name, network, TLS. `cause` is the error of the runtime. */
export class NetworkError extends ClientError {
  override readonly name = 'NetworkError';
  readonly code = 'NETWORK';
}

/** No complete answer within the time limit. It may still have happened, unless the request was repeatable. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError';
  readonly code = 'TIMEOUT';
}

/** An answer that does not come from a relay: a page of a proxy, a redirect, not JSON. */
export class BadAnswerError extends ClientError {
  override readonly name = 'BadAnswerError';
  readonly code = 'BAD_ANSWER';
  /** 0 where a browser hides it. */
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, headers: Headers, why: string) {
    super(`${why} (status ${status}).`);
    this.status = status;
    this.headers = headers;
  }
}

/** The relay closed the stream. The meaning of `closeCode` is in docs/errors.md. */
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

/** Throw it from `getToken` when there can be no token until the person signs in again: a stream ends with it. */
export class SignedOutError extends ClientError {
  override readonly name = 'SignedOutError';
  readonly code = 'SIGNED_OUT';
}
