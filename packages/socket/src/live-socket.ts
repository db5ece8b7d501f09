/**
 * The socket behind the door's interface: `ws` on one side, inbox and outbox on the other. A process can have
 * thousands, most of them silent, so sockets share common state and allocate the rest on demand.
 */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { Inbox, type InboxEntry } from './inbox.ts';
import type { SocketLimits } from './limits.ts';
import { type LongFrames, longBytes } from './long-frames.ts';
import { Outbox } from './outbox.ts';
import type { CloseCode, Socket, SocketClose, SocketCloses, SocketHandlers } from './socket.ts';
import { sharedCharacters } from './text-frames.ts';

/** Shared by all sockets of a server. */
interface LiveSocketOptions {
  readonly limits: SocketLimits;
  readonly closes: SocketCloses;
  readonly longFrames: LongFrames;
  readonly frameOf: (text: string) => Buffer;
  readonly now: () => number;
  /** A pong waits until everything before its ping was handled. */
  readonly receipts: boolean;
}

const maxReasonBytes = 123;
/** Never on the wire: the connection closed without a close frame (RFC 6455, 7.4.1). */
const abnormal = 1006;
/**
 * Frames of one turn leave together: handing over costs the operating system more than the frames do. Past so many bytes they
 * leave at once.
 */
const gatheredBytes = 2 ** 14;

/**
 * A part of a message keeps all that was read together with it until the message is whole. Control frames between the parts have
 * no other bound: 16 KB of message could so keep a gigabyte (rules, 9.6).
 */
const controlBytesPerSecond = 2 ** 10;
const controlHeaderBytes = 6;
const flooding: CloseCode = { code: 1008, reason: 'too many control frames' };

/** RFC 6455, 7.4.1. Every other `WS_ERR_…` is a protocol error. */
const violationCodes = new Map([
  ['WS_ERR_INVALID_UTF8', 1007],
  ['WS_ERR_TOO_MANY_BUFFERED_PARTS', 1008],
  ['WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH', 1009],
  ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 1009],
]);
const protocolError = 1002;

/** Returns the close frame that `ws` itself sent when it refused a frame: `ws` reports only an error. */
function violationOf(error: Error | undefined): CloseCode | undefined {
  if (!error || !('code' in error) || typeof error.code !== 'string' || !error.code.startsWith('WS_ERR_'))
    return undefined;
  return { code: violationCodes.get(error.code) ?? protocolError, reason: error.message };
}

const live = Symbol('live socket');
type Owned = { [live]: LiveSocket };
const of = (owned: unknown) => (owned as Owned)[live];

export class LiveSocket implements Socket {
  readonly #ws: WebSocket;
  readonly #duplex: Duplex;
  readonly #handlers: SocketHandlers;
  readonly #options: LiveSocketOptions;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  #lastInboundAt: number;
  #localClose: CloseCode | undefined;
  /** This side sent its close frame and still handles the peer's frames until the peer answers. */
  #leaving = false;
  #cause: Error | undefined;
  #closed = false;
  #answered = false;
  /** The buffered bytes at the start of a batch of frames; undefined without a batch. */
  #bufferedBefore: number | undefined;
  /** Bytes of control frames, less the allowance regained since. */
  #controlBytes = 0;
  #controlAt = 0;

  constructor(ws: WebSocket, duplex: Duplex, handlers: SocketHandlers, options: LiveSocketOptions) {
    this.#ws = ws;
    this.#duplex = duplex;
    this.#handlers = handlers;
    this.#options = options;
    this.#lastInboundAt = options.now();
    this.#outbox = new Outbox(this, options.limits);
    this.#inbox = new Inbox(this, options.limits);
    Object.assign(ws, { [live]: this });
    Object.assign(duplex, { [live]: this });
    duplex.on('data', onBytes);
    // `ws` closes the connection on such an error and does not report why.
    duplex.on('error', onBroken);
    ws.on('message', onMessage);
    ws.on('ping', onPing);
    ws.on('pong', onPong);
    // If this listener is missing, an error of one connection crashes the process.
    ws.on('error', onBroken);
    ws.on('close', onEnd);
  }

  get state(): 'live' | 'closing' | 'closed' {
    if (this.#closed) return 'closed';
    return !this.#localClose && this.#ws.readyState === this.#ws.OPEN ? 'live' : 'closing';
  }

  get unsentBytes(): number {
    return this.#outbox.unsentBytes;
  }

  get answered(): boolean {
    return this.#answered;
  }

  get lastInboundAt(): number {
    // While reading is paused, silence is not evidence about the peer.
    return this.#ws.isPaused ? this.#options.now() : this.#lastInboundAt;
  }

  /** Starts to handle frames. */
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

  leave(code: number, reason: string): void {
    if (this.state !== 'live') return;
    this.#leaving = true;
    this.#sayGoodbye({ code, reason }, 'write');
  }

  terminate(): void {
    this.#leaving = false;
    if (this.state === 'live') this.#localClose = { code: abnormal, reason: '' };
    this.#inbox.clear();
    this.#outbox.close('drop');
    this.#passOn();
    this.#ws.terminate();
  }

  /** Called by the outbox. */
  write(text: string, taken: () => void): void {
    if (this.#bufferedBefore === undefined) {
      this.#bufferedBefore = this.#ws.bufferedAmount;
      this.#duplex.cork();
      process.nextTick(passOn, this);
    }
    const onWritten = (error?: Error | null) => void (error ?? taken());
    if (text.length > sharedCharacters) this.#ws.send(text, onWritten);
    else if (this.#ws.readyState === this.#ws.OPEN) this.#duplex.write(this.#options.frameOf(text), onWritten);
    if (this.#ws.bufferedAmount - this.#bufferedBefore >= gatheredBytes) this.#passOn();
  }

  /** Called by the outbox. Frames in the current batch do not count: the peer could not read them yet. */
  get bufferedBytes(): number {
    return this.#bufferedBefore ?? this.#ws.bufferedAmount;
  }

  /** Called by the outbox: the reader is too slow. */
  overdue(): void {
    this.#shut(this.#options.closes.tooSlow, 'drop');
  }

  /** Called by the inbox. */
  full(): void {
    this.#ws.pause();
  }

  /** Called by the inbox. */
  room(): void {
    this.#readOn();
  }

  /** Called by the inbox. */
  dispatch(frame: InboxEntry): Promise<void> | undefined {
    try {
      if (frame.kind === 'ping') this.#pong(frame.payload);
      else if (frame.kind === 'long') return this.#handleLong(frame.bytes);
      else if (frame.kind === 'binary') this.#handlers.onBinary(this);
      else {
        const busy = this.#handlers.onFrame(frame.text, this);
        if (busy) return busy.catch((error: unknown) => this.#failed(error));
      }
    } catch (error) {
      this.#failed(error);
    }
    return undefined;
  }

  /** Called by the inbox. */
  mayPass(frame: InboxEntry, current: InboxEntry): boolean {
    return this.#handlers.passes?.(headOf(frame), headOf(current)) ?? false;
  }

  async #handleLong(bytes: Buffer): Promise<void> {
    const { longFrames } = this.#options;
    const payer = this.#handlers.payer?.(this) ?? this;
    await longFrames.begin(bytes.length, payer);
    try {
      await this.#handlers.onFrame(bytes.toString(), this);
    } catch (error) {
      this.#failed(error);
    } finally {
      longFrames.end(bytes.length, payer);
    }
  }

  noteReceived(): void {
    this.#lastInboundAt = this.#options.now();
  }

  broken(error: Error): void {
    this.#cause ??= error;
  }

  received(data: RawData, isBinary: boolean): void {
    if (this.#localClose && !this.#leaving) return;
    const bytes = data as Buffer;
    this.#inbox.push(inboundOf(bytes, isBinary), isBinary ? 0 : bytes.length);
  }

  /** False: too many, and the socket closes. */
  controlled(payload: Buffer): boolean {
    const at = performance.now();
    const forgiven = ((at - this.#controlAt) / 1_000) * controlBytesPerSecond;
    this.#controlBytes = Math.max(0, this.#controlBytes - forgiven) + payload.length + controlHeaderBytes;
    this.#controlAt = at;
    if (this.#controlBytes <= this.#options.limits.controlBurstBytes) return true;
    this.#shut(flooding, 'drop');
    this.#discard();
    return false;
  }

  /**
   * Keeps reading, because a reset would discard the close frame at the peer, but stores nothing: otherwise the peer's
   * message would grow until it leaves. This misses the peer's close frame as well; the connection closes with the peer
   * or after `closeTimeoutMs`.
   */
  #discard(): void {
    this.#duplex.removeAllListeners('data');
    this.#duplex.resume();
  }

  pinged(payload: Buffer): void {
    if (!this.controlled(payload)) return;
    if (!this.#options.receipts) this.#pong(payload);
    else if (this.state === 'live') this.#inbox.push({ kind: 'ping', payload }, payload.length);
  }

  /** A peer that does not read gets no more of them; the pong to a later ping stands for those left out (RFC 6455, 5.5.3). */
  #pong(payload: Buffer): void {
    if (this.#ws.bufferedAmount <= this.#options.limits.maxUnsentBytes) this.#ws.pong(payload);
  }

  ended(code: number, reason: string): void {
    this.#closed = true;
    this.#answered = this.#localClose?.code === code && code !== abnormal;
    this.#outbox.close('drop');
    const clean = code !== abnormal;
    const first = this.#localClose ?? violationOf(this.#cause) ?? { code, reason };
    const close: SocketClose = { code: first.code, reason: first.reason, clean };
    this.#inbox.end(() => {
      try {
        this.#handlers.onClose(this.#cause ? { ...close, cause: this.#cause } : close, this);
      } catch (error) {
        this.#handlers.onError(error, this);
      }
    });
  }

  /** Passes the gathered frames to the operating system. */
  gathered(): void {
    if (this.#bufferedBefore === undefined) return;
    this.#passOn();
    this.#outbox.look();
  }

  #passOn(): void {
    if (this.#bufferedBefore === undefined) return;
    this.#bufferedBefore = undefined;
    this.#duplex.uncork();
  }

  #failed(error: unknown): void {
    this.#handlers.onError(error, this);
    this.#shut(this.#options.closes.internal, 'write');
  }

  #shut(close: CloseCode, rest: 'write' | 'drop'): void {
    const state = this.state;
    if (state === 'closed' || (state === 'closing' && !this.#leaving)) return;
    this.#leaving = false;
    this.#inbox.clear();
    if (state === 'live') this.#sayGoodbye(close, rest);
    // The peer's close frame is read even if its other frames were not.
    this.#readOn();
  }

  #sayGoodbye(close: CloseCode, rest: 'write' | 'drop'): void {
    this.#localClose = close;
    this.#outbox.close(rest);
    this.#ws.close(close.code, cut(close.reason));
    this.#passOn();
  }

  #readOn(): void {
    if (!this.#ws.isPaused) return;
    this.#lastInboundAt = this.#options.now();
    this.#ws.resume();
  }
}

function inboundOf(bytes: Buffer, isBinary: boolean): InboxEntry {
  if (isBinary) return { kind: 'binary' };
  return bytes.length > longBytes ? { kind: 'long', bytes } : { kind: 'text', text: bytes.toString() };
}

const headCharacters = 64;

/** The beginning of a text; '' of anything else. */
function headOf(frame: InboxEntry): string {
  if (frame.kind === 'text') return frame.text.slice(0, headCharacters);
  return frame.kind === 'long' ? frame.bytes.toString('latin1', 0, headCharacters) : '';
}

function passOn(socket: LiveSocket): void {
  socket.gathered();
}

function onBytes(this: Duplex): void {
  of(this).noteReceived();
}

function onBroken(this: Duplex | WebSocket, error: Error): void {
  of(this).broken(error);
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  of(this).received(data, isBinary);
}

function onPing(this: WebSocket, payload: Buffer): void {
  of(this).pinged(payload);
}

function onPong(this: WebSocket, payload: Buffer): void {
  of(this).controlled(payload);
}

function onEnd(this: WebSocket, code: number, reason: Buffer): void {
  of(this).ended(code, reason.toString());
}

/** Cuts between characters: half a character would be refused by the peer. */
function cut(reason: string): string {
  let short = reason;
  while (Buffer.byteLength(short) > maxReasonBytes) short = [...short].slice(0, -1).join('');
  return short;
}
