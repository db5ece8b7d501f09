/** Calls a route: fills its path, adds the credential, renews a refused token, and retries transient failures. */
import type { RouteBody, RouteName, RouteParams, RouteQuery, RouteSuccess } from '@relay/protocol';
import { type Endpoint, endpoints } from '@relay/protocol/plain';
import { pause } from './pause.ts';
import { BadAnswerError, ClientError, NetworkError, RelayError, TimeoutError } from './errors.ts';
import { type FetchAnswer, request } from './request.ts';
import type { Tokens } from './token.ts';

export interface CallOptions {
  signal?: AbortSignal;
  /** Per attempt. Default: the client's time-out. */
  timeoutMs?: number;
  /** How often a transient failure is retried, if a retry is safe. Default: the client's value. */
  retries?: number;
  /** The browser completes the request even if the page closes. All such requests together can carry at most 64 KiB. */
  keepalive?: boolean;
}

type Params<N extends RouteName> = keyof RouteParams<N> extends never
  ? { params?: undefined }
  : { params: RouteParams<N> };
type Body<N extends RouteName> =
  RouteBody<N> extends undefined
    ? { body?: undefined }
    : Partial<RouteBody<N>> extends RouteBody<N>
      ? { body?: RouteBody<N> }
      : { body: RouteBody<N> };
type Query<N extends RouteName> = RouteQuery<N> extends undefined ? { query?: undefined } : { query?: RouteQuery<N> };
type Key<N extends RouteName> = (typeof endpoints)[N] extends { idempotent: true }
  ? {
      /** Calls with the same key count as one. Default: a key per call, kept over its retries. */
      idempotencyKey?: string;
    }
  : { idempotencyKey?: undefined };

/** The arguments of a route: its parameters and body, if it has them, and the call options. */
export type Input<N extends RouteName> = Params<N> & Body<N> & Query<N> & Key<N> & CallOptions;
/** The body of a success; undefined for 204. */
export type Output<N extends RouteName> = RouteSuccess<N>['body'];
export type CallArguments<N extends RouteName> = object extends Input<N> ? [input?: Input<N>] : [input: Input<N>];

interface CallDeps {
  url: string;
  tokens: Tokens;
  fetch: typeof fetch | undefined;
  timeoutMs: number;
  retries: number;
}

interface AnyInput extends CallOptions {
  params?: Readonly<Record<string, string>>;
  body?: unknown;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  idempotencyKey?: string;
}

/** The pauses before the second, the third, and every later attempt. */
const pausesMs = [250, 1000];
const longestPauseMs = 5000;

export function createCall({ url, tokens, fetch, ...defaults }: CallDeps) {
  const attempt = (endpoint: Endpoint, input: AnyInput, token: string | undefined): Promise<FetchAnswer> =>
    request(addressOf(url, endpoint, input), {
      method: endpoint.method,
      body: input.body,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(input.idempotencyKey === undefined ? {} : { 'Idempotency-Key': input.idempotencyKey }),
      },
      signal: input.signal,
      timeoutMs: input.timeoutMs ?? defaults.timeoutMs,
      keepalive: input.keepalive,
      fetch,
    });

  /** Retries with another token if the relay refuses the first one. */
  const authorized = async (endpoint: Endpoint, input: AnyInput): Promise<FetchAnswer> => {
    if (endpoint.credential === 'none') return attempt(endpoint, input, undefined);
    const grant = await tokens.get();
    try {
      return await attempt(endpoint, input, grant?.token);
    } catch (error) {
      if (!(error instanceof RelayError) || error.status !== 401 || !grant || !tokens.renewable) throw error;
      const renewed = await tokens.get({ refused: grant.token });
      if (renewed === undefined || renewed.token === grant.token) throw error;
      return attempt(endpoint, input, renewed.token);
    }
  };

  return async function call<N extends RouteName>(
    name: N,
    ...[given]: CallArguments<N>
  ): Promise<FetchAnswer<Output<N>>> {
    const endpoint: Endpoint = endpoints[name];
    const input: AnyInput = { ...(given as AnyInput | undefined) };
    if (endpoint.idempotent) input.idempotencyKey ??= newKey();
    const isSafe = endpoint.method === 'GET' || input.idempotencyKey !== undefined;
    const retries = isSafe ? (input.retries ?? defaults.retries) : 0;
    for (let step = 0; ; step += 1) {
      try {
        const answer = await authorized(endpoint, input);
        if (answer.body === undefined && answer.status !== 204)
          throw new BadAnswerError(answer.status, answer.headers, 'The answer is empty');
        return answer;
      } catch (error) {
        const waitMs = step < retries ? waitFor(error, step) : undefined;
        if (waitMs === undefined) throw error;
        await pause(waitMs, input.signal);
        input.signal?.throwIfAborted();
      }
    }
  };
}

/** Returns the milliseconds to wait before a retry; undefined if the caller must decide. */
function waitFor(error: unknown, step: number): number | undefined {
  if (!(error instanceof ClientError) || !isPassing(error)) return undefined;
  const waitMs = pausesMs[Math.min(step, pausesMs.length - 1)]! * (0.75 + Math.random() / 2);
  const retryAfterMs = error instanceof RelayError ? (error.retryAfter ?? 0) * 1000 : 0;
  return retryAfterMs > longestPauseMs ? undefined : Math.max(waitMs, retryAfterMs);
}

/** Transient: no answer, a busy relay, or a proxy that cannot reach the relay. Not `DEVICE_OFFLINE`, and not a rate limit. */
const isPassing = (error: ClientError): boolean =>
  error instanceof NetworkError ||
  error instanceof TimeoutError ||
  (error instanceof RelayError && error.code === 'SERVICE_UNAVAILABLE') ||
  (error instanceof BadAnswerError && [502, 503, 504].includes(error.status));

function addressOf(url: string, { path }: Endpoint, { params = {}, query = {} }: AnyInput): string {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) => {
    const value = params[name];
    // An empty or dotted segment would change the path.
    if (value === undefined || value === '' || value === '.' || value === '..')
      throw new TypeError(`params.${name} is missing`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return `${url}${filled}${text === '' ? '' : `?${text}`}`;
}

/** Not `randomUUID`: pages loaded over plain http do not have it. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
