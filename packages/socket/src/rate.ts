/** Limits frames per second: a bucket that fills steadily and holds a burst. */

/** All buckets of a door can share one object. */
export interface TokenBucketOptions {
  ratePerSecond: number;
  /** The size of the bucket; it is full at first. */
  burst: number;
  /** Milliseconds; only differences count. Default: a clock that never steps back. */
  now?: () => number;
}

export interface TokenBucket {
  /** True when there was a token for it. A refusal costs nothing. */
  take(): boolean;
}

/** The bucket is small, because every connection has one. */
export function createTokenBucket(options: TokenBucketOptions): TokenBucket {
  return new Bucket(options);
}

class Bucket implements TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #filledAt: number;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#filledAt = this.#now();
  }

  take(): boolean {
    const { ratePerSecond, burst } = this.#options;
    const at = this.#now();
    // A clock that steps back takes nothing away.
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, at - this.#filledAt) / 1_000) * ratePerSecond);
    this.#filledAt = at;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }
}
