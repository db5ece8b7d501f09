/** Time as the daemon sees it. A parameter everywhere, so that a test can hold it still. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since the epoch. Jumps when the system clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary moment, for measuring: never jumps. Default: `now`. */
  elapsed?(): number;
  /** Runs once after `delayMs`, unless the returned function was called before. */
  after(delayMs: number, run: () => void): Cancel;
  /** Calls back soon after this machine woke from sleep. */
  onWake?(run: () => void): Cancel;
}

const wakeTickMs = 2000;
const wakeSlackMs = 8000;

/**
 * Whether the machine slept between two readings `wakeTickMs` apart: the wall clock moved on much further. Monotonic clocks and timers stand
 * still during sleep on most systems, so they alone show nothing.
 */
export const hasSlept = (beforeMs: number, nowMs: number): boolean => nowMs - beforeMs > wakeTickMs + wakeSlackMs;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  onWake(run) {
    let last = Date.now();
    const timer = setInterval(() => {
      const now = Date.now();
      const slept = hasSlept(last, now);
      last = now;
      if (slept) run();
    }, wakeTickMs).unref();
    return () => clearInterval(timer);
  },
};

export const elapsedOn = (clock: Clock): number => clock.elapsed?.() ?? clock.now();

/** Resolves after `delayMs`; at once when the signal is or becomes aborted. Never rejects. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal?.addEventListener('abort', done);
  });
}

/** True when the promise settled within `limitMs`, false when the time was up first. The promise itself continues. */
export function settledWithin(clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(false));
    const settled = () => {
      cancel();
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
