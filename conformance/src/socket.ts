/** One WebSocket from outside: a connection, or the HTTP answer that refused it. Knows no frame. */
import WebSocket from 'ws';
import { ErrorResponse, validator } from '@relay/protocol';
import { Unmet, must, same } from './expect.ts';

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface Live {
  readonly protocol: string;
  /** Headers of the 101, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  send(text: string): void;
  /** Bytes as a binary frame, or as a text frame that can be invalid UTF-8. */
  sendBytes(bytes: Buffer, kind: 'binary' | 'text'): void;
  /** Resolves with the answer to a WebSocket ping. @throws Unmet */
  ping(): Promise<void>;
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<Closed>;
  /** Resolves with the close; @throws Unmet when the other side does not close in time */
  mustClose(code: number, why: string, withinMs?: number): Promise<void>;
  /** Closes it with a close frame. */
  close(): Promise<void>;
  /** Drops the connection without a close frame, as a broken network does. */
  drop(): Promise<void>;
}

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: string;
  readonly text: string;
}

export interface ConnectOptions {
  headers?: Readonly<Record<string, string>>;
  protocols?: readonly string[];
  /** Answer WebSocket pings; a dead peer does not. */
  answerPings?: boolean;
  onText(text: string): void;
}

const patienceMs = 10_000;

/** Opens a connection. Rejects with `Refused` when it is answered with anything but 101. */
export function connect(url: string, options: ConnectOptions): Promise<Live> {
  const socket = new WebSocket(url, [...(options.protocols ?? [])], {
    headers: { ...options.headers },
    autoPong: options.answerPings ?? true,
    perMessageDeflate: false,
    handshakeTimeout: patienceMs,
  });
  const closed = new Promise<Closed>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
  });
  let headers: Live['headers'] = {};
  socket.once('upgrade', (response) => (headers = response.headers));
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) options.onText(data.toString('utf8'));
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      // Later errors lead to a close.
      socket.on('error', () => undefined);
      resolve(live(socket, closed, headers));
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        reject(new Refused(response.statusCode ?? 0, response.headers as Record<string, string>, text));
        socket.terminate();
      });
    });
  });
}

export class Refused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;

  constructor(status: number, headers: Readonly<Record<string, string>>, text: string) {
    super(`the upgrade was refused with ${status}: ${text.slice(0, 200)}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
  }
}

/** A connection that must be refused before it exists, with the JSON error body. @throws Unmet */
export async function refused(url: string, options: Omit<ConnectOptions, 'onText'>): Promise<Refusal> {
  let live: Live;
  try {
    live = await connect(url, { ...options, onText: () => undefined });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { status, headers, text } = error;
    const checked = validator(ErrorResponse)(parse(text));
    must(checked.ok, `the refused upgrade: expected {error, code, status}, came ${status} ${text.slice(0, 200)}`);
    same(checked.value.status, status, 'field "status" of the refused upgrade');
    return { status, headers, code: checked.value.code, text };
  }
  await live.drop();
  throw new Unmet('expected the upgrade to be refused, came 101');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function live(socket: WebSocket, closed: Promise<Closed>, headers: Live['headers']): Live {
  return {
    headers,
    protocol: socket.protocol,
    send: (text) => socket.send(text),
    sendBytes: (bytes, kind) => socket.send(bytes, { binary: kind === 'binary' }),
    ping: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Unmet(`expected a pong within ${patienceMs} ms, came nothing`)),
          patienceMs,
        );
        socket.once('pong', () => {
          clearTimeout(timer);
          resolve();
        });
        socket.ping();
      }),
    closed,
    mustClose: async (code, why, withinMs = patienceMs) => {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), withinMs);
      });
      const ended = await Promise.race([closed, patience]);
      clearTimeout(timer);
      if (!ended) {
        socket.terminate();
        throw new Unmet(`${why}: expected the socket to be closed with ${code}, it is still open after ${withinMs} ms`);
      }
      same(ended.code, code, `${why}: close code`);
    },
    close: async () => {
      socket.close(1000);
      await closed;
    },
    drop: async () => {
      socket.terminate();
      await closed;
    },
  };
}
