/** The one HTTP client of deliveries: no redirects, a clock for every step, and an answer of which only status and Retry-After are read. */
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
  /** The body, for a service of the operator, whose answers say more than their status. */
  readAnswer?: boolean;
}

export interface PostAnswer {
  status: number;
  /** Milliseconds until the service accepts another attempt. */
  retryAfterMs?: number;
  /** With `readAnswer`: at most 64 KiB of it. */
  body?: string;
  /**
   * The meaning of a refusal, where its service says more than its status: the address is no longer one, the service does not accept
   * this relay, or it speaks of an earlier registration.
   */
  meaning?: 'gone' | 'ours' | 'stale';
}

export interface Poster {
  /** Rejects when there is no answer in time. Waits for a free connection when twenty to that host are in use. */
  post(request: PostRequest): Promise<PostAnswer>;
  close(): void;
}

const connectMs = 3000;
export const answerMs = 15_000;
const connectionsPerHost = 20;
export const answerBytes = 64 * 1024;

/** Without a guard it posts to any address: for services of the operator. */
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
          // A process that was stopped reads first what came meanwhile: an answer that is here already counts.
          setImmediate(() => {
            // With a status it is an answer, whatever of it is still to come.
            if (known !== undefined) resolve(known);
            sent.destroy(new Error(`no answer in ${withinMs} ms`));
          });
        }, withinMs);
        let known: PostAnswer | undefined;
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
          known = answered;
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
