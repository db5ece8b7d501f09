/** Since when a page shows what may have changed: the relay cannot be reached. */
import { useEffect, useState } from 'react';
import { useLiveState } from '../rooms.ts';

export function useAsOf(): string | undefined {
  const isLive = useLiveState().kind !== 'waiting';
  const [lost, setLost] = useState<string>();
  useEffect(() => setLost(isLive ? undefined : new Date().toISOString()), [isLive]);
  return lost;
}
