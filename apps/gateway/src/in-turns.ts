/** Much work for one device in small parts, so that the requests of others come in between (findings S3). */
import { setTimeout as delay } from 'node:timers/promises';

/** Entries of a report that are written in one transaction: a few tens of milliseconds in the embedded database. */
const together = 100;
const maxPauseMs = 1000;

/**
 * Hands over `items` in parts, in order, one after another. After each part but the last it pauses for as long as that part took:
 * what one device asks for takes half of the time there is, at most. `work` answers whether to go on. True: all were handed over.
 */
export async function inTurns<T>(
  items: readonly T[],
  work: (part: readonly T[], isLast: boolean) => Promise<boolean>,
): Promise<boolean> {
  for (let start = 0; ; start += together) {
    const isLast = start + together >= items.length;
    const beganAt = performance.now();
    if (!(await work(items.slice(start, start + together), isLast))) return false;
    if (isLast) return true;
    await delay(Math.min(performance.now() - beganAt, maxPauseMs));
  }
}
