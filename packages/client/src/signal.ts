/** A change signal: tells listeners that the state of an object is another one. */
export class Signal {
  readonly #listeners = new Set<() => void>();

  /** Calls the listener after each change. Returns the function that removes it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
