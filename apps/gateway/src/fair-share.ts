/**
 * Limits expensive work per person: one piece at a time, and a rest after each, in which the instance serves others (rules, 4.8). A
 * person with two hundred daemons gets the same share as one with a single daemon. Cheap work does not pass through here.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** The share of a person: after a piece of work that took t, the next one waits for `factor` times t, `maxMs` at most. */
export interface Rest {
  readonly factor: number;
  readonly maxMs: number;
}

export interface FairShare {
  /**
   * Runs `work` after all that came before it for this person, and after the rest that the work before it earned. Resolves and rejects as
   * `work` does, before its own rest.
   */
  run<T>(ownerId: string, rest: Rest, work: () => Promise<T> | T): Promise<T>;
}

export function createFairShare(): FairShare {
  /** Until the rest after the newest work of a person is over. */
  const busy = new Map<string, Promise<unknown>>();
  return {
    run: (ownerId, rest, work) => {
      let tookMs = 0;
      const timed = async () => {
        const beganAt = performance.now();
        try {
          return await work();
        } finally {
          tookMs = performance.now() - beganAt;
        }
      };
      const before = busy.get(ownerId);
      const done = before ? before.then(timed) : timed();
      const rested = done
        .catch(() => undefined)
        .then(() => delay(Math.min(tookMs * rest.factor, rest.maxMs), undefined, { ref: false }))
        .then(() => {
          if (busy.get(ownerId) === rested) busy.delete(ownerId);
        });
      busy.set(ownerId, rested);
      return done;
    },
  };
}
