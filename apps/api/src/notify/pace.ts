/**
 * A flood of notifications leaves most of an instance, and of its database, to people who ask and listen: work on it takes a fixed share of
 * the time (rules, 14.5). Time is measured on the wall, so that rests grow with the load of the machine.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** After work that took t, a rest of eight times t: a ninth of the time is work. */
const restFactor = 8;
/** After a database that stood still, nothing is delayed for longer. */
const maxRestMs = 1000;

export interface Pace {
  /** Runs `work` and counts its time. Resolves and rejects as `work` does. */
  spend<T>(work: () => Promise<T>): Promise<T>;
  /** Rests for all work since the last rest; stops early when `signal` aborts. Never rejects. */
  rest(signal: AbortSignal): Promise<void>;
}

interface PaceOptions {
  /** So many pieces of work at a time count as one. */
  parallel?: number;
  /** Wall time in ms. */
  now?: () => number;
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export function createPace(options: PaceOptions = {}): Pace {
  const {
    parallel = 1,
    now = () => performance.now(),
    wait = (ms, signal) => delay(ms, undefined, { signal }),
  } = options;
  let spentMs = 0;
  return {
    spend: async (work) => {
      const beganAt = now();
      try {
        return await work();
      } finally {
        spentMs += (now() - beganAt) / parallel;
      }
    },
    rest: async (signal) => {
      const restMs = Math.min(spentMs * restFactor, maxRestMs);
      spentMs = 0;
      await wait(restMs, signal).catch(() => undefined);
    },
  };
}
