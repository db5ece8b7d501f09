/** Several sessions at once: which are chosen. */
import { useCallback, useMemo, useState } from 'react';

export interface Selection {
  isOn: boolean;
  ids: ReadonlySet<string>;
  /** Adds one, or takes it out; with `toHere` everything between the last one and this. */
  pick: (id: string, toHere?: boolean) => void;
  only: (ids: readonly string[]) => void;
  end: () => void;
}

/** @param order the ids of the list, from top to bottom */
export function useSelection(order: readonly string[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>();
  const [last, setLast] = useState<string>();
  const pick = useCallback(
    (id: string, toHere = false) => {
      const from = toHere && last !== undefined ? order.indexOf(last) : -1;
      const to = order.indexOf(id);
      const range = from === -1 || to === -1 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
      setLast(id);
      setIds((now = new Set()) => {
        const isOut = range.length === 1 && now.has(id);
        return isOut ? new Set([...now].filter((one) => one !== id)) : new Set([...now, ...range]);
      });
    },
    [order, last],
  );
  const only = useCallback((all: readonly string[]) => setIds(new Set(all)), []);
  const end = useCallback(() => {
    setIds(undefined);
    setLast(undefined);
  }, []);
  return useMemo(
    () => ({ isOn: ids !== undefined, ids: ids ?? new Set<string>(), pick, only, end }),
    [ids, pick, only, end],
  );
}
