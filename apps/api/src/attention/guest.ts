/** One connection of a WebSocket door, as its room knows it. */
import type { UserPrincipal } from '@relay/auth';
import type { CloseReason } from '@relay/protocol';
import type { HeartbeatPeer, Socket } from '@relay/socket';

export interface Guest {
  readonly principal: UserPrincipal;
  /** Before the 101. When it resolves, nothing that happens from now on is missed. */
  subscribe(): Promise<void>;
  start(socket: Socket): Promise<void>;
  frame(text: string): Promise<void> | void;
  binary(): void;
  close(reason: CloseReason): void;
  /** The socket has closed, or never opened. */
  ended(): Promise<void>;
}

/** The live socket of a guest, for its heartbeat. A silent socket is closed without waiting. */
export class Pulse implements HeartbeatPeer {
  readonly #guest: Pick<Guest, 'close'>;
  readonly #socket: Socket;

  constructor(guest: Pick<Guest, 'close'>, socket: Socket) {
    this.#guest = guest;
    this.#socket = socket;
  }

  get lastInboundAt(): number {
    return this.#socket.lastInboundAt;
  }

  ping(): void {
    this.#socket.ping();
  }

  onSilence(): void {
    this.#guest.close('heartbeat');
    this.#socket.terminate();
  }
}
