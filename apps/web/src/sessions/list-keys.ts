/** Keys of the list: to its search, from row to row, and a row into the archive. */
import type { RefObject } from 'react';
import type { Session } from '@relay/protocol';
import { useHotKeys } from '../palette/hot-keys.ts';
import type { Changes } from './use-changes.ts';

const rows = '.ask .about, .row';

/** Moves to the next or previous row; false if no such row is visible. */
export function moveIn(root: HTMLElement | null, by: 1 | -1): boolean {
  const all = [...(root?.querySelectorAll<HTMLElement>(rows) ?? [])].filter((row) => row.checkVisibility());
  const own = document.activeElement?.closest('li')?.querySelector<HTMLElement>(rows);
  const open = all.findIndex((row) => row.getAttribute('aria-current') === 'page');
  const from = own ? all.indexOf(own) : -1;
  const next = all[from === -1 ? Math.max(0, open) : Math.min(all.length - 1, Math.max(0, from + by))];
  const target = next?.matches('label') ? next.querySelector<HTMLElement>('input') : next;
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
  return target !== undefined;
}

export function useListKeys(
  root: RefObject<HTMLElement | null>,
  field: RefObject<HTMLInputElement | null>,
  openId: string | undefined,
  sessions: readonly Session[],
  changes: Changes,
): void {
  useHotKeys({
    j: () => moveIn(root.current, 1),
    k: () => moveIn(root.current, -1),
    '/': () => {
      if (!field.current?.checkVisibility()) return false;
      field.current.focus();
      field.current.select();
      return true;
    },
    e: () => {
      const id = document.activeElement?.closest<HTMLElement>('.side li')?.dataset['id'] ?? openId;
      const session = sessions.find((one) => one.id === id);
      if (session) changes.archive([session]);
      return session !== undefined;
    },
  });
}
