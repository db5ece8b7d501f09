/** The relay's interface for this package: calls of routes, and live frames. The public API client implements it; an api has its own. */
import type { AttentionItem, Client } from '@relay/client';

export interface Relay {
  /** The address of the relay, for links to files. */
  readonly url: string;
  /** Like the client's `call`. @throws RelayError of the client */
  call: Client['call'];
  /** The live frames of the user; `resync` if frames can be missing. Stops when the signal aborts. */
  attention(options: { events: readonly 'transcript'[]; signal: AbortSignal }): AsyncIterable<AttentionItem>;
}
