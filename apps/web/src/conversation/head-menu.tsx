/** The other actions on a session, in a menu of its head. */
import { type ReactNode, useId, useRef } from 'react';
import type { Session, UpdateSession } from '@relay/protocol';
import { words } from '../catalogue.ts';
import type { Action } from '../ui/action.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { EllipsisVertical } from '../ui/icons.tsx';

interface HeadMenuProps {
  session: Pick<Session, 'pinned' | 'archived'>;
  update: Action<[body: UpdateSession]>;
  onRename: () => void;
  onRemove: () => void;
  /** Further entries. */
  children?: ReactNode;
}

export function HeadMenu({ session: { pinned, archived }, update, onRename, onRemove, children }: HeadMenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const choose = (act: () => void) => () => {
    menu.current?.hidePopover();
    act();
  };
  return (
    <>
      <IconButton icon={EllipsisVertical} label={words.more} title={words.more} popoverTarget={id} />
      <div className="menu" id={id} popover="auto" ref={menu}>
        <button type="button" onClick={choose(onRename)}>
          {words.list.rename}
        </button>
        <button type="button" aria-disabled={update.busy} onClick={choose(() => void update.run({ pinned: !pinned }))}>
          {pinned ? words.list.unpin : words.list.pin}
        </button>
        <button
          type="button"
          aria-disabled={update.busy}
          onClick={choose(() => void update.run({ archived: !archived }))}
        >
          {archived ? words.list.unarchive : words.list.archive}
        </button>
        {children}
        <button type="button" className="danger" onClick={choose(onRemove)}>
          {words.list.remove}
        </button>
      </div>
    </>
  );
}
