/** Sessions that the relay finds for a search, page by page; until then, matching sessions known here. */
import { useEffect, useState } from 'react';
import type { Device, Session } from '@relay/protocol';
import type { Refusal } from '../api/refusal.ts';
import { pageSize } from '../api/bounds.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { type Action, useAction } from '../ui/action.ts';
import { useResource } from '../ui/resource.ts';
import { type Filter, type Listed, after, joined, matches, queryOf } from './listed.ts';

/** As `q` of the list of sessions. */
export const searchCharacters = 200;
/** A search is sent after a pause. */
const restMs = 120;

interface SearchState {
  /** Trimmed; empty while no search is active. */
  words: string;
  kind: 'off' | 'searching' | 'found' | 'failed';
  sessions: readonly Session[];
  refusal: Refusal | undefined;
  retry: () => void;
  hasMore: boolean;
  more: Action<[]>;
}

interface Found extends Listed {
  /** The terms and the filter of the request. */
  key: string;
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), value === '' ? 0 : restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function useSearch(
  text: string,
  filter: Filter,
  loaded: readonly Session[],
  devices: readonly Device[],
): SearchState {
  const { client } = useRooms();
  const words = text.trim();
  const settled = useSettled(words);
  const key = settled === '' ? '' : JSON.stringify([settled, filter]);
  const query = { limit: pageSize, ...queryOf(filter), q: settled };
  const found = useResource<Found>(key, async () => {
    if (key === '') return { key, sessions: [] };
    const { sessions, nextCursor } = await client.call('listSessions', { query });
    return { key, sessions, nextCursor };
  });
  useFrames((frame) => {
    if (key === '') return;
    if (frame.type === 'resync' || frame.type === 'sessions_changed') found.reload();
    else found.change((now) => after(now, frame, (session) => now.sessions.some(({ id }) => id === session.id)));
  });
  const value = found.kind === 'ready' ? found.value : undefined;
  const cursor = value?.nextCursor;
  const more = useAction(async () => {
    if (cursor === undefined) return;
    const next = await client.call('listSessions', { query: { ...query, cursor } });
    found.change((now) =>
      now.key === key ? { key, sessions: joined(now.sessions, next.sessions), nextCursor: next.nextCursor } : now,
    );
  });

  const isFound = words === settled && value?.key === key;
  const fits = (session: Session) =>
    matches(
      session,
      devices.find(({ id }) => id === session.deviceId),
      words,
    );
  const ofRelay = value?.sessions ?? [];
  const hasFailed = words === settled && found.kind === 'failed';
  return {
    words,
    kind: words === '' ? 'off' : isFound ? 'found' : hasFailed ? 'failed' : 'searching',
    sessions: words === '' ? loaded : joined(isFound ? ofRelay : ofRelay.filter(fits), loaded.filter(fits)),
    refusal: hasFailed ? found.refusal : undefined,
    retry: found.reload,
    hasMore: isFound && cursor !== undefined,
    more,
  };
}
