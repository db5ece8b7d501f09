/** Reading the items of a session from its daemon, through the relay. */
import type { Message, MessagePage } from '@relay/protocol';
import type { Relay } from './relay.ts';

type Client = Pick<Relay, 'call'>;

const pageItems = 200;
/** A longer history is sent from here on. */
const mostPages = 250;
const mostBytes = 8 * 1024 * 1024;

const read = (client: Client, id: string, query: { changed?: number; before?: string } = {}): Promise<MessagePage> =>
  client.call('readMessages', { params: { id }, query: { parts: '1', limit: pageItems, ...query } });

export const newestPage = (client: Client, sessionId: string) => read(client, sessionId);

export const changesSince = (client: Client, id: string, changed: number) =>
  client.call('readMessages', { params: { id }, query: { parts: '1', changed } });

/** Everything before a page, oldest first, back to an entry that is known. */
export async function before(
  client: Client,
  sessionId: string,
  page: Pick<MessagePage, 'hasMore' | 'oldestUuid'>,
  isKnown: (uuid: string) => boolean = () => false,
): Promise<Message[]> {
  const pages: Message[][] = [];
  let { hasMore, oldestUuid } = page;
  let bytes = 0;
  while (hasMore && oldestUuid !== null && oldestUuid !== undefined && pages.length < mostPages && bytes < mostBytes) {
    const older = await read(client, sessionId, { before: oldestUuid });
    pages.unshift(older.messages);
    bytes += JSON.stringify(older.messages).length;
    if (older.messages.some(({ uuid }) => isKnown(uuid))) break;
    // A daemon that repeats itself is not followed.
    if (older.oldestUuid === oldestUuid) break;
    ({ hasMore, oldestUuid } = older);
  }
  return pages.flat();
}
