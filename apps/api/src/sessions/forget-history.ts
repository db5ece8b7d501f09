/** Recent frames of apps stay in the backplane for minutes; deleted texts do not. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Operations } from '../deps.ts';

const firstPauseMs = 1000;
const longestPauseMs = 60_000;
/** A backplane that is away for longer has lost everything it kept before. */
const patienceMs = 3_600_000;

type ForgetDeps = Pick<Operations, 'backplane' | 'logger'>;

/** Histories being retried, by backplane: once for each person, even if they delete several sessions. */
const trying = new WeakMap<Operations['backplane'], Set<string>>();

/** Apps that reconnect with an earlier position get `resync`. Never rejects: while the backplane is away, it is tried again after this has returned. */
export async function forgetHistory(deps: ForgetDeps, userId: string): Promise<void> {
  await deps.backplane.forget(userId).catch((error: unknown) => {
    const people = trying.get(deps.backplane) ?? new Set();
    trying.set(deps.backplane, people);
    if (people.has(userId)) return;
    deps.logger.warn({ err: error }, 'kept frames could not be deleted; it is tried again');
    people.add(userId);
    void forgetLater(deps, people, userId);
  });
}

async function forgetLater({ backplane }: ForgetDeps, people: Set<string>, userId: string): Promise<void> {
  const until = performance.now() + patienceMs;
  for (let pauseMs = firstPauseMs; performance.now() < until; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    await delay(pauseMs, undefined, { ref: false });
    // A deletion that fails from now on might concern texts that this attempt came too early for.
    people.delete(userId);
    const isForgotten = await backplane.forget(userId).then(
      () => true,
      () => false,
    );
    if (isForgotten || people.has(userId)) return;
    people.add(userId);
  }
  people.delete(userId);
}
