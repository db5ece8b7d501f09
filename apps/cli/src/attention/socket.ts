/**
 * One socket to `/ws/attention`: opened with the token in a header, kept alive, read no faster than its frames are taken.
 * Knows texts, not what they mean.
 */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { retryAfterMs } from '../clock.ts';
import { reasonOf, systemCode } from '../failure.ts';
import type { Ending } from './backoff.ts';

export interface SocketWish {
  /** Base address of the relay. */
  url: string;
  token: string;
  /** The offset to resume from; empty = from now on. */
  since: string;
  /** Also `task_output`. */
  output: boolean;
}

export interface AttentionSocket {
  /** Text frames in order, until the socket has ended. */
  texts(): AsyncGenerator<string, void>;
  send(text: string): void;
  /** How it ended. Never rejects. */
  ended: Promise<Ending>;
  /** Says goodbye and leaves; at once if that takes long. */
  close(): Promise<void>;
}

const openTimeoutMs = 15_000;
const closeTimeoutMs = 1000;
/** The relay pings every 30 s; without any sign of life for this long the socket counts as dead. */
const silenceMs = 75_000;
const maxFrameBytes = 16 * 1024 * 1024;
/** Frames that were read and not taken; beyond it the socket is not read, and the relay sees a slow reader. */
const maxUnread = 256;
const bodyBytes = 4096;

/** Resolves when the socket is open; with how it ended, when it never was. Never rejects. */
export function openAttention({ url, token, since, output }: SocketWish): Promise<AttentionSocket | Ending> {
  const address = new URL(`${url.replace(/^http/, 'ws')}/ws/attention`);
  address.searchParams.set('since', since);
  if (output) address.searchParams.set('events', 'output');
  const socket = new WebSocket(address, {
    headers: { Authorization: `Bearer ${token}` },
    handshakeTimeout: openTimeoutMs,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
  });
  const unread: string[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  let ending: Ending | undefined;
  let opened = false;

  const ended = new Promise<Ending>((resolve) => {
    socket.on('close', (code: number, reason: Buffer) => {
      isOver = true;
      clearTimeout(silence);
      wake();
      resolve((ending ??= { kind: 'closed', code, reason: reason.toString('utf8') }));
    });
  });
  socket.on('error', (error) => {
    if (!opened) ending ??= { kind: 'failed', message: systemCode(error) ?? reasonOf(error) };
  });
  socket.on('unexpected-response', (_request, response) => {
    // With this listener the library leaves the abort to us; the 'close' above follows.
    void refusalOf(response).then((refused) => {
      ending = refused;
      socket.terminate();
    });
  });
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) return;
    unread.push(data.toString('utf8'));
    if (unread.length >= maxUnread) socket.pause();
    wake();
  });
  let silence: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(silence);
    if (!isOver) silence = setTimeout(() => (socket.isPaused ? heard() : socket.terminate()), silenceMs);
  };
  for (const sign of ['open', 'message', 'ping', 'pong'] as const) socket.on(sign, heard);

  const live: AttentionSocket = {
    async *texts() {
      for (;;) {
        const text = unread.shift();
        if (text !== undefined) {
          if (socket.isPaused && unread.length < maxUnread / 2) socket.resume();
          yield text;
        } else if (isOver) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    ended,
    async close() {
      if (socket.isPaused) socket.resume();
      socket.close(1000, 'normal');
      const late = setTimeout(() => socket.terminate(), closeTimeoutMs);
      await ended;
      clearTimeout(late);
    },
  };
  return new Promise((resolve) => {
    socket.once('open', () => {
      opened = true;
      resolve(live);
    });
    void ended.then(resolve);
  });
}

/** The JSON body of a refused upgrade says why. Ends with the time-out of the handshake at the latest. */
async function refusalOf(response: IncomingMessage): Promise<Ending> {
  const refused = {
    kind: 'refused' as const,
    status: response.statusCode ?? 0,
    retryAfterMs: retryAfterMs(response.headers['retry-after'], Date.now()),
  };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > bodyBytes) break;
    }
    const { error, code } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    return {
      ...refused,
      code: typeof code === 'string' ? code : undefined,
      message: typeof error === 'string' ? error.slice(0, 300) : '',
    };
  } catch {
    // The status is enough.
    return { ...refused, code: undefined, message: '' };
  }
}
