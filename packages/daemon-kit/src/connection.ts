/**
 * LIFE of the connection to the relay: opens `/ws/daemon`, keeps it alive, reconnects (specification §6.4). Forwards texts and
 * knows nothing about tasks or sessions.
 */
import type { IncomingMessage } from 'node:http';
import { isStripped, limits, relayCapabilitiesHeader, retryAfterMs, strippedAdvice } from '@relay/protocol';
import { proxyAgentFor } from '@relay/protocol/proxy';
import { WebSocket } from 'ws';
import { reasonOf } from '@relay/machine';
import { type Cancel, type Clock, elapsedOn, settledWithin } from './clock.ts';
import {
  type AttemptEnd,
  type BackoffTimings,
  type Stop,
  backoffMs,
  stepAfter,
  stopOf,
  waitMs,
  wakeDelayMs,
} from './reconnect.ts';

export interface ConnectionTimings extends BackoffTimings {
  /** Between WebSocket pings. */
  pingIntervalMs: number;
  /** The socket counts as dead if the relay sends no frame, ping or pong for this long. */
  silenceMs: number;
  /** The limit from the first byte to the open socket. */
  openTimeoutMs: number;
  /** The time the relay has to answer the ping after a wake. */
  wakeProbeMs: number;
  /** The limit of a clean close. */
  closeTimeoutMs: number;
}

export const connectionTimings: ConnectionTimings = {
  initialDelayMs: 1000,
  maxDelayMs: 30_000,
  pingIntervalMs: 30_000,
  silenceMs: 75_000,
  openTimeoutMs: 15_000,
  wakeProbeMs: 5000,
  closeTimeoutMs: 1000,
};

export type ConnectionState =
  | { phase: 'connecting' }
  | { phase: 'connected' }
  | { phase: 'waiting'; ending: AttemptEnd; waitMs: number }
  | { phase: 'stopped'; stop: Stop };

interface ConnectionOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  clock: Clock;
  random: () => number;
  timings: ConnectionTimings;
  /** The socket is open; frames sent before this returns go out first. `declared`: the capabilities that the relay declared. */
  onOpen: (declared: ReadonlySet<string>) => void;
  /** A text frame, in order. */
  onText: (text: string) => void;
  onState: (state: ConnectionState) => void;
}

export interface Connection {
  start(): void;
  /** True when written to an open socket. `hot` texts are dropped while the relay reads too slowly. */
  send(text: string, hot?: boolean): boolean;
  /**
   * Calls back once the relay has handled everything sent before; never, if the socket dies first. The proof is the pong to a
   * WebSocket ping that follows on the same socket, for a daemon that declared `receipts`.
   */
  confirm(received: () => void): void;
  /** Closes with 1000 and stays away. Resolves when the socket is gone. */
  close(): Promise<void>;
}

const hotBufferBytes = 1024 * 1024;
const maxBufferBytes = 64 * 1024 * 1024;
const bodyBytes = 4096;
const maxMarks = 1000;
/** Attempts after a wake that come every 2 to 3 s: the network of a machine that woke needs a moment. */
const wakeAttempts = 5;

export function createConnection(options: ConnectionOptions): Connection {
  const { url, headers, clock, random, timings, onOpen, onText, onState } = options;
  let socket: WebSocket | undefined;
  let gone: Promise<void> = Promise.resolve();
  let cancelWait: Cancel = () => undefined;
  let closing = false;
  let step = -1;
  let quickAttempts = 0;
  let cancelWake: Cancel = () => undefined;
  let marks: { number: number; received: () => void }[] = [];
  let lastMark = 0;

  const attempt = () => {
    onState({ phase: 'connecting' });
    const current = new WebSocket(url, {
      headers: { ...headers },
      agent: proxyAgentFor(url),
      handshakeTimeout: timings.openTimeoutMs,
      maxPayload: limits.daemonFrameBytes,
      perMessageDeflate: false,
    });
    socket = current;
    let opened = false;
    let ending: AttemptEnd | undefined;
    let stopHeartbeat: Cancel = () => undefined;
    let declared: ReadonlySet<string> = new Set();

    current.on('upgrade', ({ headers: answered }) => {
      const names = answered[relayCapabilitiesHeader.toLowerCase()];
      declared = new Set(
        [names ?? []]
          .flat()
          .join(',')
          .split(',')
          .map((name) => name.trim()),
      );
    });
    current.on('open', () => {
      opened = true;
      stopHeartbeat = heartbeat(current, clock, timings);
      onState({ phase: 'connected' });
      onOpen(declared);
    });
    current.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary && current === socket) onText(data.toString('utf8'));
    });
    current.on('pong', (payload: Buffer) => {
      const number = Number(payload.toString('latin1'));
      if (!(number > 0)) return;
      const received = marks.filter((mark) => mark.number <= number);
      marks = marks.filter((mark) => mark.number > number);
      for (const mark of received) mark.received();
    });
    current.on('unexpected-response', (_request, response) => {
      const refused = refusal(response, clock.now());
      ending = refused;
      // A listener for this event makes the library leave the abort to us; the 'close' below follows.
      void sentenceIn(response).then((sentence) => {
        if (sentence) refused.message += ` (${sentence})`;
        if (isStripped(refused.status)) refused.message += `; ${strippedAdvice}`;
        current.terminate();
      });
    });
    current.on('error', (error) => {
      ending ??= opened ? undefined : { kind: 'failed', message: reasonOf(error) };
    });
    gone = new Promise((resolve) => {
      current.on('close', (code: number, reason: Buffer) => {
        stopHeartbeat();
        marks = [];
        socket = undefined;
        ending ??= { kind: 'closed', code, reason: reason.toString('utf8') };
        after(ending, opened);
        resolve();
      });
    });
  };

  const after = (ending: AttemptEnd, opened: boolean) => {
    if (closing) return;
    const stop = stopOf(ending);
    if (stop) {
      closing = true;
      cancelWake();
      onState({ phase: 'stopped', stop });
      return;
    }
    step = stepAfter(ending, { step, opened });
    const isQuick = quickAttempts > 0;
    if (isQuick) quickAttempts--;
    const delayMs = waitMs(ending, isQuick ? wakeDelayMs(random()) : backoffMs(step, random(), timings));
    onState({ phase: 'waiting', ending, waitMs: delayMs });
    cancelWait = clock.after(delayMs, attempt);
  };

  /** A socket from before the sleep is usually dead without a sign, and a wait or an attempt from before it is pointless. */
  const onWake = () => {
    const current = socket;
    quickAttempts = wakeAttempts;
    if (current === undefined) {
      cancelWait();
      attempt();
    } else if (current.readyState === WebSocket.OPEN) {
      const cancelProbe = clock.after(timings.wakeProbeMs, () => current.terminate());
      for (const sign of ['message', 'ping', 'pong', 'close'] as const) current.once(sign, cancelProbe);
      current.ping();
    } else current.terminate();
  };

  return {
    start() {
      cancelWake = clock.onWake?.(onWake) ?? cancelWake;
      attempt();
    },
    send(text, hot = false) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      if (hot && socket.bufferedAmount > hotBufferBytes) return false;
      if (socket.bufferedAmount > maxBufferBytes) {
        // The relay has stopped reading. Frames that matter are sent again on the next socket.
        socket.terminate();
        return false;
      }
      socket.send(wellFormedJson(text));
      return true;
    },
    confirm(received) {
      if (socket?.readyState !== WebSocket.OPEN) return;
      if (marks.length === maxMarks) marks.shift();
      marks.push({ number: ++lastMark, received });
      socket.ping(String(lastMark));
    },
    async close() {
      const first = !closing;
      closing = true;
      cancelWait();
      cancelWake();
      if (socket?.readyState === WebSocket.OPEN) socket.close(1000, 'normal');
      else socket?.terminate();
      if (!(await settledWithin(clock, timings.closeTimeoutMs, gone))) socket?.terminate();
      await gone;
      if (first) onState({ phase: 'stopped', stop: { reason: 'stopped', message: 'The daemon was stopped.' } });
    },
  };
}

/** Pings the relay, and closes a silent socket. Returns a function that stops it. */
function heartbeat(current: WebSocket, clock: Clock, timings: ConnectionTimings): Cancel {
  let lastReceived = elapsedOn(clock);
  const received = () => (lastReceived = elapsedOn(clock));
  for (const sign of ['message', 'ping', 'pong'] as const) current.on(sign, received);
  let cancelPing: Cancel = () => undefined;
  let cancelSilence: Cancel = () => undefined;
  const ping = () => {
    cancelPing = clock.after(timings.pingIntervalMs, () => {
      current.ping();
      ping();
    });
  };
  const listen = (forMs: number) => {
    cancelSilence = clock.after(forMs, () => {
      const leftMs = lastReceived + timings.silenceMs - elapsedOn(clock);
      if (leftMs > 0) listen(leftMs);
      else current.terminate();
    });
  };
  ping();
  listen(timings.silenceMs);
  return () => {
    cancelPing();
    cancelSilence();
  };
}

const refusal = (response: IncomingMessage, now: number): Extract<AttemptEnd, { kind: 'refused' }> => ({
  kind: 'refused',
  status: response.statusCode ?? 0,
  message: `the relay answered ${response.statusCode ?? 0}`,
  retryAfterMs: retryAfterMs(response.headers['retry-after'], now),
});

/**
 * Returns the sentence in the JSON body of a refused upgrade, or an empty text. The time-out of the handshake bounds the wait.
 */
async function sentenceIn(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > bodyBytes) break;
    }
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (typeof value !== 'object' || value === null) return '';
    const { error, message } = value as Record<string, unknown>;
    const reasonText = typeof error === 'string' ? error : message;
    return typeof reasonText === 'string' ? reasonText.slice(0, 300) : '';
  } catch {
    // The status is enough.
    return '';
  }
}

/** `JSON.stringify` writes a lone surrogate, and nothing else, as `\ud800` to `\udfff`. An even number of backslashes before it is text. */
const escapedHalf = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** The JSON of `JSON.stringify` with U+FFFD for each lone surrogate: strict readers of JSON refuse a whole page because of one. */
export const wellFormedJson = (json: string): string =>
  json.includes('\\ud') ? json.replace(escapedHalf, '$1\ufffd') : json;
