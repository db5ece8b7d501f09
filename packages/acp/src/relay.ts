/** The relay as the door needs it: calls of routes, and live frames. The client of the public API is one; an api has its own. */
import type { AttentionItem, Client } from '@relay/client';

export interface Relay {
  /** As of the client. @throws RelayError of the client */
  call: Client['call'];
  /** The live frames of the person; `resync` when some may be missing. Ends with the signal. */
  attention(options: { events: readonly 'transcript'[]; signal: AbortSignal }): AsyncIterable<AttentionItem>;
}
