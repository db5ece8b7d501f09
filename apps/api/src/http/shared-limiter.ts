/**
 * rate-limiter-flexible over the counters of the backplane: fixed windows, counted for all instances together in one round trip. While
 * the backplane is away, the library's memory limiter of this instance counts (its insurance). The only file that knows the library.
 */
import type { Shared } from '@relay/backplane';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import RateLimiterStoreAbstract from 'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js';

type Window = Awaited<ReturnType<Shared['count']>>;

/** After the backplane failed, requests do not wait for it to fail again, for this long. */
const aloneMs = 1000;

/** Adds the time when the window closes: ms since 1970, the same for every request of a window. */
class WindowRes extends RateLimiterRes {
  readonly windowEndsAt: number;

  constructor(points: number, { count, leftMs, endsAt }: Window) {
    super(Math.max(0, points - count), leftMs, count, count === 1);
    this.windowEndsAt = endsAt;
  }
}

class SharedLimiter extends RateLimiterStoreAbstract<Window> {
  readonly #count: Shared['count'];

  constructor(name: string, points: number, windowMs: number, count: Shared['count']) {
    const window = { points, duration: windowMs / 1000, keyPrefix: `limit:${name}` };
    super({ ...window, insuranceLimiter: new RateLimiterMemory(window) });
    this.#count = count;
  }

  protected override _upsert(key: string, points: number, windowMs: number): Promise<Window> {
    return this.#count(key, points, windowMs);
  }

  protected override _getRateLimiterRes(_key: string, _changedPoints: number, window: Window): RateLimiterRes {
    return new WindowRes(this.points, window);
  }
}

export interface LimitState {
  readonly over: boolean;
  readonly left: number;
  readonly windowLeftMs: number;
  /** ms since 1970, the same for every request of a window. */
  readonly windowEndsAt: number;
}

export interface Limiter {
  readonly points: number;
  /** Counts one, also when it is one too many. */
  count(who: string): Promise<LimitState>;
  takeBack(who: string): Promise<void>;
}

const countedBy = (state: RateLimiterRes, over: boolean): LimitState => ({
  over,
  left: state.remainingPoints,
  windowLeftMs: state.msBeforeNext,
  windowEndsAt: state instanceof WindowRes ? state.windowEndsAt : Date.now() + state.msBeforeNext,
});

/** Returns a function that makes limiters of `points` per `windowMs`. */
export function createSharedLimiters(
  backplane: Pick<Shared, 'count'>,
): (name: string, points: number, windowMs: number) => Limiter {
  let aloneUntil = 0;
  const count: Shared['count'] = async (key, by, windowMs) => {
    if (performance.now() < aloneUntil) throw new Error('the backplane has just failed');
    try {
      return await backplane.count(key, by, windowMs);
    } catch (error) {
      aloneUntil = performance.now() + aloneMs;
      throw error;
    }
  };
  return (name, points, windowMs) => {
    const limiter = new SharedLimiter(name, points, windowMs, count);
    return {
      points,
      count: (who) =>
        limiter.consume(who).then(
          (state) => countedBy(state, false),
          (refused: unknown) => {
            if (refused instanceof RateLimiterRes) return countedBy(refused, true);
            throw refused;
          },
        ),
      takeBack: async (who) => {
        await limiter.reward(who);
      },
    };
  };
}
