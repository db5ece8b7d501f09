import type { Client } from '@relay/client';
import { pageSize } from '../api/bounds.ts';
import { type Filter, type Listed, joined, queryOf } from './listed.ts';

/** The first page, all that are pinned, and all that wait for the person. */
export async function loadList(client: Client, filter: Filter): Promise<Listed> {
  const asked = { limit: pageSize, ...queryOf(filter) };
  const [page, pinned, waiting] = await Promise.all([
    client.call('listSessions', { query: asked }),
    client.call('listSessions', { query: { ...asked, pinned: 'true' } }),
    client.call('listSessions', { query: { limit: pageSize, status: 'waiting' } }),
  ]);
  return { sessions: joined(page.sessions, pinned.sessions, waiting.sessions), nextCursor: page.nextCursor };
}
