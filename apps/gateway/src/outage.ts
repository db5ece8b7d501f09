/** A database that is away for a moment must not cost what a daemon says only once: that a task has ended, for instance. */
import { isUnavailable } from '@relay/database';

const retryMs = 500;
const patienceMs = 30_000;

/**
 * Runs `work` again until the database answers it, for 30 s. Rejects with what `work` threw: at once when it was not an
 * outage, or when `giveUp` says so; otherwise when the time is over. `work` may have been done already when it runs again.
 */
export async function outlast(work: () => Promise<void>, giveUp: () => boolean): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isUnavailable(error) || giveUp() || performance.now() + retryMs > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
