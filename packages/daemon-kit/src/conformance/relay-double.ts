/**
 * A relay for tests: real HTTP and real WebSockets on port 0, but every answer is written by the test. Frames of the daemon are
 * checked against the protocol on arrival; an invalid one fails the test when the double closes.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type FromDaemon,
  type FromDaemonFrame,
  type ToDaemonFrame,
  decodeDaemonFrame,
  relayCapabilitiesHeader,
} from '@relay/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

/** Maximum wait for a frame. */
const defaultWaitMs = 10_000;

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}
export interface Call {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}
type Event = FromDaemon<'event'>;
type EventOf<E extends Event['event_type']> = Extract<Event, { event_type: E }>;

/** Things that arrive, kept until they are taken. */
function inbox<T>(what: string, waitMs: number) {
  const arrived: T[] = [];
  let wake: (() => void)[] = [];
  return {
    put(thing: T) {
      arrived.push(thing);
      const woken = wake;
      wake = [];
      for (const go of woken) go();
    },
    /** The next thing that fits; earlier ones are skipped. */
    async take<S extends T>(fits: (thing: T) => thing is S, about: string): Promise<S> {
      const deadline = Date.now() + waitMs;
      for (;;) {
        while (arrived.length > 0) {
          const thing = arrived.shift() as T;
          if (fits(thing)) return thing;
        }
        const left = deadline - Date.now();
        if (left <= 0) throw new Error(`no ${what} arrived: ${about}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          wake.push(() => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
    },
  };
}

export class DoubleConnection {
  readonly headers: IncomingMessage['headers'];
  /** Everything the daemon has sent, in order. */
  readonly frames: FromDaemonFrame[] = [];
  /** The same as raw texts. */
  readonly texts: string[] = [];
  readonly wrong: string[] = [];
  readonly pings: number[] = [];
  readonly closed: Promise<{ code: number }>;
  readonly #socket: WebSocket;
  readonly #inbox: ReturnType<typeof inbox<FromDaemonFrame>>;

  constructor(socket: WebSocket, headers: IncomingMessage['headers'], waitMs: number = defaultWaitMs) {
    this.#inbox = inbox('frame', waitMs);
    this.#socket = socket;
    this.headers = headers;
    this.closed = new Promise((resolve) => socket.on('close', (code) => resolve({ code })));
    socket.on('error', () => undefined);
    socket.on('ping', () => this.pings.push(Date.now()));
    socket.on('message', (data: Buffer) => {
      const decoded = decodeDaemonFrame(data.toString('utf8'));
      if (decoded.kind !== 'frame' || decoded.dropped.length > 0) {
        this.wrong.push(data.toString('utf8').slice(0, 300));
        return;
      }
      this.texts.push(data.toString('utf8'));
      this.frames.push(decoded.frame);
      this.#inbox.put(decoded.frame);
    });
  }

  send(frame: ToDaemonFrame | Record<string, unknown>): void {
    this.#socket.send(JSON.stringify(frame));
  }
  sendText(text: string | Buffer): void {
    this.#socket.send(text);
  }
  close(code: number, reason = ''): void {
    this.#socket.close(code, reason);
  }
  terminate(): void {
    this.#socket.terminate();
  }
  /** As if the network had gone: nothing is read or answered from here on. */
  freeze(): void {
    this.#socket.pause();
  }

  /** The next frame of this type; earlier ones are skipped, but stay in `frames`. */
  frame<T extends FromDaemonFrame['type']>(type: T): Promise<FromDaemon<T>> {
    return this.#inbox.take((frame): frame is FromDaemon<T> => frame.type === type, type);
  }
  event<E extends Event['event_type']>(eventType: E, taskId?: string): Promise<EventOf<E>> {
    return this.#inbox.take(
      (frame): frame is EventOf<E> & FromDaemonFrame =>
        frame.type === 'event' && frame.event_type === eventType && (taskId === undefined || frame.task_id === taskId),
      `event ${eventType} ${taskId ?? ''}; came: ${this.words().join(' | ')}`,
    );
  }
  /** The next `status` with exactly these running tasks. */
  status(...tasks: string[]): Promise<FromDaemon<'status'>> {
    return this.#inbox.take(
      (frame): frame is FromDaemon<'status'> => frame.type === 'status' && frame.running_tasks.join() === tasks.join(),
      `status [${tasks.join()}]; came: ${this.words().join(' | ')}`,
    );
  }
  /** A round trip: every earlier frame of the daemon has arrived afterwards. */
  async settle(): Promise<void> {
    this.send({ type: 'ping' });
    await this.frame('pong');
  }
  /** Frames in short: `status[a]`, `TASK_COMPLETE a`, `report_sessions`. Pongs are left out. */
  words(): string[] {
    return this.frames.flatMap((frame) => {
      if (frame.type === 'pong') return [];
      if (frame.type === 'status') return [`status[${frame.running_tasks.join()}]`];
      return [frame.type === 'event' ? `${frame.event_type} ${frame.task_id ?? ''}` : frame.type];
    });
  }
  /** Events that settle a task. */
  ends(taskId: string): Event[] {
    return this.frames.filter(
      (frame): frame is Event =>
        frame.type === 'event' &&
        frame.task_id === taskId &&
        ['TASK_COMPLETE', 'WAIT_FOR_USER', 'ERROR'].includes(frame.event_type),
    );
  }
}

export interface RelayDouble {
  url: string;
  /** Answers of the REST routes, by `METHOD path`; the last one of a list is repeated. */
  answers: Map<string, Answer[]>;
  calls: Call[];
  /** Answers of the next upgrades; while empty, upgrades are accepted. */
  refusals: Answer[];
  /** The next connection of a daemon. */
  connection(): Promise<DoubleConnection>;
  /** The next REST call to this path. */
  call(path: string): Promise<Call>;
  close(): Promise<void>;
}

interface RelayDoubleOptions {
  autoPong?: boolean;
  /** Maximum wait for a frame; default 10 s. */
  waitMs?: number;
  /** The capabilities that this relay declares in the 101. */
  declares?: readonly string[];
}

export async function startRelayDouble({
  autoPong = true,
  waitMs = defaultWaitMs,
  declares = [],
}: RelayDoubleOptions = {}): Promise<RelayDouble> {
  const answers = new Map<string, Answer[]>();
  const calls: Call[] = [];
  const refusals: Answer[] = [];
  const connections: DoubleConnection[] = [];
  const arrivals = inbox<DoubleConnection>('connection', waitMs);
  const callInbox = inbox<Call>('call', waitMs);
  const sockets = new WebSocketServer({ noServer: true, autoPong });
  if (declares.length > 0)
    sockets.on('headers', (headers) => headers.push(`${relayCapabilitiesHeader}: ${declares.join(', ')}`));

  const server = createServer((request, response) => void serve(request, response));
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const path = request.url ?? '';
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const call: Call = { method: request.method ?? '', path, headers: request.headers, body };
    calls.push(call);
    callInbox.put(call);
    const list = answers.get(`${call.method} ${path}`) ?? [];
    const answer = (list.length > 1 ? list.shift() : list[0]) ?? { status: 404, body: { error: 'not found' } };
    response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
    response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
  };

  server.on('upgrade', (request, socket, head) => {
    const refusal = request.url === '/ws/daemon' ? refusals.shift() : { status: 404 };
    if (refusal) {
      const body = JSON.stringify(refusal.body ?? {});
      const headers = { 'Content-Length': Buffer.byteLength(body), Connection: 'close', ...refusal.headers };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${refusal.status} Refused\r\n${lines.join('')}\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => {
      const connection = new DoubleConnection(ws, request.headers, waitMs);
      connections.push(connection);
      arrivals.put(connection);
    });
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answers,
    calls,
    refusals,
    connection: () => arrivals.take((_connection): _connection is DoubleConnection => true, 'daemon'),
    call: (path) => callInbox.take((call): call is Call => call.path === path, path),
    async close() {
      for (const connection of connections) connection.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      const wrong = connections.flatMap((connection) => connection.wrong);
      if (wrong.length > 0) throw new Error(`the daemon sent wrong frames: ${wrong.join('\n')}`);
    },
  };
}
