/** Shows the number of things that wait for the person on the tab: in its title and its icon. */
import { useSyncExternalStore } from 'react';
import plainIcon from '../styles/icon.svg';
import needsIcon from '../styles/icon-needs.svg';

let needs = 0;
let page = 'Relay';
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

function show(): void {
  document.title = needs > 0 ? `(${needs}) ${page}` : page;
}

/** The title of the page that is open. */
export function titled(title: string): void {
  page = title === 'Relay' ? title : `${title} · Relay`;
  show();
}

export function countNeeds(count: number): void {
  if (count === needs) return;
  needs = count;
  show();
  for (const listener of listeners) listener();
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon) icon.href = count > 0 ? needsIcon : plainIcon;
}

/** The same number, as a hook. */
export const useNeeds = (): number => useSyncExternalStore(subscribe, () => needs);
