/** Revocations that this instance missed because they were published while it was cut off from the others. */
import type { BackplaneInstance } from '@relay/backplane';
import type { Logger } from '@relay/telemetry';

interface HealOptions {
  backplane: Pick<BackplaneInstance, 'onRestored'>;
  logger: Logger;
  /** Between two looks without a reason. */
  everyMs: number;
  /** After a look that failed. */
  retryMs: number;
  /** Reads recent revocations and applies them; applying one twice has no effect. */
  look: () => Promise<void>;
}

/** Looks after every cut, and now and then. Returns the function that stops it. */
export function healRevocations({ backplane, logger, everyMs, retryMs, look }: HealOptions): () => void {
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;
  let stopped = false;
  const plan = (delayMs: number) => {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(run, delayMs);
    timer.unref();
  };
  const run = (): void => {
    if (looking) {
      // A read in progress can predate the reason for this one.
      again = true;
      return;
    }
    looking = true;
    void look()
      .then(
        () => everyMs,
        (error: unknown) => {
          logger.warn({ err: error }, 'revocations could not be read; trying again');
          return retryMs;
        },
      )
      .then((delayMs) => {
        looking = false;
        plan(again ? 0 : delayMs);
        again = false;
      });
  };
  backplane.onRestored(run);
  plan(everyMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
