/** The filter and the scroll position of the list, kept while the person visits another page. */
import { type RefObject, type UIEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Action } from '../ui/action.ts';
import { useQuery } from '../ui/address.ts';
import { type Filter, filterIn, isSame, noFilter } from './listed.ts';

/** On its own page the address has the filter; beside another page it stays as it was. */
export function useFilter(isHome: boolean): [Filter, (filter: Filter) => void] {
  const query = useQuery();
  const [, navigate] = useLocation();
  const [kept, setKept] = useState<Filter>(noFilter);
  const filter = isHome ? filterIn(query) : kept;
  if (!isSame(filter, kept)) setKept(filter);
  const show = (next: Filter) => {
    const params = new URLSearchParams();
    if (next.device !== undefined) params.set('device', next.device);
    if (next.status !== undefined) params.set('status', next.status);
    if (next.archived) params.set('archived', '1');
    const text = params.toString();
    setKept(next);
    if (isHome) navigate(text === '' ? '/sessions' : `/sessions?${text}`, { replace: true });
  };
  return [filter, show];
}

/** More is loaded when less than this is below. */
const aheadPx = 600;

/** Restores the position of the list when it comes back into view, and loads more before the last row. */
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
