/** Reports to the relay that a person looks at a session, and reads its news. */
import { useCallback, useEffect, useRef } from 'react';
import type { Session } from '@relay/protocol';
import { useRooms } from '../rooms.ts';
import { isInSight, onSight } from '../ui/sight.ts';

/**
 * Marks the news of a session as read on every device of the person, once per item: a mark that the person sets later stays.
 * Returns the callback for a newest item that comes into view.
 */
export function useReadMark({ id, unread, newsAt }: Session): () => void {
  const { client } = useRooms();
  const read = useRef<string>(undefined);
  const news = `${id} ${newsAt ?? ''}`;
  return useCallback(() => {
    const isReported = read.current === news;
    read.current = news;
    if (isReported || !unread) return;
    client.call('markRead', { params: { id }, body: newsAt === undefined ? {} : { upTo: newsAt } }).catch(() => {
      // Tried again when the newest item is seen again.
      read.current = undefined;
    });
  }, [client, id, unread, newsAt, news]);
}

const everyMs = 5000;

/** Reports that the person sees this session (rules, 14.12): as long as the page is in view. */
export function useFocus(sessionId: string): void {
  const { live } = useRooms();
  useEffect(() => {
    const report = () => {
      if (isInSight()) live.focus(sessionId);
    };
    report();
    const timer = setInterval(report, everyMs);
    const forget = onSight(report);
    return () => {
      clearInterval(timer);
      forget();
    };
  }, [live, sessionId]);
}
