/** What one instance sends to another one's own channel. Fields are text, numbers and flags, never somebody's object. */
import type { Command, Lease } from './backplane.ts';

export type Mail =
  /**
   * `from` waits for the ACK under `id`; of a request, whose `id` is its correlation, only for the NACK: a reply says more. Not
   * to be delivered after `deadline`, in the time of whoever carries it.
   */
  | {
      readonly kind: 'command';
      readonly id: string;
      readonly from: string;
      readonly command: Command;
      readonly deadline: number;
    }
  | { readonly kind: 'ack'; readonly id: string; readonly ok: boolean }
  | { readonly kind: 'reply'; readonly correlation: string; readonly body: string }
  /** The instance that took the request closed before it had replied. */
  | { readonly kind: 'abandoned'; readonly correlation: string }
  | { readonly kind: 'evicted'; readonly lease: Lease };
