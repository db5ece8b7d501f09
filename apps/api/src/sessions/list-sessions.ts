/** A page of a person's sessions, as PostgreSQL wrote them: rows are neither decoded nor encoded again. */
import type { SessionPage } from '@relay/database';
import type { Session } from '@relay/protocol';
import type { Operations } from '../deps.ts';

interface ListPage {
  /** Each the JSON of a Session. */
  sessions: string[];
  /** Where the next page begins, when there are more. A search can have more after a page that is not full. */
  last?: { updatedAt: string; key: string };
}

export async function listPage(
  { findPage }: Pick<Operations, 'findPage'>,
  ownerId: string,
  filter: SessionPage,
): Promise<ListPage> {
  const { sessions: found, searchedTo } = (await findPage({ ownerId, page: filter })) ?? { sessions: [] };
  const page = found.slice(0, filter.limit);
  const sessions = page.map(({ json }) => json);
  const last = page.at(-1);
  if (found.length <= filter.limit || !last) {
    if (!searchedTo) return { sessions };
    return { sessions, last: { updatedAt: searchedTo.updatedAt.toISOString(), key: searchedTo.key } };
  }
  return { sessions, last: { updatedAt: (JSON.parse(last.json) as Session).updatedAt, key: last.key } };
}
