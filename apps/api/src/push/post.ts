/**
 * The one HTTP client of deliveries: follows no redirects, limits every step, and reads only status and Retry-After of an answer.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Guard } from './guard.ts';

export interface PostRequest {
  url: URL;
  headers: Record<string, string>;
  body: string | Buffer;
  /** Default POST. */
  method?: 'POST' | 'PUT';
  /** Reads the body too, for a service of the operator, whose answers carry more than their status. */
  readAnswer?: boolean;
}

export interface PostAnswer {
  status: number;
  /** Milliseconds until the service accepts another attempt. */
  retryAfterMs?: number;
  /** Present with `readAnswer`: at most 64 KiB. */
  body?: string;
  /**
   * The meaning of a refusal that carries more than its status: the address is gone, the service does not accept this relay, or
   * the refusal concerns an earlier registration.
   */
  meaning?: 'gone' | 'ours' | 'stale';
}

export interface Poster {
  /** Rejects if no answer arrives in time. Waits for a free connection when twenty to that host are in use. */
  post(request: PostRequest): Promise<PostAnswer>;
  close(): void;
}

const connectMs = 3000;
export const answerMs = 15_000;
const connectionsPerHost = 20;
export const answerBytes = 64 * 1024;

/** Posts to any address if `guard` is undefined: for services of the operator. */
export function createPoster(
  guard: Guard | undefined,
  { now = Date.now, withinMs = answerMs }: { now?: () => number; withinMs?: number } = {},
): Poster {
  const options = { keepAlive: true, maxSockets: connectionsPerHost, maxFreeSockets: 2, timeout: 30_000 };
  const [plain, secure] = [new HttpAgent(options), new HttpsAgent(options)];
  return {
    post: ({ url, headers, body, method = 'POST', readAnswer = false }) =>
      new Promise<PostAnswer>((resolve, reject) => {
        const isSecure = url.protocol === 'https:';
        const lookup: LookupFunction | undefined = guard?.lookupFor(url);
        const sized = { ...headers, 'Content-Length': Buffer.byteLength(body) };
        const given = { method, headers: sized, ...(lookup === undefined ? {} : { lookup }) };
        const sent: ClientRequest = isSecure
          ? httpsRequest(url, { ...given, agent: secure })
          : httpRequest(url, { ...given, agent: plain });
        const clock = setTimeout(() => {
          // A stopped process reads pending data first when it resumes: an answer that has arrived counts.
          setImmediate(() => {
            // A status makes it an answer; the rest does not matter.
            if (received !== undefined) resolve(received);
            sent.destroy(new Error(`no answer in ${withinMs} ms`));
          });
        }, withinMs);
        let received: PostAnswer | undefined;
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
          const retryAfterMs = readRetryAfter(answer.headers['retry-after'], now());
          const answered = { status: answer.statusCode ?? 0, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
          received = answered;
          if (!readAnswer) {
            clearTimeout(clock);
            resolve(answered);
            discard(answer, sent);
            return;
          }
          void textOf(answer).then((text) => {
            clearTimeout(clock);
            resolve({ ...answered, body: text });
          }, reject);
        });
        sent.end(body);
      }),
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Reads a short answer completely, so the connection can be reused; a long or slow answer costs the connection. */
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

/** The first 64 KiB. */
async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > answerBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, answerBytes).toString('utf8');
}

/** Seconds or a date (RFC 9110 §10.2.3), at most a day. */
export function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 86_400_000) : undefined;
}
