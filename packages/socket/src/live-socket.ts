/** The socket behind the door's interface: `ws` on one side, inbox and outbox on the other. */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { Inbox } from './inbox.ts';
import type { Inbound } from './inbox.ts';
import type { SocketLimits } from './limits.ts';
import { Outbox } from './outbox.ts';
import type { CloseCode, Socket, SocketClose, SocketCloses, SocketHandlers } from './socket.ts';
import { violationOf } from './violations.ts';

export interface LiveSocketOptions {
  readonly limits: SocketLimits;
  readonly closes: SocketCloses;
  readonly now: () => number;
}

const maxReasonBytes = 123;
/** Never on the wire: the connection ended without a close frame (RFC 6455, 7.4.1). */
const abnormal = 1006;

export class LiveSocket implements Socket {
  readonly #ws: WebSocket;
  readonly #handlers: SocketHandlers;
  readonly #closes: SocketCloses;
  readonly #now: () => number;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  #lastInboundAt: number;
  #said: CloseCode | undefined;
  #cause: Error | undefined;
  #closed = false;

  constructor(ws: WebSocket, duplex: Duplex, handlers: SocketHandlers, { limits, closes, now }: LiveSocketOptions) {
    this.#ws = ws;
    this.#handlers = handlers;
    this.#closes = closes;
    this.#now = now;
    this.#lastInboundAt = now();
    const line = {
      write: (text: string, taken: () => void) => ws.send(text, (error) => void (error ?? taken())),
      get bufferedBytes() {
        return ws.bufferedAmount;
      },
    };
    this.#outbox = new Outbox(line, limits, () => this.#shut(closes.tooSlow, 'drop'));
    const owner = {
      handle: (frame: Inbound) => this.#handle(frame),
      onFull: () => ws.pause(),
      onRoom: () => this.#readOn(),
    };
    this.#inbox = new Inbox(owner, limits);
    duplex.on('data', () => (this.#lastInboundAt = now()));
    // `ws` ends the connection on such an error and does not say why.
    duplex.on('error', (error) => (this.#cause ??= error));
    ws.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    // Without this listener an error of one connection takes the process down.
    ws.on('error', (error) => (this.#cause ??= error));
    ws.on('close', (code, reason) => this.#onClose(code, reason.toString()));
  }

  get state(): 'live' | 'closing' | 'closed' {
    if (this.#closed) return 'closed';
    return !this.#said && this.#ws.readyState === this.#ws.OPEN ? 'live' : 'closing';
  }

  get unsentBytes(): number {
    return this.#outbox.unsentBytes;
  }

  get lastInboundAt(): number {
    // Who is not read cannot be heard: that silence is ours.
    return this.#ws.isPaused ? this.#now() : this.#lastInboundAt;
  }

  /** From now on frames are handled. */
  open(): void {
    this.#inbox.open();
  }

  send(text: string, options?: { droppable?: boolean }): boolean {
    return this.state === 'live' && this.#outbox.send(text, options?.droppable ?? false);
  }

  async drained(): Promise<void> {
    if (this.state === 'live') await this.#outbox.drained();
  }

  ping(): void {
    if (this.state === 'live') this.#ws.ping();
  }

  close(code: number, reason: string): void {
    this.#shut({ code, reason }, 'write');
  }

  terminate(): void {
    if (this.state === 'live') this.#said = { code: abnormal, reason: '' };
    this.#inbox.clear();
    this.#outbox.close('drop');
    this.#ws.terminate();
  }

  #shut(close: CloseCode, rest: 'write' | 'drop'): void {
    if (this.state !== 'live') return;
    this.#said = close;
    this.#inbox.clear();
    this.#outbox.close(rest);
    this.#ws.close(close.code, cut(close.reason));
    // The peer's close frame is read even if its other frames were not.
    this.#readOn();
  }

  #readOn(): void {
    if (!this.#ws.isPaused) return;
    this.#lastInboundAt = this.#now();
    this.#ws.resume();
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#said) return;
    const bytes = data as Buffer;
    const frame: Inbound = isBinary ? { kind: 'binary' } : { kind: 'text', text: bytes.toString() };
    this.#inbox.push(frame, isBinary ? 0 : bytes.length);
  }

  async #handle(frame: Inbound): Promise<void> {
    try {
      if (frame.kind === 'text') await this.#handlers.onFrame(frame.text, this);
      else this.#handlers.onBinary(this);
    } catch (error) {
      this.#handlers.onError(error, this);
      this.#shut(this.#closes.internal, 'write');
    }
  }

  #onClose(code: number, reason: string): void {
    this.#closed = true;
    this.#outbox.close('drop');
    const clean = code !== abnormal;
    const first = this.#said ?? violationOf(this.#cause) ?? { code, reason };
    const close: SocketClose = { code: first.code, reason: first.reason, clean };
    this.#inbox.end(() => {
      try {
        this.#handlers.onClose(this.#cause ? { ...close, cause: this.#cause } : close, this);
      } catch (error) {
        this.#handlers.onError(error, this);
      }
    });
  }
}

/** Cuts between characters: half a character would be refused by the peer. */
function cut(reason: string): string {
  let short = reason;
  while (Buffer.byteLength(short) > maxReasonBytes) short = [...short].slice(0, -1).join('');
  return short;
}
