/** The sessions and machines that the list has loaded, for other components that show them. */
import { useSyncExternalStore } from 'react';
import type { Device, Session } from '@relay/protocol';

interface SharedLists {
  sessions: readonly Session[];
  devices: readonly Device[];
  isLoading: boolean;
}

const nothing: SharedLists = { sessions: [], devices: [], isLoading: false };
let current = nothing;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Undefined when the list is gone, with the person. */
export function share(next: SharedLists | undefined): void {
  current = next ?? nothing;
  for (const listener of listeners) listener();
}

export const useSharedLists = (): SharedLists => useSyncExternalStore(subscribe, () => current);
