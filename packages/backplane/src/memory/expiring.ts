/** Values that expire: claimed keys, tickets, counters. */

const sweepEveryMs = 30_000;

/** Bound: `limit` values; past it the oldest go first, as they would in a store that is full. */
export class Expiring<V> {
  readonly #values = new Map<string, { value: V; until: number }>();
  readonly #now: () => number;
  readonly #limit: number;
  #sweepAt: number;

  constructor(now: () => number, limit: number) {
    this.#now = now;
    this.#limit = limit;
    this.#sweepAt = now() + sweepEveryMs;
  }

  /** The number of values, expired ones included until they are swept. */
  get size(): number {
    return this.#values.size;
  }

  set(key: string, value: V, ttlMs: number): void {
    this.setUntil(key, value, this.#now() + ttlMs);
  }

  setUntil(key: string, value: V, until: number): void {
    this.#sweep();
    // Deleting first makes a replaced value the newest one.
    this.#values.delete(key);
    this.#values.set(key, { value, until });
    if (this.#values.size <= this.#limit) return;
    const [oldest] = this.#values.keys();
    if (oldest !== undefined) this.#values.delete(oldest);
  }

  get(key: string): V | undefined {
    const held = this.#values.get(key);
    return held && held.until > this.#now() ? held.value : undefined;
  }

  /** Expiry time of the key; 0 if the key is unknown. */
  until(key: string): number {
    return this.#values.get(key)?.until ?? 0;
  }

  take(key: string): V | undefined {
    const value = this.get(key);
    this.#values.delete(key);
    return value;
  }

  #sweep(): void {
    const now = this.#now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + sweepEveryMs;
    for (const [key, { until }] of this.#values) {
      if (until <= now) this.#values.delete(key);
    }
  }
}
