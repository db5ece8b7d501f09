/** Reads the whole history of a session; a copy keeps only a part. */
import type { Message, MessagePage } from '@relay/protocol';
import type { Relay } from './relay.ts';

const pageItems = 200;
/** The client gets the newest pages of a longer history. */
const mostPages = 250;
const mostBytes = 8 * 1024 * 1024;

/** Returns all entries before a page, oldest first, back to a known entry. @throws the errors of calls */
export async function before(
  client: Pick<Relay, 'call'>,
  id: string,
  page: Pick<MessagePage, 'hasMore' | 'oldestUuid'>,
  isSent: (uuid: string) => boolean = () => false,
): Promise<Message[]> {
  const pages: Message[][] = [];
  let { hasMore, oldestUuid } = page;
  let bytes = 0;
  while (hasMore && oldestUuid !== null && oldestUuid !== undefined && pages.length < mostPages && bytes < mostBytes) {
    const query = { parts: '1', limit: pageItems, before: oldestUuid } as const;
    const older = await client.call('readMessages', { params: { id }, query });
    pages.unshift(older.messages);
    bytes += JSON.stringify(older.messages).length;
    if (older.messages.some(({ uuid }) => isSent(uuid))) break;
    // A daemon that repeats itself would never finish.
    if (older.oldestUuid === oldestUuid) break;
    ({ hasMore, oldestUuid } = older);
  }
  return pages.flat();
}
