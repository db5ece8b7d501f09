import type { Client } from '@relay/client';
import { pageSize } from '../api/bounds.ts';
import { type Filter, type Listed, joined, queryOf } from './listed.ts';

export const loadWaiting = async (client: Client) =>
  (await client.call('listSessions', { query: { limit: pageSize, status: 'waiting' } })).sessions;

/**
 * Loads the first page, all pinned sessions, and all that wait for the person: `asking` names their sessions, most of them in the
 * page.
 */
export async function loadList(client: Client, filter: Filter, asking: readonly string[] = []): Promise<Listed> {
  const query = { limit: pageSize, ...queryOf(filter) };
  const [page, pinned] = await Promise.all([
    client.call('listSessions', { query }),
    client.call('listSessions', { query: { ...query, pinned: 'true' } }),
  ]);
  const sessions = joined(page.sessions, pinned.sessions);
  const isWhole = asking.every((id) => sessions.some((session) => session.id === id));
  return {
    sessions: isWhole ? sessions : joined(sessions, await loadWaiting(client)),
    nextCursor: page.nextCursor,
  };
}
