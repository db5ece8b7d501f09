/** Functions that are called with every event of one kind. */
export class Listeners<Event = void> {
  readonly #listeners: ((event: Event) => void)[] = [];
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(listener: (event: Event) => void): void {
    this.#listeners.push(listener);
  }

  clear(): void {
    this.#listeners.length = 0;
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) callSafely(listener, event, this.#onError);
  }
}

/** One listener that throws disturbs no other. */
export function callSafely<Event>(
  listener: (event: Event) => void,
  event: Event,
  onError: (error: unknown) => void,
): void {
  try {
    listener(event);
  } catch (error) {
    onError(error);
  }
}
