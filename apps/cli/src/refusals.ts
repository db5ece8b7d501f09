/** Turns a failure of the client into one sentence for the user, the next step, and the relay's stable code. */
import { BadAnswerError, ClosedError, NetworkError, RelayError, SignedOutError, TimeoutError } from '@relay/client';
import { Failure, reasonOf, systemCode } from '@relay/machine';
import { exitCodes, notARelay, unreachable } from './failure.ts';

/** The next step, where the relay's own sentence cannot name a command. */
const advice: Readonly<Record<string, string>> = {
  SESSION_NOT_FOUND: '"relay sessions --all" lists them.',
  DEVICE_NOT_FOUND: '"relay devices" lists them.',
  KEY_NOT_FOUND: '"relay devices keys" lists them.',
  TOKEN_NOT_FOUND: '"relay acp-token list" lists them.',
  TOO_MANY_TOKENS: '"relay acp-token list" lists them, "relay acp-token revoke <id>" revokes one.',
  TOO_MANY_KEYS: '"relay devices keys" lists them, "relay devices revoke-key <id>" revokes one.',
};

/** Replaces sentences for API users with sentences for command line users. */
const cliTexts: Readonly<Record<string, string>> = {
  DEVICE_OFFLINE: 'The device is offline. Start its daemon, or send without --no-queue to queue the message.',
};

function exitCodeOf(status: number, code: string): number {
  if (status === 401 || code === 'SIGN_IN_NOT_RECENT') return exitCodes.notSignedIn;
  if (status === 404) return exitCodes.notFound;
  if (code === 'DEVICE_OFFLINE') return exitCodes.deviceOffline;
  if (status === 400 || status === 413) return exitCodes.usage;
  if (status === 429 || status === 503 || status === 504) return exitCodes.temporary;
  return exitCodes.failed;
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Maps a failed call to a Failure. Errors from outside the client are returned unchanged. */
export function failureOf(url: string, error: unknown): unknown {
  if (error instanceof SignedOutError) return error.cause;
  if (error instanceof TimeoutError) return unreachable(url, new Error(error.message.toLowerCase().replace(/\.$/, '')));
  if (error instanceof NetworkError) return unreachable(url, error.cause ?? error);
  if (error instanceof BadAnswerError) return oddAnswer(url, error);
  return error instanceof RelayError ? refusal(url, error) : error;
}

/** Maps the error of a closed stream to a Failure. */
export function streamFailureOf(url: string, error: unknown): unknown {
  if (error instanceof ClosedError) {
    const why = sentenceOf(error);
    const text = `${why[0]!.toUpperCase()}${why.slice(1)}.`;
    if (error.closeCode !== 4401) return new Failure('CLOSED', text);
    return new Failure('TOKEN_REVOKED', `${text} Run "relay login --url ${url}".`, exitCodes.notSignedIn);
  }
  const isElsewhere = (error instanceof RelayError || error instanceof BadAnswerError) && error.status === 404;
  return isElsewhere ? notARelay(url, 'it has no /ws/attention') : failureOf(url, error);
}

/** Explains a lost connection, as a part of a sentence. */
export function sentenceOf(error: Error): string {
  if (error instanceof ClosedError) {
    if (error.closeCode === 1006) return 'the connection was lost';
    return `the relay closed the connection (${error.closeCode}${error.reason ? `, ${error.reason}` : ''})`;
  }
  if (error instanceof RelayError) return `the relay answered ${error.status}: ${error.message.slice(0, 300)}`;
  if (error instanceof BadAnswerError) return `the relay answered ${error.status}`;
  if (error instanceof Failure) return 'the relay cannot be reached (its sign-in does not answer)';
  return `the relay cannot be reached (${systemCode(error.cause) ?? reasonOf(error.cause ?? error)})`;
}

function oddAnswer(url: string, { status, headers }: BadAnswerError): Failure {
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location)
    return new Failure('REDIRECTED', `${url} redirects to ${location}. Use that address with --url.`, exitCodes.usage);
  if (status === 502 || status === 503 || status === 504)
    return new Failure(
      'UNREACHABLE',
      `The relay at ${url} is not available (${status}). Try again later.`,
      exitCodes.temporary,
    );
  return notARelay(url, `it answered ${status}`);
}

function refusal(url: string, { code, status, message, retryAfter, headers }: RelayError): Failure {
  const requestId = headers.get('x-request-id');
  const sentences = [cliTexts[code] ?? sentence(message)];
  if (status === 401 || code === 'INSUFFICIENT_SCOPE' || code === 'SIGN_IN_NOT_RECENT')
    sentences.push(`Run "relay login --url ${url}".`);
  else if (advice[code] !== undefined) sentences.push(advice[code]);
  else if (retryAfter !== undefined && !/again/i.test(message)) sentences.push(`Try again in ${retryAfter} s.`);
  if (status === 500 && requestId) sentences.push(`(Request ${requestId})`);
  return new Failure(code, sentences.join(' '), exitCodeOf(status, code), {
    more: {
      status,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(requestId ? { requestId } : {}),
    },
  });
}
