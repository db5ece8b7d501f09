/** Recent frames of apps stay in the backplane for minutes; deleted texts do not. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Operations } from '../deps.ts';

const firstPauseMs = 1000;
const longestPauseMs = 60_000;
/** Of a backplane that is away for longer nothing is left that it kept before. */
const patienceMs = 3_600_000;

type ForgetDeps = Pick<Operations, 'backplane' | 'logger'>;

/** Apps that come back from before get `resync`. Never rejects: while the backplane is away, it is tried again after this has returned. */
export async function forgetHistory(deps: ForgetDeps, userId: string): Promise<void> {
  await deps.backplane.forget(userId).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'kept frames could not be deleted; it is tried again');
    void forgetLater(deps, userId);
  });
}

async function forgetLater({ backplane }: ForgetDeps, userId: string): Promise<void> {
  const until = performance.now() + patienceMs;
  for (let pauseMs = firstPauseMs; performance.now() < until; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    await delay(pauseMs, undefined, { ref: false });
    const isForgotten = await backplane.forget(userId).then(
      () => true,
      () => false,
    );
    if (isForgotten) return;
  }
}
