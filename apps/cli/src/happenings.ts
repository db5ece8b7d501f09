/** Everything that happens to a person, as commands print it: the frames, and the state of the connection. */
import type { AttentionItem } from '@relay/client';
import { sentenceOf, streamFailureOf } from './refusals.ts';
import type { Relay } from './relay.ts';

/** A frame of any type, known or not. */
export type AnyFrame = Exclude<AttentionItem, { type: 'connection' | 'resync' }>;

export type Happening =
  | { kind: 'frame'; frame: AnyFrame }
  /** Listening: nothing that happens from now on is missed. */
  | { kind: 'connected' }
  | { kind: 'lost'; why: string; waitMs: number }
  /** Something may have been missed since the last frame; reload by REST. */
  | { kind: 'gap' };

interface HappeningsWish {
  relay: Relay;
  /** Also `task_output`, of daemons that have no transcript. */
  output: boolean;
  /** Ends it in order. */
  signal: AbortSignal;
}

/**
 * Ends when the signal is aborted. Throws a Failure when the first connection cannot be made, when the person must sign in
 * again, or when the relay does not want this program back. After an outage it retries forever.
 */
export async function* happenings({ relay, output, signal }: HappeningsWish): AsyncGenerator<Happening, void> {
  let wasLive = false;
  /** The stream says once at its beginning that it knows nothing: neither does the command yet. */
  let isBeginning = true;
  try {
    for await (const item of relay.attention({ signal, events: output ? ['output', 'transcript'] : ['transcript'] })) {
      if (item.type === 'resync') {
        if (!isBeginning) yield { kind: 'gap' };
        isBeginning = false;
      } else if (item.type !== 'connection') yield { kind: 'frame', frame: item };
      else if (item.state === 'live') {
        wasLive = true;
        yield { kind: 'connected' };
      } else if (item.state === 'waiting') {
        if (!wasLive) throw item.error;
        yield { kind: 'lost', why: sentenceOf(item.error), waitMs: item.waitMs };
      }
    }
  } catch (error) {
    throw streamFailureOf(relay.url, error);
  }
}
