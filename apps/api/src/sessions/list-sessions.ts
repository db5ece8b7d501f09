/** A page of a person's sessions, as PostgreSQL wrote them: rows are neither decoded nor encoded again. */
import { type Db, type SessionPage, listSessions } from '@relay/database';
import type { Session } from '@relay/protocol';

interface ListPage {
  /** Each the JSON of a Session. */
  sessions: string[];
  /** The last one, when there are more. */
  last?: { updatedAt: string; key: string };
}

export async function listPage(db: Db, userId: string, filter: SessionPage): Promise<ListPage> {
  const found = await listSessions(db, userId, filter);
  const page = found.slice(0, filter.limit);
  const sessions = page.map(({ json }) => json);
  const last = page.at(-1);
  if (found.length <= filter.limit || !last) return { sessions };
  return { sessions, last: { updatedAt: (JSON.parse(last.json) as Session).updatedAt, key: last.key } };
}
