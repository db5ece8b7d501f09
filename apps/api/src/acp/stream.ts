/** A live socket as the stream of JSON-RPC messages that the SDK of ACP reads and writes. One message is one text frame. */
import type { AnyMessage, Stream } from '@relay/acp';
import { parseJson } from '@relay/protocol';
import type { Socket } from '@relay/socket';

/** Requests of a client that are not answered yet. */
const mostOpen = 200;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class SocketStream implements Stream {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
  readonly #socket: Socket;
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  readonly #open = new Set<unknown>();
  #isInitialized = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.readable = new ReadableStream({ start: (controller) => void (this.#controller = controller) });
    this.writable = new WritableStream({ write: (message) => this.#write(message) });
  }

  /** A frame of the client. False: it was the first, and not `initialize`. */
  hear(text: string): boolean {
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
    if (isRequest) {
      if (this.#open.size >= mostOpen) {
        this.#refuse(id, -32603, 'Too many requests are not answered yet.', { code: 'RATE_LIMITED', status: 429 });
        return true;
      }
      this.#open.add(id);
    }
    this.#controller?.enqueue(message as AnyMessage);
    return true;
  }

  /** The client has gone. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  /** Resolves at the pace at which the client reads. */
  async #write(message: AnyMessage): Promise<void> {
    if (!('method' in message) && 'id' in message) this.#open.delete(message.id);
    this.#socket.send(JSON.stringify(message));
    await this.#socket.drained();
  }

  #refuse(id: unknown, code: number, message: string, data?: object): void {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data ? { data } : {}) } }));
  }
}
