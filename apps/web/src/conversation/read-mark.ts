/** Marks the news of a session as read on every device of the person, once per item: a mark that the person sets later stays. */
import { useCallback, useRef } from 'react';
import type { Session } from '@relay/protocol';
import { useRooms } from '../rooms.ts';

/** Returns the callback for a newest item that comes into view. */
export function useReadMark({ id, unread, newsAt }: Session): () => void {
  const { client } = useRooms();
  const read = useRef<string>(undefined);
  const news = `${id} ${newsAt ?? ''}`;
  return useCallback(() => {
    const isKnown = read.current === news;
    read.current = news;
    if (isKnown || !unread) return;
    client.call('markRead', { params: { id }, body: newsAt === undefined ? {} : { upTo: newsAt } }).catch(() => {
      // Tried again when the newest item is seen again.
      read.current = undefined;
    });
  }, [client, id, unread, newsAt, news]);
}
