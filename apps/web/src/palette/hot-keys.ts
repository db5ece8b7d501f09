/** Single keys do something only where no text is written, and only while the person wants them. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { keepStored, readStored } from '../forget.ts';
import { isComposing } from '../ui/composing.ts';

const isMac = typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.platform);

/** The name of a key on this keyboard. */
export const keyName = (key: string): string => (key === 'Mod' ? (isMac ? '⌘' : 'Ctrl') : key);

const listeners = new Set<() => void>();

/** A browser that keeps nothing has them on. */
const areOn = (): boolean => readStored('keys') !== 'off';

export function turnKeys(on: boolean): void {
  keepStored('keys', on ? null : 'off');
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
export const useKeysOn = (): boolean => useSyncExternalStore(subscribe, areOn);

const fields = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';
/** A dialog, or an open menu, has the keys. */
const above = 'dialog[open], :popover-open';

function isSingle(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isComposing(event)) return false;
  if (event.target instanceof Element && event.target.closest(fields)) return false;
  return areOn() && document.querySelector(above) === null;
}

/** Handlers by key, as `KeyboardEvent.key` in lower case. A handler that did nothing returns false. */
export function useHotKeys(keys: Readonly<Record<string, () => unknown>>): void {
  const newest = useRef(keys);
  useEffect(() => {
    newest.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const handler = newest.current[event.key.toLowerCase()];
      if (handler && isSingle(event) && handler() !== false) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
