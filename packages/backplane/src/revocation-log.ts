/**
 * What was revoked lately, for those who were not listening: control tells at once, this tells who comes later or was cut off.
 * Knows nothing of tokens; an entry is text that means something to its writer.
 */
import type { Backplane } from './backplane.ts';

export interface RevocationLog {
  /** Remembers it first, then tells everybody. @throws BackplaneError UNAVAILABLE: it may not have been told */
  add(body: string): Promise<void>;
  /**
   * Calls `apply` for everything that was added within the life time, now and whenever this instance was cut off from the
   * others. What is applied twice must count once. Resolves when it was read for the first time.
   * @throws BackplaneError UNAVAILABLE the first time; later failures are told to `onError`, and the next cut reads again
   */
  replay(apply: (body: string) => void, onError: (error: unknown) => void): Promise<void>;
}

const topic = 'revoked';

/** `lifeMs`: how long an entry matters: as long as the longest token lives. */
export function createRevocationLog(
  backplane: Pick<Backplane, 'note' | 'notes' | 'publishControl' | 'onRestored'>,
  lifeMs = 10 * 60_000,
): RevocationLog {
  return {
    add: async (body) => {
      await backplane.note(topic, body, lifeMs);
      await backplane.publishControl(body);
    },
    replay: async (apply, onError) => {
      const read = async () => {
        for (const body of await backplane.notes(topic)) apply(body);
      };
      backplane.onRestored(() => void read().catch(onError));
      await read();
    },
  };
}
