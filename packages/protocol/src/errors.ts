import { requestErrors } from './errors/requests.ts';
import type { ErrorRow, ErrorText } from './errors/row.ts';
import { stateErrors } from './errors/states.ts';

export * from './task-errors.ts';

/**
 * The error catalogue (rules, 6.2): one row per code, with its sentence for people. Clients branch on `code`; `docs/errors.md` is generated from here.
 */
export const errorCatalogue = { ...requestErrors, ...stateErrors };

export type ErrorCode = keyof typeof errorCatalogue;

/** Codes whose sentence a site can replace (`detail` of the row). */
export type DetailedCode = {
  [Code in ErrorCode]: (typeof errorCatalogue)[Code] extends { detail: true } ? Code : never;
}[ErrorCode];

const rows: Readonly<Record<ErrorCode, ErrorRow>> = errorCatalogue;

/** The sentence of a code, for people. */
export const sentenceOf = (code: ErrorCode): string => rows[code].sentence;

/** Returns the sentence of a row and its note, for developers of clients. */
export const meaningOf = ({ sentence, note }: ErrorText): string => [sentence, note ?? []].flat().join(' ');

export const takesDetail = (code: ErrorCode): code is DetailedCode => rows[code].detail === true;

/** The strings of RFC 8628 §3.5 and RFC 6749 §5.2 that polling for a device answers, verbatim (rules, 7.2). */
export const pollErrors = {
  authorization_pending: 'The user has not answered yet; poll again after `interval` seconds.',
  slow_down: 'The daemon polled faster than half the interval; wait longer.',
  expired_token: 'The code has expired; request a new one.',
  access_denied: 'The user denied the request; ask the user, then register again.',
  invalid_grant: 'This device code is unknown or already redeemed; register again.',
} as const;

export type PollError = keyof typeof pollErrors;

interface ErrorBody {
  error: string;
  code: string;
  status: number;
  retryAfter?: number;
  /** Fields of one refusal, `answer` for instance. */
  [detail: string]: unknown;
}

interface ErrorOptions {
  cause?: unknown;
  retryAfter?: number;
  headers?: Record<string, string>;
  details?: Record<string, unknown>;
}

/** An error for clients: a stable code, a status, and the sentence of the code or a detail instead. */
export class RelayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** Seconds until a retry makes sense, as an integer; becomes `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, options?: ErrorOptions);
  /** `detail`: a sentence with the fact that the sentence of the code cannot know. */
  constructor(code: DetailedCode, detail: string, options?: ErrorOptions);
  constructor(code: ErrorCode, detail: string | ErrorOptions = {}, given: ErrorOptions = {}) {
    const [message, options] = typeof detail === 'string' ? [detail, given] : [sentenceOf(code), detail];
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RelayError';
    this.code = code;
    this.status = rows[code].status;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
  }

  /** The same refusal with other headers. */
  withHeaders(headers: Record<string, string>): RelayError {
    const { retryAfter, details } = this;
    const options = { cause: this, headers, details, ...(retryAfter === undefined ? {} : { retryAfter }) };
    return takesDetail(this.code)
      ? new RelayError(this.code, this.message, options)
      : new RelayError(this.code, options);
  }

  get body(): ErrorBody {
    return {
      ...this.details,
      error: this.message,
      code: this.code,
      status: this.status,
      ...(this.retryAfter === undefined ? {} : { retryAfter: this.retryAfter }),
    };
  }
}

/** The refusal of a plain request to a path that serves WebSockets. */
export const upgradeRequired = () =>
  new RelayError('UPGRADE_REQUIRED', { headers: { Upgrade: 'websocket', Connection: 'Upgrade' } });

export const strippedAdvice =
  'a proxy in between probably blocks WebSockets: ask its operator to pass the headers Upgrade and Connection';

/**
 * Whether a proxy or an older relay answers like this when the request for a WebSocket lost its `Upgrade`. A 426 of a relay explains itself, and can
 * be about the version of the daemon (rules, 9.14).
 */
export const isStripped = (status: number): boolean => [200, 400, 404, 405, 501].includes(status);
