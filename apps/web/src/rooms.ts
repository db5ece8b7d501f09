/** The dependencies of the pages, created once in main and passed down: the sign-in, the relay's API, the live socket. */
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';
import type { Client } from '@relay/client';
import type { Access, AccessState } from './auth/access.ts';
import type { Account } from './auth/account.ts';
import type { InboxStore } from './inbox/store.ts';
import type { Live, LiveFrame, LiveState } from './live.ts';
import type { Place } from './place.ts';

interface Rooms {
  place: Place;
  access: Access;
  account: Account;
  client: Client;
  live: Live;
  inbox: InboxStore;
}

const RoomsContext = createContext<Rooms | undefined>(undefined);
export const RoomsProvider = RoomsContext.Provider;

export function useRooms(): Rooms {
  const rooms = useContext(RoomsContext);
  if (!rooms) throw new TypeError('outside of RoomsProvider');
  return rooms;
}

export function useAccessState(): AccessState {
  const { access } = useRooms();
  return useSyncExternalStore(access.subscribe, () => access.state);
}

export function useLiveState(): LiveState {
  const { live } = useRooms();
  return useSyncExternalStore(live.subscribe, () => live.state);
}

/** Receives every frame while the component is mounted; always calls the newest `listener`. */
export function useFrames(listener: (frame: LiveFrame) => void): void {
  const { live } = useRooms();
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  useEffect(() => live.onFrame((frame) => newest.current(frame)), [live]);
}
