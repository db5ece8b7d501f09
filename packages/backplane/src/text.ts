/** What every implementation does with what it is given and with whom it tells. */

/** A body that is not text is our own mistake. @throws TypeError */
export function requireText(body: unknown): void {
  if (typeof body !== 'string') throw new TypeError(`the backplane carries text, not ${typeof body}`);
}

/** One listener that throws disturbs no other. */
export function tell<T>(listener: (said: T) => void, said: T, onError: (error: unknown) => void): void {
  try {
    listener(said);
  } catch (error) {
    onError(error);
  }
}
