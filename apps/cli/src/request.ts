/**
 * One REST call: the credential, the bounds, what to repeat, and what an error means for the person. Knows no route.
 */
import { Failure, exitCodes, notARelay, unreachable } from './failure.ts';
import { pause, retryAfterMs } from './clock.ts';
import { exchange } from './http.ts';
import type { Access } from './sign-in/access.ts';

export interface Call {
  body?: unknown;
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Makes a POST that creates something safe to repeat (contract §3). */
  idempotencyKey?: string;
}

export interface Reply {
  status: number;
  body: Record<string, unknown>;
  /** The relay had answered this key before and did nothing new. */
  replayed: boolean;
}

export type Request = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, call?: Call) => Promise<Reply>;

/** History of a daemon that is slow to answer takes 10 s. */
const requestTimeoutMs = 30_000;
/** Waits before the second and the third attempt. */
const pausesMs = [250, 1000];
const longestPauseMs = 5000;

interface Answer extends Reply {
  retryAfter: string | null;
  location: string | null;
  requestId: string | null;
}

export function createRequest(access: Access): Request {
  const attempt = async (method: string, path: string, call: Call, token: string): Promise<Answer> => {
    const url = new URL(`${access.url}${path}`);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const response = await exchange(url, {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${token}`,
        ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(call.idempotencyKey === undefined ? {} : { 'Idempotency-Key': call.idempotencyKey }),
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      timeoutMs: requestTimeoutMs,
    });
    return answerOf(response);
  };

  /** With a token that was renewed if the relay did not take the first one. */
  const authorized = async (method: string, path: string, call: Call): Promise<Answer> => {
    const { token } = await access.token();
    const answer = await attempt(method, path, call, token);
    if (answer.status !== 401 || !access.renewable) return answer;
    return attempt(method, path, call, (await access.token({ refused: token })).token);
  };

  return async (method, path, call = {}) => {
    const repeatable = method === 'GET' || call.idempotencyKey !== undefined;
    for (let step = 0; ; step += 1) {
      const pauseMs = repeatable ? pausesMs[step] : undefined;
      let answer: Answer;
      try {
        answer = await authorized(method, path, call);
      } catch (error) {
        if (error instanceof Failure) throw error;
        if (pauseMs === undefined) throw unreachable(access.url, error);
        await pause(pauseMs);
        continue;
      }
      if (answer.status >= 200 && answer.status < 300) return answer;
      const failure = failureOf(access.url, answer);
      const waitMs = Math.max(pauseMs ?? 0, retryAfterMs(answer.retryAfter, Date.now()) ?? 0);
      if (pauseMs === undefined || failure.code !== 'SERVICE_UNAVAILABLE' || waitMs > longestPauseMs) throw failure;
      await pause(waitMs);
    }
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  let body: Record<string, unknown> = {};
  try {
    const value: unknown = await response.json();
    if (typeof value === 'object' && value !== null) body = value as Record<string, unknown>;
  } catch {
    // An empty or foreign body: the status says enough.
  }
  return {
    status,
    body,
    replayed: headers.get('idempotent-replay') === 'true',
    retryAfter: headers.get('retry-after'),
    location: headers.get('location'),
    requestId: headers.get('x-request-id'),
  };
}

/** What to do next, where the relay's own sentence does not know this program. */
const advice: Readonly<Record<string, string>> = {
  SESSION_NOT_FOUND: '"relay sessions --all" lists them.',
  DEVICE_NOT_FOUND: '"relay devices" lists them.',
};

/** Sentences for people who write requests, said for people who type commands. */
const retold: Readonly<Record<string, string>> = {
  DEVICE_OFFLINE: 'The device is offline. Start its daemon, or send without --no-queue and the message waits for it.',
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

/** An error answer → one sentence, what to do, and the relay's stable code. */
function failureOf(url: string, { status, body, retryAfter, location, requestId }: Answer): Failure {
  if (status >= 300 && status < 400 && location) {
    return new Failure('REDIRECTED', `${url} redirects to ${location}. Use that address with --url.`, exitCodes.usage);
  }
  const { error, code } = body;
  if (typeof error !== 'string' || typeof code !== 'string') {
    if (status === 502 || status === 503 || status === 504)
      return new Failure('UNREACHABLE', `Nobody is behind ${url} (${status}). Try again later.`, exitCodes.temporary);
    return notARelay(url, `it answered ${status}`);
  }
  const said = [retold[code] ?? sentence(error.slice(0, 1000))];
  if (status === 401 || code === 'INSUFFICIENT_SCOPE' || code === 'SIGN_IN_NOT_RECENT')
    said.push(`Run "relay login --url ${url}".`);
  else if (advice[code] !== undefined) said.push(advice[code]);
  else if (retryAfter && !/again/i.test(error)) said.push(`Try again in ${retryAfter} s.`);
  if (status === 500 && requestId) said.push(`(Request ${requestId})`);
  return new Failure(code, said.join(' '), exitCodeOf(status, code), {
    more: {
      status,
      ...(retryAfter && /^\d+$/.test(retryAfter) ? { retryAfter: Number(retryAfter) } : {}),
      ...(requestId ? { requestId } : {}),
    },
  });
}
