/** How many frames a second: a bucket that fills steadily and holds a burst. */

export interface TokenBucketOptions {
  ratePerSecond: number;
  /** What the bucket holds; it is full at first. */
  burst: number;
  /** Milliseconds; only differences count. Default: a clock that never steps back. */
  now?: () => number;
}

export interface TokenBucket {
  /** True when there was a token for it. A refusal costs nothing. */
  take(): boolean;
}

export function createTokenBucket({
  ratePerSecond,
  burst,
  now = () => performance.now(),
}: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let filledAt = now();
  return {
    take() {
      const at = now();
      // A clock that steps back takes nothing away.
      tokens = Math.min(burst, tokens + (Math.max(0, at - filledAt) / 1_000) * ratePerSecond);
      filledAt = at;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
