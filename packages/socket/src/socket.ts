/**
 * One live WebSocket, as a door sees it: text comes in one frame at a time, text goes out without waiting, and the
 * close is reported once. Independent of daemons, apps and frame types. Every wait for a peer has a time limit.
 */

/** The content of a close frame. Entries of the protocol's table of close codes fit. */
export interface CloseCode {
  readonly code: number;
  /** At most 123 bytes go out; more is cut. */
  readonly reason: string;
}

/** How a socket closed. */
export interface SocketClose extends CloseCode {
  /** Code and reason of the side that closed first; 1006 if the connection was lost without a close frame. */
  readonly code: number;
  readonly reason: string;
  /** Both sides sent a close frame. */
  readonly clean: boolean;
  /** The error that broke the connection, if there was one. */
  readonly cause?: Error;
}

export interface SocketHandlers {
  /**
   * One text frame. The next one waits until this has returned or resolved, so frames are handled in the order of arrival.
   * A throw or rejection goes to `onError` and closes the socket with the code for internal errors.
   */
  onFrame(text: string, socket: Socket): Promise<void> | undefined | void;
  /**
   * Whether a text frame can be handled while an earlier frame, `current`, is pending. Gets the first 64 characters of
   * both. Absent:
   * never.
   */
  passes?(head: string, current: string): boolean;
  /** The payer of this socket's long frames, see `LongFrames`. Absent: the socket itself. */
  payer?(socket: Socket): string;
  /** A binary frame, in order with other frames. Its content is dropped; closing is up to the door. */
  onBinary(socket: Socket): void;
  /**
   * Called exactly once, after the frame in progress. If the peer left, all its earlier frames are handled first; if
   * this side closed, unhandled frames are dropped, unless it closed with `leave`.
   */
  onClose(close: SocketClose, socket: Socket): void;
  /** The error that a handler threw. */
  onError(error: unknown, socket: Socket): void;
}

export interface Socket {
  /** `live`: frames go both ways. `closing`: one side sent a close frame, and nothing more is sent. `closed`: gone. */
  readonly state: 'live' | 'closing' | 'closed';
  /** Bytes accepted by `send` that the operating system has not taken yet. */
  readonly unsentBytes: number;
  /** This side has closed, and the peer has answered with the same code: it was there, and had not left by itself. */
  readonly answered: boolean;
  /** When a byte last came in, in ms of the server's clock; pings and parts of frames count. Now, while reading pauses. */
  readonly lastInboundAt: number;
  /**
   * False: not written, because the socket is closing or because the reader is behind and the frame is droppable. True is
   * not a delivery. Never throws. Frames leave in the order of the calls.
   */
  send(text: string, options?: { droppable?: boolean }): boolean;
  /** Resolves when less than 16 KiB are unsent, or the socket is not live. Never rejects. */
  drained(): Promise<void>;
  /** A WebSocket ping; a peer that lives answers it, which shows in `lastInboundAt`. */
  ping(): void;
  /** Sends waiting frames and the close frame; disconnects when the peer answers, or after `closeTimeoutMs`. */
  close(code: number, reason: string): void;
  /**
   * Closes like `close`, but handles the peer's frames until it answers, as if the peer had left by itself; `onClose`
   * comes after them. A later `close` or `terminate` drops unhandled frames.
   */
  leave(code: number, reason: string): void;
  /** Closes the connection immediately. */
  terminate(): void;
}

/** The close frames that the socket itself sends. */
export interface SocketCloses {
  readonly tooSlow: CloseCode;
  readonly internal: CloseCode;
}
