/** The person's current sessions: the sessions of a filter, page by page, the pinned ones, and all that wait for an answer. */
import { useEffect, useRef } from 'react';
import type { Client } from '@relay/client';
import { pageSize } from '../api/bounds.ts';
import { keepsLast, loadLast } from '../offline/kept.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { type Action, useAction } from '../ui/action.ts';
import { type Resource, useResource } from '../ui/resource.ts';
import { type Filter, type Listed, after, filterKey, joined, needsYou, passes, queryOf } from './listed.ts';
import { askingSessions, useInbox } from '../inbox/use-inbox.ts';

interface UseSessions {
  list: Resource<Listed>;
  more: Action<[]>;
}

const loadWaiting = async (client: Client) =>
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

export function useSessions(filter: Filter): UseSessions {
  const { access, client, inbox } = useRooms();
  const key = filterKey(filter);
  const newestKey = useRef(key);
  useEffect(() => {
    newestKey.current = key;
  });
  const list = useResource<Listed>(key, () => loadList(client, filter, askingSessions(inbox.state)));
  useFrames((frame) => {
    if (frame.type === 'resync' || frame.type === 'sessions_changed') list.reload();
    else list.change((now) => after(now, frame, (session) => passes(session, filter) || needsYou(session)));
  });
  const shown = list.kind === 'ready' ? list.value.sessions : undefined;
  const isWhole = filter.device === undefined && filter.status === undefined && !filter.archived;
  useEffect(() => {
    if (shown === undefined || !isWhole || !keepsLast()) return;
    loadLast().then(
      ({ keepList }) => keepList(() => access.person, shown),
      () => undefined,
    );
  }, [access, shown, isWhole]);
  // The inbox came after the list, and has questions of sessions that are not in it.
  const tried = useRef(new Set<string>());
  const asking = askingSessions(useInbox());
  const { change } = list;
  useEffect(() => {
    const missing = asking.filter((id) => !tried.current.has(id) && shown?.every((session) => session.id !== id));
    if (shown === undefined || missing.length === 0) return;
    for (const id of missing) tried.current.add(id);
    loadWaiting(client).then(
      (waiting) => change((now) => ({ ...now, sessions: joined(now.sessions, waiting) })),
      () => undefined,
    );
  }, [client, shown, asking, change]);
  const cursor = list.kind === 'ready' ? list.value.nextCursor : undefined;
  const more = useAction(async () => {
    if (cursor === undefined) return;
    const next = await client.call('listSessions', { query: { limit: pageSize, ...queryOf(filter), cursor } });
    // The person changed the filter in between: the cursor would skip sessions of this one.
    if (newestKey.current === key)
      list.change((now) => ({ sessions: joined(now.sessions, next.sessions), nextCursor: next.nextCursor }));
  });
  return { list, more };
}
