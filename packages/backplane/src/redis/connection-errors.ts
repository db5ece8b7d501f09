/** The reason why Redis cannot be reached: kept, and reported at intervals, because every attempt of every connection fails. */

/** How often it is reported, at most. */
const reportEveryMs = 5_000;

/** Redis cannot be reached, and why: the message is a line of the log by itself. */
export class RedisConnectionError extends Error {}

export class ConnectionErrors {
  readonly #onError: (error: unknown) => void;
  #quietUntil = 0;
  #last = 'no answer';
  /** Before the first connection, the start itself reports failures. */
  started = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get last(): string {
    return this.#last;
  }

  note(reason: string): void {
    this.#last = reason;
    if (!this.started || performance.now() < this.#quietUntil) return;
    this.#quietUntil = performance.now() + reportEveryMs;
    this.#onError(new RedisConnectionError(`Redis: ${reason}`));
  }
}
