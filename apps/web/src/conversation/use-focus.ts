/** Tells the relay that the person sees this session (rules, 14.12): as long as the page is in view. */
import { useEffect } from 'react';
import { useRooms } from '../rooms.ts';

const everyMs = 5000;

export function useFocus(sessionId: string): void {
  const { live } = useRooms();
  useEffect(() => {
    const tell = () => {
      if (document.visibilityState === 'visible') live.focus(sessionId);
    };
    tell();
    const timer = setInterval(tell, everyMs);
    document.addEventListener('visibilitychange', tell);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tell);
    };
  }, [live, sessionId]);
}
