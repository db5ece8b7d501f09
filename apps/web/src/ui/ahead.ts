/** What is loaded before it is needed begins when what a person looks at first has had a slow line to itself. */
import { useEffect, useState } from 'react';

const aheadMs = 1000;

/** True from a second after `isOn` became true. */
export function useAhead(isOn: boolean): boolean {
  const [isAhead, setAhead] = useState(false);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setTimeout(() => setAhead(true), aheadMs);
    return () => clearTimeout(timer);
  }, [isOn]);
  return isAhead;
}
