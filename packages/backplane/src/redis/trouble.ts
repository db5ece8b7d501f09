/** Why Redis cannot be reached: kept for who asks, and said once in a while, because every attempt of every connection fails. */

/** How often it is said, at most. */
const everyMs = 5_000;

/** Says why Redis cannot be reached: the message is a line of the log by itself. */
export class RedisTrouble extends Error {}

export class Trouble {
  readonly #onError: (error: unknown) => void;
  #quietUntil = 0;
  #last = 'no answer';
  /** Before that, whoever starts says what it waits for. */
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
    this.#quietUntil = performance.now() + everyMs;
    this.#onError(new RedisTrouble(`Redis: ${reason}`));
  }
}
