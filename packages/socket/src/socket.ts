/**
 * One live WebSocket, as a door sees it: text comes in one frame at a time, text goes out without waiting, and the end is told
 * once. It has never heard of a daemon, an app or a frame type. Nothing here waits for a peer without a clock.
 */

/** The content of a close frame. Entries of the protocol's table of close codes fit. */
export interface CloseCode {
  readonly code: number;
  /** At most 123 bytes go out; more is cut. */
  readonly reason: string;
}

/** How a socket ended. */
export interface SocketClose extends CloseCode {
  /** Code and reason are those of the side that closed first; 1006 when the connection was lost without a word. */
  readonly code: number;
  readonly reason: string;
  /** Both sides said goodbye. */
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
   * Whether a text frame may be handled while an earlier one, `current`, has not resolved. Of both the first 64 characters are given. Absent:
   * never.
   */
  passes?(head: string, current: string): boolean;
  /** On whose account the long frames of this socket are, see `LongFrames`. Absent: its own. */
  payer?(socket: Socket): string;
  /** A binary frame, in its place among the others. Its content is dropped; closing is up to the door. */
  onBinary(socket: Socket): void;
  /**
   * Exactly once, after the frame in progress is finished. When the peer left, everything it had sent before is handled
   * first; when this side closed, what was not yet handled is dropped, unless it closed with `leave`.
   */
  onClose(close: SocketClose, socket: Socket): void;
  /** The error that a handler threw. */
  onError(error: unknown, socket: Socket): void;
}

export interface Socket {
  /** `live`: frames go both ways. `closing`: one side has said so, and nothing more is sent. `closed`: gone. */
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
  /** Resolves when less than 16 KiB are unsent, or the socket is no longer live. Never rejects. */
  drained(): Promise<void>;
  /** A WebSocket ping; a peer that lives answers it, which shows in `lastInboundAt`. */
  ping(): void;
  /** Sends what waits and the close frame; ends the connection when the peer answers, or after `closeTimeoutMs`. */
  close(code: number, reason: string): void;
  /**
   * Closes as `close` does, but what the peer says until it answers counts as if it had left by itself: frames are handled,
   * and `onClose` comes after them. A `close` or `terminate` before the connection has ended drops what is not handled yet.
   */
  leave(code: number, reason: string): void;
  /** Ends the connection now. */
  terminate(): void;
}

/** The close frames that the socket itself sends. */
export interface SocketCloses {
  readonly tooSlow: CloseCode;
  readonly internal: CloseCode;
}
