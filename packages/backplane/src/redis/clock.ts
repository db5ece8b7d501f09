/**
 * The time at Redis, estimated from here, as a range that contains it: every answer of a script has the time it ran at,
 * which lies between the sending and the receiving. Clocks drift, so only the last minute counts.
 */

const bucketMs = 30_000;

interface Bounds {
  /** Redis time minus ours is at least, and at most, this. */
  low: number;
  high: number;
}

const unknown = (): Bounds => ({ low: -Infinity, high: Infinity });

export class RedisClock {
  #current = unknown();
  #before = unknown();
  #turnsAt = 0;

  /** Forgets everything: another server can have another clock. */
  reset(): void {
    this.#current = unknown();
    this.#before = unknown();
  }

  /** `sentAt` and `receivedAt` by `performance.now()`, `redisMs` since 1970, rounded down. */
  sample(sentAt: number, redisMs: number, receivedAt: number): void {
    if (receivedAt >= this.#turnsAt) {
      this.#before = this.#current;
      this.#current = unknown();
      this.#turnsAt = receivedAt + bucketMs;
    }
    this.#current.low = Math.max(this.#current.low, redisMs - receivedAt);
    this.#current.high = Math.min(this.#current.high, redisMs + 1 - sentAt);
  }

  /** Redis time is not earlier than this when `performance.now()` is `at`. A deadline given as this is never later. */
  earliest(at: number): number {
    return at + Math.max(this.#current.low, this.#before.low);
  }

  /** Redis time is not later than this. */
  latest(at: number): number {
    return at + Math.min(this.#current.high, this.#before.high);
  }
}
