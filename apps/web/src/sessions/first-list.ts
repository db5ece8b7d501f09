/**
 * Loads the list of sessions. That of the first page is asked for when a person is signed in and not when the page is drawn, which takes a slow
 * phone half a second (ADR 68). It is for one use, and only until the relay says that something changed.
 */
import type { Client } from '@relay/client';
import { pageSize } from '../api/bounds.ts';
import type { Live } from '../live.ts';
import { type Filter, type Listed, filterIn, joined, filterKey, queryOf } from './listed.ts';

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

export interface FirstList {
  /** Asks for the list of this address, if that is where a list is. */
  begin: (address: Location, base: string) => void;
  /** The list of this filter (`filterKey`), when it was asked for. Undefined: ask for it. */
  take: (key: string) => Promise<Listed> | undefined;
  /** No person is signed in any longer. */
  drop: () => void;
}

/** Older ones are asked for again. */
const goodForMs = 5_000;
const homes = ['', '/', '/sessions'];

export function createFirstList({ client, live }: { client: Client; live: Pick<Live, 'onFrame'> }): FirstList {
  let begun: { key: string; atMs: number; list: Promise<Listed> } | undefined;
  const drop = () => void (begun = undefined);
  live.onFrame(drop);
  return {
    begin: ({ pathname, search }, base) => {
      if (!homes.includes(pathname.slice(base.length))) return;
      const filter = filterIn(new URLSearchParams(search));
      const list = loadList(client, filter);
      // The page that takes it shows why it failed.
      list.catch(() => undefined);
      begun = { key: filterKey(filter), atMs: Date.now(), list };
    },
    take: (key) => {
      const one = begun;
      drop();
      return one?.key === key && Date.now() - one.atMs < goodForMs ? one.list : undefined;
    },
    drop,
  };
}
