/** A short database outage must not lose a frame that the daemon sends only once, for instance a task's completion. */
import { isUnavailable } from '@relay/database';

const retryMs = 500;
/** A daemon that waits for its frame goes elsewhere then; queued tasks are found by a sweep. */
const framePatienceMs = 30_000;

/**
 * Repeats `work` until the database answers, for 30 s unless `patienceMs` is given; does not wait if `work` returns no
 * promise. Throws or rejects with the error of `work`: immediately unless it is an outage, or when `giveUp` returns
 * true; otherwise at the time limit. A repeated `work` might have taken effect before.
 */
export function outlast(
  work: () => void | Promise<void>,
  giveUp: () => boolean,
  patienceMs = framePatienceMs,
): void | Promise<void> {
  const first = work();
  return first && retried(first, work, giveUp, patienceMs);
}

/** `outlast` for background work, which no frame waits for: repeats until `giveUp` returns true. */
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
