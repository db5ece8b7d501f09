/** Decoding a large frame blocks the event loop: the large frames of one person are decoded one at a time, with rests (rules, 4.8). */
import type { DaemonConnection, Received } from './connection.ts';
import type { FairShare } from './fair-share.ts';

/** About a millisecond of decoding. */
const largeCharacters = 256 * 1024;
/** Large frames of one person are decoded during a twentieth of the time at most. */
const restFactor = 19;
/** Of one person, on this instance. Four frames of the largest size. */
const maxWaitingCharacters = 64 * 1024 * 1024;

export interface LargeFrames {
  is(text: string): boolean;
  /** As `connection.decode`, when its turn comes. Closes the connection with `overloaded` when too much of this person waits already. */
  decode(connection: DaemonConnection, text: string): Promise<Received | undefined>;
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
    decode: async (connection, text) => {
      const { ownerId } = connection;
      try {
        if (add(ownerId, text.length) > maxWaitingCharacters) connection.close('overloaded');
        else return await share.run(ownerId, restFactor, () => connection.decode(text));
      } finally {
        add(ownerId, -text.length);
      }
      return undefined;
    },
  };
}
