/** A live socket as the stream of JSON-RPC messages that the SDK of ACP reads and writes. One message is one text frame. */
import { type AnyMessage, type Budget, type Stream, hasRoomFor } from '@relay/acp';
import { parseJson } from '@relay/protocol';
import type { Socket } from '@relay/socket';

/** Requests of a client that are not answered yet. A frame stays in memory until its request has an answer. */
const mostOpen = 200;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class SocketStream implements Stream {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
  readonly #socket: Socket;
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  readonly #budget: Budget;
  /** The sizes of their frames, by id. */
  readonly #open = new Map<unknown, number>();
  #isInitialized = false;

  constructor(socket: Socket, budget: Budget) {
    this.#socket = socket;
    this.#budget = budget;
    this.readable = new ReadableStream({ start: (controller) => void (this.#controller = controller) });
    this.writable = new WritableStream({ write: (message) => this.#write(message) });
  }

  /** A frame of the client. False: it was the first, and not `initialize`. */
  receive(text: string): boolean {
    let message: unknown;
    try {
      message = parseJson(text);
    } catch {
      this.#refuse(null, -32700, 'This is not valid JSON.');
      return true;
    }
    if (!isObject(message)) {
      this.#refuse(null, -32600, 'Send one JSON-RPC message in a frame.');
      return true;
    }
    const { id, method } = message;
    const isRequest = typeof method === 'string' && id !== undefined;
    if (!this.#isInitialized && !(isRequest && method === 'initialize')) return false;
    this.#isInitialized = true;
    if (!isRequest || this.#admit(id, text.length)) this.#controller?.enqueue(message as AnyMessage);
    return true;
  }

  /** Counts a request until its answer. Returns false after it refused the request. */
  #admit(id: unknown, size: number): boolean {
    if (this.#open.has(id) || (typeof id === 'object' && id !== null)) {
      this.#refuse(null, -32600, 'The id of a request must be a string or a number that no open request has.');
      return false;
    }
    if (this.#open.size >= mostOpen || !hasRoomFor(this.#budget, size)) {
      this.#refuse(id, -32603, 'Too many requests are not answered yet.', { code: 'RATE_LIMITED', status: 429 });
      return false;
    }
    this.#open.set(id, size);
    this.#budget.requests += size;
    return true;
  }

  #settle(id: unknown): void {
    this.#budget.requests -= this.#open.get(id) ?? 0;
    this.#open.delete(id);
  }

  /** The client has gone. */
  end(): void {
    for (const id of [...this.#open.keys()]) this.#settle(id);
    this.#controller?.close();
    this.#controller = undefined;
  }

  /** Resolves at the pace at which the client reads. */
  async #write(message: AnyMessage): Promise<void> {
    if (!('method' in message) && 'id' in message) this.#settle(message.id);
    this.#socket.send(JSON.stringify(message));
    await this.#socket.drained();
  }

  #refuse(id: unknown, code: number, message: string, data?: object): void {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data ? { data } : {}) } }));
  }
}
