/** The WebSocket as the stream needs it, implemented on the standard interface of browsers. */
import { ClosedError, type ClientError, NetworkError } from './errors.ts';

interface Socket {
  send(text: string): void;
  /** `onEnd` follows within a second. */
  close(): void;
  /** Absent if the runtime cannot stop reading. */
  pause?(): void;
  resume?(): void;
}

interface SocketWish {
  /** Address with `since` and `events`, without a credential. */
  url: string;
  token: string | undefined;
  /** Requests a single-use credential by REST. */
  ticket: (signal: AbortSignal) => Promise<string>;
}

interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** Called once, as the last event, even if the socket never opened. */
  onEnd(error: Error): void;
}

export type OpenSocket = (wish: SocketWish, events: SocketEvents) => Socket;

/** The part of the standard interface that this file uses. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
}
export type WebSocketConstructor = new (url: string) => WebSocketLike;

export const closeTimeoutMs = 1000;
const open = 1;

/**
 * Uses a ticket: a page cannot set headers, and a browser hides why an upgrade was refused, while the ticket route reports the
 * reason.
 */
export const standardSocket =
  (WebSocket: WebSocketConstructor): OpenSocket =>
  ({ url, ticket }, events) => {
    let socket: WebSocketLike | undefined;
    let isOver = false;
    let late: ReturnType<typeof setTimeout> | undefined;
    const asking = new AbortController();
    const end = (error: Error) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(late);
      events.onEnd(error);
      asking.abort();
    };
    const begin = (credential: string) => {
      if (isOver) return;
      const address = new URL(url);
      address.searchParams.set('ticket', credential);
      const opening = new WebSocket(address.href);
      let wasOpen = false;
      socket = opening;
      opening.onopen = () => {
        wasOpen = true;
        if (isOver) opening.close(1000);
        else events.onOpen();
      };
      opening.onmessage = ({ data }: { data: unknown }) => {
        if (!isOver && typeof data === 'string') events.onText(data);
      };
      opening.onclose = ({ code, reason }: { code: number; reason: string }) => end(endingOf(wasOpen, code, reason));
    };
    ticket(asking.signal)
      .then(begin)
      .catch((error: unknown) => end(error instanceof Error ? error : new Error(String(error))));
    return {
      send: (text) => {
        if (socket?.readyState === open) socket.send(text);
      },
      close: () => {
        if (isOver) return;
        socket?.close(1000);
        // On a dead network a browser needs a long time to give up.
        late ??= setTimeout(() => end(new ClosedError(1006, '')), socket ? closeTimeoutMs : 0);
      },
    };
  };

export const endingOf = (wasOpen: boolean, code: number, reason: string): ClientError =>
  wasOpen ? new ClosedError(code, reason) : new NetworkError('The WebSocket could not be opened.');
