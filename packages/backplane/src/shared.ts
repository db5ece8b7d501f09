/** Small state that all instances share, for a time: keys used once, values taken once, counters; and control messages. */

export interface Counted {
  readonly count: number;
  readonly leftMs: number;
  readonly endsAt: number;
}

export interface Shared {
  /**
   * Claims keys together. True if all of them were new. Afterwards all are remembered: new keys for `ttlMs`, known keys
   * for their remaining time. Atomic: of two callers with a common key only one gets true.
   */
  once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean>;

  /** Remembers keys without asking: `once` knows all of them for `ttlMs` from now on, known ones too. */
  mark(scope: string, keys: readonly string[], ttlMs: number): Promise<void>;

  /** Reads and deletes, atomically: only one caller gets the value. Undefined if it is missing or expired. */
  take(key: string): Promise<string | undefined>;

  /** Reads and keeps. Undefined if the value is missing or expired. */
  peek(key: string): Promise<string | undefined>;

  /** Keeps a value for one `take` within `ttlMs`. A second put replaces the first. */
  put(key: string, value: string, ttlMs: number): Promise<void>;

  /**
   * Keeps the first value. Returns the kept value; if that is the caller's own, it lives for `ttlMs` from now on. Atomic: all callers get
   * the same value until it expires or is taken.
   */
  keepFirst(key: string, value: string, ttlMs: number): Promise<string>;

  /**
   * Appends to an existing value and keeps it for `ttlMs` from now on. False if the value is missing; then nothing is
   * stored.
   */
  extend(key: string, more: string, ttlMs: number): Promise<boolean>;

  /**
   * Counts within a fixed window that begins with the first count and lasts `windowMs`; a negative `by` gives back.
   * Atomic among all instances. Returns the count so far, the remaining time, and the expiry time of the window: ms
   * since 1970 by the clock of the store, the same for every count of a window. All are 0 if no window is open.
   */
  count(key: string, by: number, windowMs: number): Promise<Counted>;

  /** Sends a control message to the `onControl` listeners of all instances, this one included. */
  publishControl(body: string): Promise<void>;
  onControl(listener: (body: string) => void): void;
}
