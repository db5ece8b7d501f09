/**
 * A WebSocket that reconnects: it has its own liveness timer, like real peers, and connects again after every close.
 * Its owner handles the frames.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface LivingSocketOptions {
  /** The address; called for every attempt. */
  address(): { url: string; headers: Record<string, string>; ca: Buffer | undefined };
  onOpen(socket: WebSocket): void;
  onText(text: string, socket: WebSocket): void;
  onClose(code: number): void;
  onRefused(status: number, body: string): void;
  /** After this time without a frame, the connection counts as dead. */
  silenceMs: number;
  /** The pause between two attempts. */
  pauseMs(): number;
}

export interface LivingSocket {
  /** Cuts the connection without a close frame; it reconnects. */
  drop(): void;
  /** Stops for good; resolves after the socket has closed. */
  stop(): Promise<void>;
}

export function startLivingSocket(options: LivingSocketOptions): LivingSocket {
  let stopped = false;
  let current: WebSocket | undefined;

  const live = () =>
    new Promise<void>((resolve) => {
      const { url, headers, ca } = options.address();
      const socket = new WebSocket(url, { headers, handshakeTimeout: 15_000, ...(ca ? { ca } : {}) });
      current = socket;
      let opened = false;
      let heardAt = performance.now();
      const heard = () => (heardAt = performance.now());
      const watch = setInterval(() => {
        if (opened && performance.now() - heardAt > options.silenceMs) socket.terminate();
      }, options.silenceMs / 4);
      socket.on('open', () => {
        opened = true;
        heard();
        options.onOpen(socket);
      });
      socket.on('ping', heard);
      socket.on('message', (data: Buffer) => {
        heard();
        options.onText(data.toString('utf8'), socket);
      });
      socket.on('unexpected-response', (_request, response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          options.onRefused(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'));
          socket.terminate();
        });
        response.on('error', () => socket.terminate());
      });
      // No process listens there, or the network was cut: `close` follows.
      socket.on('error', () => undefined);
      socket.on('close', (code) => {
        clearInterval(watch);
        if (opened) options.onClose(code);
        resolve();
      });
    });

  const done = (async () => {
    while (!stopped) {
      await live();
      if (!stopped) await delay(options.pauseMs());
    }
  })();
  return {
    drop: () => current?.terminate(),
    stop: async () => {
      stopped = true;
      current?.terminate();
      await done;
    },
  };
}
