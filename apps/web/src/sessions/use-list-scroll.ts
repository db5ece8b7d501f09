/** The scroll of the list: restores its position when the list comes back into view, and loads more before the last row. */
import { type RefObject, type UIEvent, useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import type { Action } from '../ui/action.ts';

/** More is loaded when less than this is below. */
const aheadPx = 600;

export function useListScroll(
  box: RefObject<HTMLDivElement | null>,
  isHome: boolean,
  count: number,
  hasMore: boolean,
  { busy, refusal, run }: Action<[]>,
): (event: UIEvent<HTMLDivElement>) => void {
  const scrolled = useRef(0);
  useLayoutEffect(() => {
    if (isHome && box.current) box.current.scrollTop = scrolled.current;
  }, [isHome, box]);
  const look = useCallback(() => {
    const { current } = box;
    if (!current || current.clientHeight === 0 || !hasMore || busy || refusal) return;
    if (current.scrollHeight - current.clientHeight - current.scrollTop < aheadPx) void run();
  }, [box, hasMore, busy, refusal, run]);
  useEffect(look, [look, count]);
  return ({ currentTarget }) => {
    if (currentTarget.clientHeight > 0) scrolled.current = currentTarget.scrollTop;
    look();
  };
}
