/** The one HTTP client of deliveries: no redirects, a clock for every step, and an answer of which only status and Retry-After are read. */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Guard } from './guard.ts';

export interface PostRequest {
  url: URL;
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface PostAnswer {
  status: number;
  /** Milliseconds until the service wants to hear of it again. */
  retryAfterMs?: number;
}

export interface Poster {
  /** Rejects when there is no answer in time. Waits for a free connection when twenty to that host are in use. */
  post(request: PostRequest): Promise<PostAnswer>;
  close(): void;
}

const connectMs = 3000;
const answerMs = 15_000;
const connectionsPerHost = 20;
const answerBytes = 64 * 1024;

export function createPoster(guard: Guard, now: () => number = Date.now): Poster {
  const options = { keepAlive: true, maxSockets: connectionsPerHost, maxFreeSockets: 2, timeout: 30_000 };
  const [plain, secure] = [new HttpAgent(options), new HttpsAgent(options)];
  return {
    post: ({ url, headers, body }) =>
      new Promise<PostAnswer>((resolve, reject) => {
        const isSecure = url.protocol === 'https:';
        const lookup: LookupFunction = guard.lookupFor(url);
        const given = { method: 'POST', headers: { ...headers, 'Content-Length': Buffer.byteLength(body) }, lookup };
        const sent: ClientRequest = isSecure
          ? httpsRequest(url, { ...given, agent: secure })
          : httpRequest(url, { ...given, agent: plain });
        const clock = setTimeout(() => sent.destroy(new Error(`no answer in ${answerMs} ms`)), answerMs);
        sent.once('socket', (socket) => {
          if (!socket.connecting) return;
          const connecting = setTimeout(() => sent.destroy(new Error(`no connection in ${connectMs} ms`)), connectMs);
          socket.once('connect', () => clearTimeout(connecting));
          socket.once('close', () => clearTimeout(connecting));
        });
        sent.once('error', (error) => {
          clearTimeout(clock);
          reject(error);
        });
        sent.once('response', (answer: IncomingMessage) => {
          clearTimeout(clock);
          const retryAfterMs = readRetryAfter(answer.headers['retry-after'], now());
          resolve({ status: answer.statusCode ?? 0, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
          discard(answer, sent);
        });
        sent.end(body);
      }),
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Reads a short answer to its end, so that the connection can be used again; a long or slow one costs the connection. */
function discard(answer: IncomingMessage, sent: ClientRequest): void {
  let bytes = 0;
  const clock = setTimeout(() => sent.destroy(), connectMs);
  clock.unref();
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > answerBytes) sent.destroy();
  });
  answer.once('close', () => clearTimeout(clock));
  answer.on('error', () => undefined);
}

/** Seconds or a date (RFC 9110 §10.2.3), at most a day. */
function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 86_400_000) : undefined;
}
