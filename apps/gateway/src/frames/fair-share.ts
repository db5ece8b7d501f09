/**
 * Limits expensive work per person: one piece at a time, and a rest after each, when the instance serves others (rules,
 * 4.8). A person with two hundred daemons gets the same share as a person with a single daemon. Cheap work does not
 * pass through here.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The share of a person: after work that took t of the processor, the next piece waits `factor` times t, and longer
 * with a longer queue; `maxMs` at most.
 */
interface Rest {
  readonly factor: number;
  readonly maxMs: number;
}

/**
 * Up to this queue length, a person's machines are a few that came back together; beyond it, each rest grows in
 * proportion.
 */
const calmWaiting = 8;

export interface FairShare {
  /**
   * Runs `work` after all that came before it for this person, and after the rest that the work before it earned. Resolves and rejects as
   * `work` does, before its own rest.
   */
  run<T>(ownerId: string, rest: Rest, work: () => Promise<T> | T): Promise<T>;
  /** Stops every rest, and skips later ones: an instance that leaves serves only this work. */
  endRests(): void;
}

/** `othersHere`: whether this instance serves anyone but this person. A rest helps only others. */
export function createFairShare(othersHere: (ownerId: string) => boolean = () => true): FairShare {
  /** Pieces of work of each person that wait for their turn. */
  const waiting = new Map<string, number>();
  const wait = (ownerId: string, by: 1 | -1): void => {
    const count = (waiting.get(ownerId) ?? 0) + by;
    if (count > 0) waiting.set(ownerId, count);
    else waiting.delete(ownerId);
  };
  /** Per person, resolves when the rest after the newest work is over. */
  const busy = new Map<string, Promise<unknown>>();
  const ending = new AbortController();
  // One for each person who rests.
  setMaxListeners(0, ending.signal);
  const { signal } = ending;
  return {
    endRests: () => ending.abort(),
    run: (ownerId, rest, work) => {
      let tookMs = 0;
      const timed = async () => {
        wait(ownerId, -1);
        const beganAt = performance.now();
        const usedBefore = process.cpuUsage();
        try {
          return await work();
        } finally {
          // On a busy host, work waits for the processor and for PostgreSQL: others can use that time.
          const { user, system } = process.cpuUsage(usedBefore);
          tookMs = Math.min(performance.now() - beganAt, (user + system) / 1000);
        }
      };
      wait(ownerId, 1);
      const before = busy.get(ownerId);
      const done = before ? before.then(timed) : timed();
      const rested = done
        .catch(() => undefined)
        .then(() => {
          if (!othersHere(ownerId)) return;
          const crowd = Math.max(1, (waiting.get(ownerId) ?? 0) / calmWaiting);
          return delay(Math.min(tookMs * rest.factor * crowd, rest.maxMs), undefined, { ref: false, signal });
        })
        .catch(() => undefined)
        .then(() => {
          if (busy.get(ownerId) === rested) busy.delete(ownerId);
        });
      busy.set(ownerId, rested);
      return done;
    },
  };
}
