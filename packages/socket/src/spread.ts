/** Many sockets, one after the other, within a time. */

/** The clock of the spreading, in ms; tests have another. */
interface SpreadClock {
  now(): number;
  wait(ms: number): Promise<unknown>;
}

const systemClock: SpreadClock = {
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/**
 * Calls `act` with each of `all` in order, the first immediately and the rest evenly over `overMs`. A late wake-up
 * handles all due items together, so that delays do not add up.
 */
export async function spreadOver<T>(
  all: readonly T[],
  overMs: number,
  act: (one: T) => void,
  clock: SpreadClock = systemClock,
): Promise<void> {
  const startedAt = clock.now();
  for (const [index, one] of all.entries()) {
    const aheadMs = startedAt + (overMs * index) / all.length - clock.now();
    if (aheadMs > 0) await clock.wait(aheadMs);
    act(one);
  }
}
