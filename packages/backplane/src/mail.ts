/** What one instance sends to another one's own channel. Fields are text, numbers and flags, never somebody's object. */
import type { Command, Lease } from './backplane.ts';

export type Mail =
  /** `from` waits for the ACK under `id`. */
  | { readonly kind: 'command'; readonly id: string; readonly from: string; readonly command: Command }
  | { readonly kind: 'ack'; readonly id: string; readonly ok: boolean }
  | { readonly kind: 'reply'; readonly correlation: string; readonly body: string }
  /** The instance that took the request closed before it had replied. */
  | { readonly kind: 'abandoned'; readonly correlation: string }
  | { readonly kind: 'evicted'; readonly lease: Lease };
