/** A database that is away for a moment must not cost what a daemon says only once: that a task has ended, for instance. */
import { isUnavailable } from '@relay/database';

const retryMs = 500;
/** A daemon that waits for its frame goes elsewhere then; queued tasks are found by a sweep. */
const framePatienceMs = 30_000;

/**
 * Runs `work` again until the database answers it, for 30 s unless `patienceMs` is given; without a promise of it there is nothing to wait for. Throws or rejects with
 * what `work` failed with: at once when that was not an outage, or when `giveUp` says so; otherwise when the time is over. `work` may
 * have been done already when it runs again.
 */
export function outlast(
  work: () => void | Promise<void>,
  giveUp: () => boolean,
  patienceMs = framePatienceMs,
): void | Promise<void> {
  const first = work();
  return first && retried(first, work, giveUp, patienceMs);
}

/** `outlast` for what no frame waits for: until `giveUp` says so. */
export async function outlastAny(work: () => Promise<void>, giveUp: () => boolean): Promise<void> {
  await outlast(work, giveUp, Infinity);
}

async function retried(
  first: Promise<void>,
  work: () => void | Promise<void>,
  giveUp: () => boolean,
  patienceMs: number,
): Promise<void> {
  const until = performance.now() + patienceMs;
  for (let attempt: void | Promise<void> = first; ; attempt = work()) {
    try {
      await attempt;
      return;
    } catch (error) {
      if (!isUnavailable(error) || giveUp() || performance.now() + retryMs > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
