/**
 * Users whose frame was lost on its way to the history. Only this instance knows, so it marks the history as incomplete, which notifies
 * the subscribers, as soon as Redis can be reached again.
 */

/** Users that are remembered; past it the oldest are discarded, which `onError` reports. */
const maxUsers = 100_000;
const retryMs = 1_000;

export class BrokenChains {
  readonly #users = new Set<string>();
  readonly #breakChain: (user: string) => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(breakChain: (user: string) => Promise<unknown>, onError: (error: unknown) => void) {
    this.#breakChain = breakChain;
    this.#onError = onError;
  }

  add(user: string): void {
    if (this.#closed) return;
    this.#users.add(user);
    if (this.#users.size > maxUsers) {
      const [oldest] = this.#users;
      if (oldest !== undefined) this.#users.delete(oldest);
      this.#onError(new Error('too many users have lost frames: one of them will not be notified'));
    }
    this.#plan();
  }

  /** To be called before something else is appended to the history of this user, in the same tick. */
  report(user: string): void {
    if (!this.#users.has(user)) return;
    this.#breakChain(user).then(
      () => this.#users.delete(user),
      () => this.#plan(),
    );
  }

  reportAll(): void {
    for (const user of this.#users) this.report(user);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#users.clear();
  }

  #plan(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.reportAll();
      if (this.#users.size > 0) this.#plan();
    }, retryMs);
    this.#timer.unref();
  }
}
