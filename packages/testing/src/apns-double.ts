/** Apple's side of APNs on this machine: HTTP/2, stores every request, and answers as the test configures. */
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

interface ApnsReceived {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface ApnsDouble {
  /** Value for APNS_URL. */
  readonly url: string;
  readonly received: ApnsReceived[];
  /** The number of connections so far. */
  readonly connections: number;
  /** The answer from now on; default 200. */
  answer: (stream: ServerHttp2Stream, request: ApnsReceived) => void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

export async function startApnsDouble(): Promise<ApnsDouble> {
  const received: ApnsReceived[] = [];
  const sessions = new Set<ServerHttp2Session>();
  let connections = 0;
  const server = createServer();
  server.on('session', (session) => {
    connections += 1;
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
      const request = { path: String(headers[':path']), headers, body };
      received.push(request);
      double.answer(stream, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const session of sessions) session.destroy();
  };
  const double: ApnsDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    get connections() {
      return connections;
    },
    answer: (stream) => {
      stream.respond({ ':status': 200 });
      stream.end();
    },
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
  return double;
}
