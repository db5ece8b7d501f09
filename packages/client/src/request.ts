/** One HTTP exchange with JSON on both sides, a time-out and a size limit; every failure has a class. Independent of routes and tokens. */
import { retryAfterOf } from './clock.ts';
import { BadAnswerError, type ClientError, NetworkError, RelayError, TimeoutError } from './errors.ts';

export interface Exchange {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON; bytes unchanged. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Aborts the exchange; it then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Covers the whole answer. Default 30 s: reading the history of a slow daemon takes 10 s. */
  timeoutMs?: number | undefined;
  /** Continues when the page closes. */
  keepalive?: boolean | undefined;
  /** Default: the runtime's `fetch`. */
  fetch?: typeof fetch | undefined;
}

export interface FetchAnswer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if the answer is empty. */
  readonly body: Body;
}

export const defaultTimeoutMs = 30_000;
/** The largest answer is the export of an account. */
const maxAnswerBytes = 128 * 1024 * 1024;

/**
 * Sends a request and returns its successful answer. Redirects are not followed: the caller decides where a credential goes.
 * @throws RelayError, NetworkError, TimeoutError, BadAnswerError; the reason of `signal`
 */
export async function request(url: string, exchange: Exchange = {}): Promise<FetchAnswer> {
  const {
    method = 'GET',
    body,
    headers,
    signal,
    timeoutMs = defaultTimeoutMs,
    keepalive = false,
    fetch: send = fetch,
  } = exchange;
  const isBytes = body instanceof Uint8Array;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    controller.abort();
  }, timeoutMs);
  signal?.addEventListener('abort', abort);
  try {
    const response = await send(url, {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': isBytes ? 'application/octet-stream' : 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
      signal: controller.signal,
      redirect: 'manual',
      cache: 'no-store',
      keepalive,
    } as RequestInit);
    const text = await textOf(response);
    if (response.ok) return { status: response.status, headers: response.headers, body: parsed(response, text) };
    throw refusalOf(response.status, response.headers, text);
  } catch (error) {
    if (error instanceof RelayError || error instanceof BadAnswerError) throw error;
    signal?.throwIfAborted();
    if (isLate) throw new TimeoutError(`No answer within ${timeoutMs / 1000} s.`, { cause: error });
    throw new NetworkError('The relay cannot be reached.', { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Maps an unsuccessful answer to an error: the relay sends `{code, error}`, its sign-in `{code, message}`, a proxy anything. */
export function refusalOf(status: number, headers: Headers, text: string): ClientError {
  const details = objectIn(text);
  const { code, error, message } = details ?? {};
  if (!details || typeof code !== 'string')
    return new BadAnswerError(status, headers, status >= 300 && status < 400 ? 'It redirects' : 'It is no relay');
  const retryAfter = retryAfterOf(headers) ?? (typeof details.retryAfter === 'number' ? details.retryAfter : undefined);
  const sentence = [error, message].find((one): one is string => typeof one === 'string' && one !== '') ?? code;
  return new RelayError({ code, message: sentence.slice(0, 1000), status, retryAfter, details, headers });
}

function parsed({ status, headers }: Response, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new BadAnswerError(status, headers, 'The answer is not JSON');
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function textOf(response: Response): Promise<string> {
  if (!response.body) return '';
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxAnswerBytes) {
      await reader.cancel();
      throw new BadAnswerError(response.status, response.headers, `The answer exceeds ${maxAnswerBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
