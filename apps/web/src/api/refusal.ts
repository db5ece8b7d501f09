/** Why something did not work, with a stable code: the relay's own, one of the sign-in, or one of those made here. */
import { BadAnswerError, NetworkError, RelayError, TimeoutError } from '@relay/client';

export class Refusal extends Error {
  readonly code: string;
  /** 0 without an answer. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, status = 0, retryAfterSeconds?: number) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Not a refusal: the relay can't be reached. */
export const isAway = ({ code, status }: Refusal): boolean => code === 'OFFLINE' || code === 'TIMEOUT' || status >= 500;

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof RelayError)
    return new Refusal(error.code, error.message === error.code ? '' : error.message, error.status, error.retryAfter);
  if (error instanceof NetworkError) return new Refusal('OFFLINE', '');
  if (error instanceof TimeoutError) return new Refusal('TIMEOUT', '');
  // The sign-in refuses without a code when it was asked too often.
  if (error instanceof BadAnswerError)
    return new Refusal(error.status === 429 ? 'RATE_LIMITED' : 'BAD_ANSWER', '', error.status, secondsIn(error));
  return new Refusal('UNEXPECTED', error instanceof Error ? error.message : String(error));
}

function secondsIn({ headers }: BadAnswerError): number | undefined {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}
