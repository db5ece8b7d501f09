/** A bounded number of places; further callers wait in order. Knows no task and no agent. */
interface Places<T> {
  /**
   * Calls `go` now when a place is free or `who` has one already, else when one becomes free. Returns which of the two.
   */
  take(who: T, go: () => void): 'now' | 'later';
  /** Releases the place, or stops waiting for one. Unknown callers are ignored. */
  leave(who: T): void;
  /** In the order of the next free places. */
  waiting(): T[];
}

export function createPlaces<T>(count: number): Places<T> {
  const taken = new Set<T>();
  const queue = new Map<T, () => void>();
  return {
    take(who, go) {
      if (!taken.has(who) && taken.size >= count) {
        queue.set(who, go);
        return 'later';
      }
      taken.add(who);
      go();
      return 'now';
    },
    leave(who) {
      queue.delete(who);
      if (!taken.delete(who)) return;
      const [first] = queue;
      if (!first) return;
      const [next, go] = first;
      queue.delete(next);
      taken.add(next);
      go();
    },
    waiting: () => [...queue.keys()],
  };
}
