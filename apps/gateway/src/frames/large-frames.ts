/** Decoding a large frame blocks the event loop: the large frames of one person are decoded one at a time, with rests (rules, 4.8). */
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { FairShare } from './fair-share.ts';

/** About a millisecond of decoding. */
const largeCharacters = 256 * 1024;
/**
 * Large frames of one person get an eightieth of the time; including the cost of their answers elsewhere, they delay
 * fewer than 5 of 100 requests.
 */
const rest = { factor: 79, maxMs: 30_000 };
/** The most that waits for one person on this instance: four frames of the largest size. */
const maxWaitingCharacters = 64 * 1024 * 1024;

type Handle = (frame: Received | undefined) => void | Promise<void>;

interface LargeFrames {
  is(text: string): boolean;
  /**
   * Decodes and handles a frame in its turn; its rest is proportional to the event-loop time of both. Resolves and
   * rejects as `handle` does. Closes the connection with `overloaded` when too many frames of this person wait already.
   */
  process(connection: DaemonConnection, text: string, handle: Handle): Promise<void>;
}

export function createLargeFrames(share: FairShare): LargeFrames {
  const waiting = new Map<string, number>();
  const add = (ownerId: string, characters: number): number => {
    const sum = (waiting.get(ownerId) ?? 0) + characters;
    if (sum > 0) waiting.set(ownerId, sum);
    else waiting.delete(ownerId);
    return sum;
  };
  return {
    is: (text) => text.length >= largeCharacters,
    process: async (connection, text, handle) => {
      const { ownerId } = connection;
      let turn: { done: void | Promise<void> };
      try {
        if (add(ownerId, text.length) > maxWaitingCharacters) return connection.close('overloaded');
        // Waits of `handle` are not part of its turn: a report waits for turns of its own.
        turn = await share.run(ownerId, rest, () => ({
          // The connection might have closed during the wait.
          done: connection.acceptsFrames ? handle(connection.decode(text)) : undefined,
        }));
      } finally {
        add(ownerId, -text.length);
      }
      await turn.done;
    },
  };
}
