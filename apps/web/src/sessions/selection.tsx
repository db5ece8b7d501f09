/** Several sessions at once: which are chosen, and the bar that says what can be done with them. */
import { useCallback, useMemo, useState } from 'react';
import { Archive, ArchiveRestore, type LucideIcon, Pin, PinOff, Trash2, X } from 'lucide-react';
import type { Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import type { Changes } from './use-changes.ts';

export interface Selection {
  isOn: boolean;
  ids: ReadonlySet<string>;
  /** Adds one, or takes it out; with `toHere` everything between the last one and this. */
  pick: (id: string, toHere?: boolean) => void;
  only: (ids: readonly string[]) => void;
  end: () => void;
}

/** @param order the ids of the list, from top to bottom */
export function useSelection(order: readonly string[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>();
  const [last, setLast] = useState<string>();
  const pick = useCallback(
    (id: string, toHere = false) => {
      const from = toHere && last !== undefined ? order.indexOf(last) : -1;
      const to = order.indexOf(id);
      const range = from === -1 || to === -1 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
      setLast(id);
      setIds((now = new Set()) => {
        const isOut = range.length === 1 && now.has(id);
        return isOut ? new Set([...now].filter((one) => one !== id)) : new Set([...now, ...range]);
      });
    },
    [order, last],
  );
  const only = useCallback((all: readonly string[]) => setIds(new Set(all)), []);
  const end = useCallback(() => {
    setIds(undefined);
    setLast(undefined);
  }, []);
  return useMemo(
    () => ({ isOn: ids !== undefined, ids: ids ?? new Set<string>(), pick, only, end }),
    [ids, pick, only, end],
  );
}

interface SelectionBarProps {
  selection: Selection;
  sessions: readonly Session[];
  changes: Changes;
}

/** @param sessions all that are shown */
export function SelectionBar({ selection, sessions, changes }: SelectionBarProps) {
  const chosen = sessions.filter(({ id }) => selection.ids.has(id));
  const isArchive = chosen.length > 0 && chosen.every(({ archived }) => archived);
  const isPinned = chosen.length > 0 && chosen.every(({ pinned }) => pinned);
  const all = chosen.length === sessions.length && chosen.length > 0;
  const act = (what: (sessions: readonly Session[]) => void) => () => {
    if (chosen.length === 0) return;
    selection.end();
    what(chosen);
  };
  const button = (name: string, icon: LucideIcon, what: (sessions: readonly Session[]) => void, kind = '') => (
    <IconButton
      icon={icon}
      className={kind}
      label={name}
      title={name}
      aria-disabled={chosen.length === 0}
      onClick={act(what)}
    />
  );
  return (
    <>
      <div className="side-top picking" role="toolbar" aria-label={words.list.selection}>
        <IconButton icon={X} label={words.list.endSelection} title={words.list.endSelection} onClick={selection.end} />
        <b className="grow num" role="status">
          {words.list.selected(chosen.length)}
        </b>
        {button(isPinned ? words.list.unpin : words.list.pin, isPinned ? PinOff : Pin, changes.pin)}
        {button(
          isArchive ? words.list.unarchive : words.list.archive,
          isArchive ? ArchiveRestore : Archive,
          changes.archive,
        )}
        {button(words.list.remove, Trash2, changes.remove, 'danger')}
      </div>
      <div className="pick-all">
        <label className="pick-line">
          <input
            type="checkbox"
            checked={all}
            onChange={() => selection.only(all ? [] : sessions.map(({ id }) => id))}
          />
          {words.list.selectAll(sessions.length)}
        </label>
      </div>
    </>
  );
}
