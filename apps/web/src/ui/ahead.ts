/** Pages are loaded ahead when the first one has had a slow line to itself. */
import { useEffect, useState } from 'react';

/** A slow phone draws its list 1.5 s after the sign-in. */
const aheadMs = 2500;

/** True from 2.5 s after `isOn` became true for the first time. */
export function useAhead(isOn: boolean): boolean {
  const [isAhead, setAhead] = useState(false);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setTimeout(() => setAhead(true), aheadMs);
    return () => clearTimeout(timer);
  }, [isOn]);
  return isAhead;
}
