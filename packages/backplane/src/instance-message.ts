/** The messages of one instance to another's own channel. Fields are text, numbers and flags, never objects of a caller. */
import type { Command } from './commands.ts';
import type { Lease } from './leases.ts';

export interface CommandMessage {
  readonly kind: 'command';
  /** `from` waits for the acknowledgement under it; of a request it is the correlation, and only a refusal is sent. */
  readonly id: string;
  readonly from: string;
  readonly command: Command;
  /** The receiver drops the command after this time, measured by the clock of its transport. */
  readonly deadline: number;
}

interface EvictionMessage {
  readonly kind: 'evicted';
  readonly lease: Lease;
}

/** Sent back by the receiver of a command. */
export type CommandAnswer =
  | { readonly kind: 'ack'; readonly id: string }
  | { readonly kind: 'nack'; readonly id: string }
  | { readonly kind: 'reply'; readonly correlation: string; readonly body: string }
  /** The instance that accepted the request closed before it had replied. */
  | { readonly kind: 'abandoned'; readonly correlation: string };

export type InstanceMessage = CommandMessage | EvictionMessage | CommandAnswer;
