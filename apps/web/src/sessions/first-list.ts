/**
 * The list that the first page shows, asked for when a person is signed in and not when its page is drawn, which takes a slow phone half a second
 * (ADR 68). It is for one use, and only until the relay says that something changed.
 */
import type { Client } from '@relay/client';
import type { Live } from '../live.ts';
import { type Listed, filterIn, nameOf, loadList } from './listed.ts';

export interface FirstList {
  /** Asks for the list of this address, if that is where a list is. */
  begin: (address: Location, base: string) => void;
  /** The list of this filter (`nameOf`), when it was asked for. Undefined: ask for it. */
  take: (key: string) => Promise<Listed> | undefined;
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
      begun = { key: nameOf(filter), atMs: Date.now(), list };
    },
    take: (key) => {
      const one = begun;
      drop();
      return one?.key === key && Date.now() - one.atMs < goodForMs ? one.list : undefined;
    },
    drop,
  };
}
