/** One connection of a WebSocket door, as its room knows it. */
import type { UserPrincipal } from '@relay/auth';
import type { CloseReason } from '@relay/protocol';
import type { HeartbeatPeer, Socket } from '@relay/socket';

export interface Guest extends HeartbeatPeer {
  readonly principal: UserPrincipal;
  /** Before the 101. When it resolves, nothing that happens from now on is missed. */
  subscribe(): Promise<void>;
  start(socket: Socket): Promise<void>;
  frame(text: string): Promise<void> | void;
  binary(): void;
  close(reason: CloseReason): void;
  /** The socket has ended, or never was. */
  ended(): Promise<void>;
}
