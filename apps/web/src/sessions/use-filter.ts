/** The filter of the list. On its own page the address has it; beside another page it stays as it was. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useQuery } from '../ui/address.ts';
import { type Filter, filterIn, isSame, noFilter } from './listed.ts';

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
