/** Marks the news of a session as read, for every device of the person, once for each: a mark that the person sets meanwhile stays. */
import { useCallback, useRef } from 'react';
import type { Session } from '@relay/protocol';
import { useRooms } from '../rooms.ts';

/** Returns what is called when the newest item is in view. */
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
