/** Tells the relay that the person sees this session (rules, 14.12): as long as the page is in view. */
import { useEffect } from 'react';
import { useRooms } from '../rooms.ts';
import { isInSight, onSight } from '../ui/sight.ts';

const everyMs = 5000;

export function useFocus(sessionId: string): void {
  const { live } = useRooms();
  useEffect(() => {
    const tell = () => {
      if (isInSight()) live.focus(sessionId);
    };
    tell();
    const timer = setInterval(tell, everyMs);
    const forget = onSight(tell);
    return () => {
      clearInterval(timer);
      forget();
    };
  }, [live, sessionId]);
}
