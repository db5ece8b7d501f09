/**
 * Text that grows, outside of the list: a piece renders its own item, at most once per frame, and nothing else.
 */
import { useCallback, useSyncExternalStore } from 'react';

export interface Texts {
  get: (uuid: string) => string | undefined;
  set: (uuid: string, text: string) => void;
  /** Items that no longer grow. */
  keepOnly: (uuids: ReadonlySet<string>) => void;
  subscribe: (uuid: string, listener: () => void) => () => void;
}

export function createTexts(schedule: (work: () => void) => void = (work) => void requestAnimationFrame(work)): Texts {
  const texts = new Map<string, string>();
  const listeners = new Map<string, Set<() => void>>();
  const changed = new Set<string>();
  const flush = () => {
    const now = [...changed];
    changed.clear();
    for (const uuid of now) for (const listener of listeners.get(uuid) ?? []) listener();
  };
  return {
    get: (uuid) => texts.get(uuid),
    set: (uuid, text) => {
      if (texts.get(uuid) === text) return;
      texts.set(uuid, text);
      if (changed.size === 0) schedule(flush);
      changed.add(uuid);
    },
    keepOnly: (uuids) => {
      for (const uuid of texts.keys()) if (!uuids.has(uuid)) texts.delete(uuid);
    },
    subscribe: (uuid, listener) => {
      const own = listeners.get(uuid) ?? new Set();
      listeners.set(uuid, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0) listeners.delete(uuid);
      };
    },
  };
}

/** The current text of an item. */
export function useText(texts: Texts, uuid: string, content: string): string {
  const subscribe = useCallback((listener: () => void) => texts.subscribe(uuid, listener), [texts, uuid]);
  const read = () => texts.get(uuid) ?? content;
  return useSyncExternalStore(subscribe, read, read);
}
