/**
 * A relay under the test's control, for behaviour that a real relay shows too rarely: refusals, odd answers, closes.
 */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

interface DoubleAnswer {
  status: number;
  body?: unknown;
  /** Instead of a body in JSON. */
  text?: string;
  headers?: Record<string, string>;
  /** The answer never comes. */
  silent?: true;
}

interface DoubleRequest {
  /** "METHOD /path". */
  route: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}

interface DoubleSocket {
  /** The token it came with. */
  token: string;
  /** The position to resume from. */
  since: string | null;
  query: URLSearchParams;
  /** The next text it sends. */
  nextFrame(): Promise<string>;
  /** The close code. */
  closed: Promise<number>;
  send(frame: object | string): void;
  close(code: number, reason?: string): void;
}

export interface RelayDouble {
  url: string;
  /** The answers per "METHOD /path", in turn; the last one repeats. */
  answers: Map<string, DoubleAnswer[]>;
  /** "METHOD /path" of every request. */
  calls: string[];
  requests: DoubleRequest[];
  /** The answers to the next upgrades; opens a socket if the list is empty. */
  refusals: DoubleAnswer[];
  /** The next socket that opens, or an earlier one not yet returned. */
  socket(): Promise<DoubleSocket>;
  close(): Promise<void>;
}

export async function startRelayDouble(): Promise<RelayDouble> {
  const answers = new Map<string, DoubleAnswer[]>();
  const calls: string[] = [];
  const requests: DoubleRequest[] = [];
  const refusals: DoubleAnswer[] = [];
  const opened: DoubleSocket[] = [];
  const waiting: ((socket: DoubleSocket) => void)[] = [];
  let tokens = 0;

  const answerTo = (route: string): DoubleAnswer => {
    const queue = answers.get(route);
    if (queue) return (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 404 };
    if (route === 'POST /auth/oauth2/token') {
      tokens += 1;
      const body = {
        access_token: `access-${tokens}`,
        refresh_token: `refresh-${tokens}`,
        token_type: 'Bearer',
        expires_in: 600,
      };
      return { status: 200, body };
    }
    return { status: 404, body: { error: 'There is no such route.', code: 'NOT_FOUND', status: 404 } };
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://x');
    const route = `${request.method} ${pathname}`;
    calls.push(route);
    let sent = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (sent += chunk));
    request.on('end', () => {
      requests.push({ route, query, headers: request.headers, body: sent });
      const { status, body, text, headers, silent } = answerTo(route);
      if (silent) return;
      const type = text === undefined ? 'application/json' : 'text/html';
      response
        .writeHead(status, { 'Content-Type': type, ...headers })
        .end(text ?? (body === undefined ? '' : JSON.stringify(body)));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request: IncomingMessage, duplex, head) => {
    const refusal = refusals.shift();
    if (refusal) {
      const body = JSON.stringify(refusal.body ?? {});
      const headers = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
      duplex.end(`HTTP/1.1 ${refusal.status} No\r\n${headers.join('')}Content-Length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, duplex, head, (socket: WebSocket) => {
      const url = new URL(request.url ?? '/', 'http://x');
      const texts: string[] = [];
      const listeners: ((text: string) => void)[] = [];
      socket.on('message', (data: Buffer) => {
        const text = data.toString('utf8');
        const listener = listeners.shift();
        if (listener) listener(text);
        else texts.push(text);
      });
      const one: DoubleSocket = {
        query: url.searchParams,
        nextFrame: () => {
          const text = texts.shift();
          return text === undefined ? new Promise((resolve) => listeners.push(resolve)) : Promise.resolve(text);
        },
        closed: new Promise((resolve) => socket.once('close', resolve)),
        token: (request.headers.authorization ?? '').replace('Bearer ', ''),
        since: url.searchParams.get('since'),
        send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
        close: (code, reason) => socket.close(code, reason),
      };
      const next = waiting.shift();
      if (next) next(one);
      else opened.push(one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    calls,
    requests,
    refusals,
    socket: () => {
      const first = opened.shift();
      return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve));
    },
    async close() {
      for (const client of sockets.clients) client.terminate();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
