/** The bar over selected sessions: their number and the actions for them. */
import type { IconComponent } from '../ui/icon.tsx';
import { Pin, Trash2, X } from '../ui/icons.tsx';
import { Archive, ArchiveRestore, PinOff } from '../ui/later-icons.tsx';
import type { Session } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { IconButton } from '../ui/icon-button.tsx';
import type { Selection } from './selection.ts';
import type { Changes } from './use-changes.ts';

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
  const button = (name: string, icon: IconComponent, what: (sessions: readonly Session[]) => void, kind = '') => (
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
