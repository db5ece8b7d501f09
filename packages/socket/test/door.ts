/** A door on port 0 with real clients: queues all received frames, closes all resources. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, type Socket as NetSocket, connect } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import {
  type SocketServerOptions,
  type Socket,
  type SocketHandlers,
  type SocketClose,
  guardUpgrade,
  createSocketServer,
  refuseUpgrade,
} from '../src/index.ts';

/** Early values wait, and so does a caller that asks first. */
export interface Ear<T> {
  readonly heard: readonly T[];
  add(this: void, said: T): void;
  next(): Promise<T>;
}

export function createEar<T>(): Ear<T> {
  const heard: T[] = [];
  const waiting: ((said: T) => void)[] = [];
  let asked = 0;
  return {
    heard,
    add(said) {
      heard.push(said);
      waiting.shift()?.(said);
    },
    next() {
      const index = asked++;
      if (index < heard.length) return Promise.resolve(heard[index] as T);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

export function createGate(): { opened: Promise<void>; open(this: void): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Polls for conditions without an event. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Limits for a peer that answers the close frame: a busy machine can pause for longer than a second, the default. */
export const patient = { maxFrameBytes: 2 ** 20, closeTimeoutMs: 30_000 };

export const closes = {
  tooSlow: { code: 1013, reason: 'too slow' },
  internal: { code: 1011, reason: 'internal error' },
};

export interface Accepted {
  socket: Socket;
  duplex: NetSocket;
}

export interface DoorOptions extends Partial<SocketServerOptions> {
  handlers?: Partial<SocketHandlers>;
  protocol?: string;
  receipts?: boolean;
  /** Instead of accepting. */
  onUpgrade?: (request: IncomingMessage, duplex: NetSocket) => void;
}

export type Door = Awaited<ReturnType<typeof openDoor>>;

export async function openDoor(options: DoorOptions = {}) {
  const accepted = createEar<Accepted>();
  const refused = createEar<unknown>();
  const frames = createEar<string>();
  const ends = createEar<SocketClose>();
  const errors = createEar<unknown>();
  const clients: WebSocket[] = [];
  const lines: NetSocket[] = [];
  const handlers: SocketHandlers = {
    onFrame: frames.add,
    onBinary: (socket) => socket.close(1003, 'binary frame'),
    onClose: ends.add,
    onError: errors.add,
    ...options.handlers,
  };
  const sockets = createSocketServer({ closes, ...options, limits: { maxFrameBytes: 2 ** 20, ...options.limits } });
  const server = createServer();
  server.on('upgrade', (request, stream, head) => {
    const duplex = stream as NetSocket;
    lines.push(duplex);
    guardUpgrade(duplex);
    if (options.onUpgrade) return options.onUpgrade(request, duplex);
    const { protocol, receipts = false } = options;
    sockets.accept(request, duplex, head, handlers, { receipts, ...(protocol === undefined ? {} : { protocol }) }).then(
      (socket) => accepted.add({ socket, duplex }),
      (error: { status: number; message: string }) => {
        refused.add(error);
        refuseUpgrade(duplex, error.status, { 'Content-Type': 'text/plain' }, error.message);
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    accepted,
    refused,
    frames,
    ends,
    errors,
    port,
    /** A client that behaves; resolves when it is open. */
    async connect(clientOptions: ClientOptions = {}) {
      const client = new WebSocket(`ws://127.0.0.1:${port}/`, clientOptions);
      client.on('error', () => undefined);
      clients.push(client);
      await once(client, 'open');
      return { client, ...(await accepted.next()) };
    },
    /** A client under the test's control; by itself it neither reads nor answers. */
    async dial(hello: string | Buffer = handshake()) {
      const line = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      line.on('error', () => undefined);
      lines.push(line);
      await once(line, 'connect');
      line.write(hello);
      return line;
    },
    async close() {
      for (const client of clients) client.terminate();
      for (const line of lines) line.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function handshake(headers: Record<string, string> = {}, method = 'GET'): string {
  const all = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} / HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** A client's frame, masked with zeros; payloads up to 125 bytes. */
export function clientFrame(opcode: number, payload: Buffer | string, isFinal = true): Buffer {
  const bytes = Buffer.from(payload as string);
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
}

/** Reads until the text has come, from the first byte on. Then the line is not read again. */
export async function readUntil(line: NetSocket, text: string): Promise<string> {
  let read = '';
  while (!read.includes(text)) {
    const chunk = line.read() as Buffer | null;
    if (chunk) read += chunk.toString('latin1');
    else if (line.readableEnded) throw new Error(`ended before ${JSON.stringify(text)} came: ${read}`);
    else await Promise.race([once(line, 'readable'), once(line, 'end')]);
  }
  return read;
}
