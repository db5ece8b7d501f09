/** The live stream of a user for commands: frames, and the state of the connection. */
import type { AttentionItem } from '@relay/client';
import { sentenceOf, streamFailureOf } from './refusals.ts';
import type { Relay } from './relay.ts';

/** A frame of any type, including types of a later release. */
export type AnyFrame = Exclude<AttentionItem, { type: 'connection' | 'resync' }>;

export type Happening =
  | { kind: 'frame'; frame: AnyFrame }
  /** The stream is live. `resumed`: the frames since the last one follow. */
  | { kind: 'connected'; resumed: boolean }
  | { kind: 'lost'; why: string; waitMs: number }
  /** Frames were lost: read the state again. */
  | { kind: 'gap' };

interface HappeningsWish {
  relay: Relay;
  /** Also yields `task_output`, from daemons without a transcript. */
  output: boolean;
  /** Closes the stream without an error. */
  signal: AbortSignal;
}

/**
 * Returns when the signal aborts; reconnects after every outage.
 * @throws Failure if the first connection fails, the user must sign in again, or the relay refuses this program
 */
export async function* happenings({ relay, output, signal }: HappeningsWish): AsyncGenerator<Happening, void> {
  let wasLive = false;
  /** The stream begins with `resync`, before the command has any state. */
  let isBeginning = true;
  try {
    for await (const item of relay.attention({ signal, events: output ? ['output', 'transcript'] : ['transcript'] })) {
      if (item.type === 'resync') {
        if (!isBeginning) yield { kind: 'gap' };
        isBeginning = false;
      } else if (item.type !== 'connection') yield { kind: 'frame', frame: item };
      else if (item.state === 'live') {
        wasLive = true;
        yield { kind: 'connected', resumed: item.resumed };
      } else if (item.state === 'waiting') {
        if (!wasLive) throw item.error;
        yield { kind: 'lost', why: sentenceOf(item.error), waitMs: item.waitMs };
      }
    }
  } catch (error) {
    throw streamFailureOf(relay.url, error);
  }
}
