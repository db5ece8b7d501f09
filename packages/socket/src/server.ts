/** Turns an upgrade request into a live socket. Admission is decided before, and refused with `refuseUpgrade`. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { HandshakeError } from './errors.ts';
import { type SocketLimits, withDefaults } from './limits.ts';
import { LiveSocket } from './live-socket.ts';
import { LongFrames } from './long-frames.ts';
import type { Socket, SocketCloses, SocketHandlers } from './socket.ts';
import { createTextFrames } from './text-frames.ts';

export interface SocketServerOptions {
  readonly limits: Partial<SocketLimits> & Pick<SocketLimits, 'maxFrameBytes'>;
  /** The close frames for a slow peer, and for a failed handler. */
  readonly closes: SocketCloses;
  /** The clock of `lastInboundAt`. Default `performance.now`, as that of a heartbeat. */
  readonly now?: () => number;
}

export interface SocketServer {
  /**
   * Sends the 101 and resolves with the socket; the first handler runs in a later turn. Selects `protocol` only if it
   * is given and the client offered it. Answers a ping immediately; with `receipts` the ping keeps its place among the
   * frames, and its pong confirms that all earlier frames were handled. Unhandled frames get no pong. Sends `headers`
   * with the 101; the caller ensures that they are valid.
   * @throws HandshakeError if the request is not a WebSocket handshake: nothing was sent, the caller refuses it with
   * the error's `status`; or, with status 0, if the client has already left.
   */
  accept(
    request: IncomingMessage,
    duplex: Duplex,
    head: Buffer,
    handlers: SocketHandlers,
    options?: { protocol?: string; receipts?: boolean; headers?: Readonly<Record<string, string>> },
  ): Promise<Socket>;
}

/** A long frame on a slow line comes in packets of about this size or more; each that waits for the rest costs far more than its bytes. */
const smallestChunkBytes = 512;
const fewestChunks = 1024;

export function createSocketServer({
  limits,
  closes,
  now = () => performance.now(),
}: SocketServerOptions): SocketServer {
  const bounds = withDefaults(limits);
  const protocols = new WeakMap<IncomingMessage, string>();
  const further = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();
  const complaints = new WeakMap<IncomingMessage, Error>();
  // `closeTimeout` is not in the types yet: without it a half-open peer would be waited for, for 30 s.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // The socket sends pongs itself, because a pong can be a receipt.
    autoPong: false,
    maxPayload: bounds.maxFrameBytes,
    maxBufferedChunks: Math.max(fewestChunks, Math.ceil(bounds.maxFrameBytes / smallestChunkBytes)),
    // Fragments per message; each can retain the whole read buffer it came with, see `controlBurstBytes`.
    maxFragments: 16_384,
    closeTimeout: bounds.closeTimeoutMs,
    handleProtocols: (offered, request) => {
      const protocol = protocols.get(request);
      return protocol !== undefined && offered.has(protocol) ? protocol : false;
    },
  };
  const shared = {
    ...{ limits: bounds, closes, now, receipts: false },
    ...{ longFrames: new LongFrames(), frameOf: createTextFrames() },
  };
  const withReceipts = { ...shared, receipts: true };
  const server = new WebSocketServer(options);
  server.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(further.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });
  server.on('wsClientError', (error, _duplex, request) => complaints.set(request, error));

  /** `ws` answers within the call, one way or the other. */
  const shakeHands = (request: IncomingMessage, duplex: Duplex, head: Buffer): WebSocket => {
    const accepted: WebSocket[] = [];
    server.handleUpgrade(request, duplex, head, (ws) => accepted.push(ws));
    const [ws] = accepted;
    if (ws) return ws;
    const complaint = complaints.get(request);
    if (!complaint) throw new HandshakeError(0, 'the client has gone');
    throw new HandshakeError(request.method === 'GET' ? 400 : 405, complaint.message);
  };

  return {
    // eslint-disable-next-line @typescript-eslint/require-await -- a refusal is a rejection
    async accept(request, duplex, head, handlers, { protocol, receipts = false, headers } = {}) {
      if (headers) further.set(request, headers);
      if (protocol !== undefined) protocols.set(request, protocol);
      const socket = new LiveSocket(
        shakeHands(request, duplex, head),
        duplex,
        handlers,
        receipts ? withReceipts : shared,
      );
      setImmediate(openSocket, socket);
      return socket;
    },
  };
}

function openSocket(socket: LiveSocket): void {
  socket.open();
}
