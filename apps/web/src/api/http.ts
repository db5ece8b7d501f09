/** One request to the relay, with a clock. Knows nothing of tokens. */
import { Refusal } from './refusal.ts';

export const requestTimeoutMs = 20_000;

export interface Asked {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Instead of `requestTimeoutMs`. */
  timeoutMs?: number;
}

interface ErrorBody {
  code?: unknown;
  error?: unknown;
  message?: unknown;
}

/** What the answer says went wrong. The relay sends `{code, error}`, the sign-in `{code, message}`, a proxy anything. */
async function refusalFrom(response: Response): Promise<Refusal> {
  const body = (await response.json().catch(() => undefined)) as ErrorBody | undefined;
  const code = typeof body?.code === 'string' ? body.code : response.status === 429 ? 'RATE_LIMITED' : 'BAD_ANSWER';
  const said = [body?.error, body?.message].find((text) => typeof text === 'string') ?? '';
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new Refusal(code, said, response.status, Number.isFinite(retryAfter) ? retryAfter : undefined);
}

/** The answer of a request. @throws Refusal: OFFLINE, TIMEOUT, BAD_ANSWER or what the answer says; AbortError as it is */
export async function ask(
  url: string,
  { method = 'GET', body, headers = {}, signal, timeoutMs }: Asked = {},
): Promise<Response> {
  const clock = AbortSignal.timeout(timeoutMs ?? requestTimeoutMs);
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, clock]) : clock,
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw clock.aborted ? new Refusal('TIMEOUT', '') : new Refusal('OFFLINE', '');
  }
  if (!response.ok) throw await refusalFrom(response);
  return response;
}

/** The JSON of an answer; undefined when it has none. */
export async function askJson<T>(url: string, asked?: Asked): Promise<T> {
  const response = await ask(url, asked);
  const text = await response.text();
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refusal('BAD_ANSWER', '', response.status);
  }
}
