/** The base of both copies: their change signal, and the rule for crossing frames. Small, because the pages' first load includes it. */
import type { Attention, Session } from '@relay/protocol';

/** Calls its listeners when the state of the object changes. */
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

/**
 * The one rule for frames that cross between two relay instances: an update older than the known state is ignored, unless it renames the
 * session.
 */
export const isOutdated = (
  { session, previousId }: Attention<'session_update'>,
  current: Pick<Session, 'updatedAt'> | undefined,
): boolean => previousId === undefined && current !== undefined && session.updatedAt < current.updatedAt;
