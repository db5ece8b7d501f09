/** The time of the lost connection; undefined while the page is live. */
import { useEffect, useState } from 'react';
import { useLiveState } from '../rooms.ts';

export function useAsOf(): string | undefined {
  const isLive = useLiveState().kind !== 'waiting';
  const [lost, setLost] = useState<string>();
  useEffect(() => setLost(isLive ? undefined : new Date().toISOString()), [isLive]);
  return lost;
}
