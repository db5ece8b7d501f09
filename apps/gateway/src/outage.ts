/** A database that is away for a moment must not cost what a daemon says only once: that a task has ended, for instance. */
import { isUnavailable } from '@relay/database';

/**
 * A way to the database that died in the middle of a transaction without anybody noticing: Prisma gives up waiting, or
 * PostgreSQL ends a transaction in which nothing comes any more. The connection is gone, and nothing is wrong with the frame.
 */
const lostInTheMiddle = (error: unknown): boolean => {
  const { code, meta, message = '' } = error as { code?: unknown; meta?: { code?: unknown }; message?: unknown };
  return code === 'P2028' || meta?.code === '25P03' || (typeof message === 'string' && message.includes('`25P03`'));
};

/** True when the same would succeed later: the database is away, or went away while it was asked. */
export const willPass = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof Error && lostInTheMiddle(error));

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
      if (!willPass(error) || giveUp() || performance.now() + retryMs > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
