/**
 * After the start: does a socket through `PUBLIC_URL` survive the relay's longest silence? A proxy with a shorter
 * timeout makes every daemon and app reconnect over and over, for no visible reason. Only warns, in the background;
 * never stops a start.
 */
import { randomBytes } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type QuietDoor, goodbye, ticketHeader } from './quiet-door.ts';

export interface ProxyCheckOptions {
  readonly publicUrl: string;
  /** The socket of this role, as daemons or apps call it. */
  readonly path: '/ws/daemon' | '/ws/attention';
  readonly pingIntervalMs: number;
  readonly door: Pick<QuietDoor, 'issue'>;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /** Before each further attempt. Default 2 s, 10 s, 30 s: the edge must know this instance first. */
  readonly pausesMs?: readonly number[];
}

interface ProxyCheck {
  /** Resolves, never rejects, when there is nothing more to find out. */
  readonly done: Promise<void>;
  stop(): void;
}

/**
 * The outcome of one attempt. `left`: the instance on the other side was leaving, which does not concern the network.
 */
type Outcome = { kind: 'quiet' | 'left' } | { kind: 'cut'; afterMs: number } | { kind: 'unreachable'; why: string };

const answerMs = 10_000;
/** A socket that is forgotten on the way without a word is as good as cut. */
const patienceMs = 10_000;

/** A little longer than the relay is ever silent. */
export const quietMsOf = (pingIntervalMs: number): number => pingIntervalMs + Math.max(500, pingIntervalMs / 10);

function listen(socket: Duplex, head: Buffer, quietMs: number, signal: AbortSignal): Promise<Outcome> {
  const since = performance.now();
  let received = head;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      socket.destroy();
      const code = received.length >= 4 && received[0] === 0x88 ? received.readUInt16BE(2) : undefined;
      if (code === goodbye.quiet) resolve({ kind: 'quiet' });
      else if (code === goodbye.leaving) resolve({ kind: 'left' });
      else resolve({ kind: 'cut', afterMs: performance.now() - since });
    };
    const timer = setTimeout(end, quietMs + patienceMs);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 4) end();
    });
    signal.addEventListener('abort', end, { once: true });
    socket.on('error', () => undefined);
    socket.once('close', end);
    socket.once('end', end);
    if (received.length >= 4) end();
  });
}

async function attempt(options: ProxyCheckOptions, signal: AbortSignal): Promise<Outcome> {
  const address = new URL(options.path, options.publicUrl);
  const send = address.protocol === 'https:' ? secureRequest : plainRequest;
  try {
    const ticket = await options.door.issue();
    return await new Promise<Outcome>((resolve, reject) => {
      const request = send(address, {
        agent: false,
        timeout: answerMs,
        signal,
        headers: {
          Connection: 'Upgrade',
          Upgrade: 'websocket',
          'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
          [ticketHeader]: ticket,
        },
      });
      request.once('timeout', () => request.destroy(new Error('no answer came in time')));
      request.once('error', reject);
      request.once('response', (response) => {
        response.resume();
        resolve({ kind: 'unreachable', why: `it answers ${response.statusCode ?? 'nothing'}` });
        request.destroy();
      });
      request.once('upgrade', (_response, socket, head) => {
        socket.setTimeout(0);
        void listen(socket, head, quietMsOf(options.pingIntervalMs), signal).then(resolve);
      });
      request.end();
    });
  } catch (error) {
    return { kind: 'unreachable', why: error instanceof Error ? error.message : String(error) };
  }
}

async function check(options: ProxyCheckOptions, signal: AbortSignal): Promise<void> {
  const { publicUrl, path, pingIntervalMs, log, pausesMs = [2_000, 10_000, 30_000] } = options;
  let cuts = 0;
  let why = 'the instance on the other side was leaving';
  for (let n = 0; n <= pausesMs.length && !signal.aborted; n += 1) {
    const outcome = await attempt(options, signal);
    if (signal.aborted || outcome.kind === 'quiet') return;
    if (outcome.kind === 'unreachable') why = outcome.why;
    // A single cut can be an accident: the instance on the other side was killed.
    if (outcome.kind === 'cut' && (cuts += 1) === 2) {
      log.warn(
        { path, afterMs: Math.round(outcome.afterMs), pingIntervalMs },
        `A proxy before PUBLIC_URL (${publicUrl}) cuts sockets that are silent for ${(outcome.afterMs / 1000).toFixed(1)} s, and the relay pings every ` +
          `${pingIntervalMs / 1000} s (PING_INTERVAL_MS): daemons and apps will come back again and again. Raise the proxy's timeout of idle ` +
          'sockets to 1 h (HAProxy: timeout tunnel; nginx: proxy_read_timeout; Envoy: streamIdleTimeout), or lower PING_INTERVAL_MS.',
      );
      return;
    }
    const pauseMs = pausesMs[n];
    if (pauseMs !== undefined && outcome.kind !== 'cut')
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
  if (!signal.aborted)
    log.info(
      { path, why },
      `It is not known whether the proxies in front of PUBLIC_URL (${publicUrl}) keep silent sockets open: that could not be tried from here.`,
    );
}

/** Begins at once, and takes a little longer than `pingIntervalMs` when all is well. */
export function checkProxy(options: ProxyCheckOptions): ProxyCheck {
  const stopped = new AbortController();
  return { done: check(options, stopped.signal), stop: () => stopped.abort() };
}
