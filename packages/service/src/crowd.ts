/**
 * Bounds a crowd at the port: the number of silent sockets, and the number of open files of all sockets together. A socket that
 * arrives when nearly all files are in use is served `/health` and `/ready` only, so that a probe can still see that this
 * instance lives.
 */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';

export interface CrowdOptions {
  /** Sockets without a request yet. The longest silent socket makes room for the next. */
  readonly silentLimit: number;
  /** Files this process can open; undefined: unknown, then there is no limit. */
  readonly openFiles: number | undefined;
  /** Time limit for a request's head, from the connection or the previous request. Default 10 s. */
  readonly headMs?: number;
  /** Time limit for a complete request, including its body. Default 60 s. */
  readonly requestMs?: number;
  /** How often late ones are looked for. Default 1 s. */
  readonly lookMs?: number;
  /** A socket younger than this is never closed to make room: in a storm it waits to be read and is not idle. Default 1 s. */
  readonly graceMs?: number;
}

export interface Crowd {
  /** Destroys every socket. */
  cut(): void;
}

/** The share of all files that is kept for database, backplane and logs, and the same again for the door of `/health`. */
const keptShare = 0.1;
const keptAtLeast = 32;

const isProbe = ({ url = '' }: IncomingMessage) => /^\/(health|ready)(\?|$)/.test(url);

function refuse(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({
    error: 'This instance holds as many connections as it can. Try again.',
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
  });
  response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '5', Connection: 'close' }).end(body);
}

/** Puts the bounds before `server`, which is not listening yet. Its handlers stay as they are. */
export function boundCrowd(server: Server, options: CrowdOptions): Crowd {
  const { silentLimit, openFiles, headMs = 10_000, requestMs = 60_000, lookMs = 1000, graceMs = 1000 } = options;
  server.headersTimeout = headMs;
  server.requestTimeout = requestMs;
  // Read once, when the server begins to listen.
  (server as { connectionsCheckingInterval?: number }).connectionsCheckingInterval = lookMs;

  const kept = openFiles === undefined ? 0 : Math.max(keptAtLeast, Math.floor(openFiles * keptShare));
  const ceiling = openFiles === undefined ? Infinity : Math.max(kept, openFiles - 2 * kept);
  const open = new Set<Socket>();
  const silent = new Map<Socket, number>();
  const spare = createServer({ connectionsCheckingInterval: lookMs, keepAliveTimeout: headMs }, (request, response) => {
    if (isProbe(request)) server.emit('request', request, response.setHeader('Connection', 'close'));
    else refuse(request, response);
  });
  spare.headersTimeout = headMs;
  spare.requestTimeout = headMs;
  spare.on('upgrade', (_request, socket: Socket) => socket.destroy());
  // It never listens, and would not look for late ones.
  spare.emit('listening');
  server.once('close', () => spare.close(() => undefined));

  // A TLS socket appears after its handshake, which has its own time limit.
  const arrival = server instanceof SecureServer ? 'secureConnection' : 'connection';
  const accept = server.listeners(arrival) as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners(arrival);
  server.on(arrival, (socket: Socket) => {
    if (open.size >= ceiling + kept) {
      socket.destroy();
      return;
    }
    open.add(socket);
    const now = performance.now();
    silent.set(socket, now);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
    if (silent.size > silentLimit) {
      const [[longest, since] = []] = silent;
      if (since !== undefined && now - since >= graceMs) longest?.destroy();
    }
    if (open.size > ceiling) spare.emit('connection', socket);
    else for (const listener of accept) listener.call(server, socket);
  });
  const spoke = ({ socket }: { socket: Socket }) => silent.delete(socket);
  server.prependListener('request', spoke);
  server.prependListener('upgrade', spoke);
  return {
    cut: () => {
      for (const socket of open) socket.destroy();
    },
  };
}
