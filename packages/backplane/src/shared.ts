/** Small state that all instances share, for a time: keys used once, values taken once, counters; and control messages. */

export interface Counted {
  readonly count: number;
  readonly leftMs: number;
  readonly endsAt: number;
}

export interface Shared {
  /**
   * Claims keys together. True when none of them was remembered; either way all are remembered afterwards, new ones for
   * `ttlMs`, known ones for the time they had left. Atomic: of two callers with a common key one gets true.
   */
  once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean>;

  /** Remembers keys without asking: `once` knows all of them for `ttlMs` from now on, known ones too. */
  mark(scope: string, keys: readonly string[], ttlMs: number): Promise<void>;

  /** Reads and deletes, atomically: a value is returned once. Undefined when there is none or it has expired. */
  take(key: string): Promise<string | undefined>;

  /** Reads and keeps. Undefined when there is none or it has expired. */
  peek(key: string): Promise<string | undefined>;

  /** Keeps a value for one `take` within `ttlMs`. A second put replaces the first. */
  put(key: string, value: string, ttlMs: number): Promise<void>;

  /**
   * Keeps the first value: returns the value that is kept, for `ttlMs` from now on if it is the own one. Atomic: all callers get the same
   * value until it expires or is taken.
   */
  keepFirst(key: string, value: string, ttlMs: number): Promise<string>;

  /** Appends to a value that was put, which is kept for `ttlMs` from now on. False when there is none, and nothing is kept then. */
  extend(key: string, more: string, ttlMs: number): Promise<boolean>;

  /**
   * Counts within a fixed window that begins with the first count and lasts `windowMs`; `by` may be negative, to give back.
   * Atomic among all instances. Returns the count so far, how long the window still lasts, and when it ends: ms since 1970 by the
   * clock of the store, the same for every count of a window. All 0 when there is none.
   */
  count(key: string, by: number, windowMs: number): Promise<Counted>;

  /** Sends a control message to the `onControl` listeners of all instances, this one included. */
  publishControl(body: string): Promise<void>;
  onControl(listener: (body: string) => void): void;
}
