/** Watches when the credential of a live connection expires. */
const maxTimerMs = 2 ** 31 - 1;

export class Expiry {
  readonly #toleranceMs: number;
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(toleranceMs: number, onEnd: () => void) {
    this.#toleranceMs = toleranceMs;
    this.#onEnd = onEnd;
  }

  /** Replaces an earlier time. Milliseconds since 1970. */
  at(expiresAtMs: number): void {
    clearTimeout(this.#timer);
    const inMs = Math.max(0, expiresAtMs + this.#toleranceMs - Date.now());
    this.#timer = setTimeout(
      () => (inMs > maxTimerMs ? this.at(expiresAtMs) : this.#onEnd()),
      Math.min(inMs, maxTimerMs),
    );
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
