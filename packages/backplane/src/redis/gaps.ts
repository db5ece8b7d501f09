/**
 * Users of whom a frame was lost on its way to the history: nobody else knows, so the chain is broken and everybody who listens
 * is told, as soon as Redis can be reached again.
 */

/** Users that are remembered; past it the ones longest in debt are forgotten, which `onError` hears. */
const maxUsers = 100_000;
const retryMs = 1_000;

export class Gaps {
  readonly #users = new Set<string>();
  readonly #tell: (user: string) => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(tell: (user: string) => Promise<unknown>, onError: (error: unknown) => void) {
    this.#tell = tell;
    this.#onError = onError;
  }

  add(user: string): void {
    if (this.#closed) return;
    this.#users.add(user);
    if (this.#users.size > maxUsers) {
      const [oldest] = this.#users;
      if (oldest !== undefined) this.#users.delete(oldest);
      this.#onError(new Error('too many users have lost frames: one of them will not be told'));
    }
    this.#plan();
  }

  /** To be called before something else is appended to the history of this user, in the same turn. */
  settle(user: string): void {
    if (!this.#users.has(user)) return;
    this.#tell(user).then(
      () => this.#users.delete(user),
      () => this.#plan(),
    );
  }

  settleAll(): void {
    for (const user of this.#users) this.settle(user);
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
      this.settleAll();
      if (this.#users.size > 0) this.#plan();
    }, retryMs);
    this.#timer.unref();
  }
}
