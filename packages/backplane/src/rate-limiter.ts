/**
 * How often somebody may do something, counted for all instances together. When they cannot be reached each instance counts
 * for itself: a limit that is too wide for a while is better than nobody served, or everybody. Knows no HTTP.
 */
import type { Backplane } from './backplane.ts';
import { BackplaneError } from './errors.ts';
import { Expiring } from './memory/expiring.ts';

export interface RateLimiterOptions {
  /** Tells limiters apart; two with the same name count together. */
  name: string;
  points: number;
  windowMs: number;
  /** How many keys are counted locally while the others cannot be reached; the oldest are forgotten. Default 10,000. */
  maxLocalKeys?: number;
  /** Milliseconds since 1970; for the local counts. */
  now?: () => number;
}

export interface RateState {
  readonly allowed: boolean;
  readonly limit: number;
  /** Never negative. */
  readonly remaining: number;
  /** Until the window ends. */
  readonly leftMs: number;
  /** Counted by this instance alone. */
  readonly local: boolean;
}

export interface RateLimiter {
  /** Counts one. Never rejects because others cannot be reached. */
  consume(who: string): Promise<RateState>;
  /** Takes one back. */
  giveBack(who: string): Promise<void>;
}

/** Cost: one operation of the turn per count; a fixed window that begins with the first count. */
export function createRateLimiter(backplane: Pick<Backplane, 'count'>, options: RateLimiterOptions): RateLimiter {
  const { name, points, windowMs, now = Date.now } = options;
  const local = new Expiring<number>(now, options.maxLocalKeys ?? 10_000);

  const countHere = (who: string, by: number): { count: number; leftMs: number } => {
    const leftMs = local.leftMs(who);
    if (leftMs === 0 && by <= 0) return { count: 0, leftMs: 0 };
    const count = (local.get(who) ?? 0) + by;
    local.set(who, count, leftMs || windowMs);
    return { count, leftMs: leftMs || windowMs };
  };

  const count = async (who: string, by: number): Promise<{ count: number; leftMs: number; isLocal: boolean }> => {
    try {
      return { ...(await backplane.count(`limit:${name}:${who}`, by, windowMs)), isLocal: false };
    } catch (error) {
      if (!(error instanceof BackplaneError)) throw error;
      return { ...countHere(who, by), isLocal: true };
    }
  };

  return {
    consume: async (who) => {
      const state = await count(who, 1);
      return {
        allowed: state.count <= points,
        limit: points,
        remaining: Math.max(0, points - state.count),
        leftMs: state.leftMs,
        local: state.isLocal,
      };
    },
    giveBack: async (who) => void (await count(who, -1)),
  };
}
