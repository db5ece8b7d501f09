/** The head of a session: its name, where it works, and what can be done with it. */
import { Suspense, useEffect, useId, useRef, useState } from 'react';
import { ChevronLeft, EllipsisVertical } from '../ui/icons.tsx';
import type { Device, Session } from '@relay/protocol';
import { Link } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { words } from '../catalogue.ts';
import { useLiveState, useRooms } from '../rooms.ts';
import { titled } from '../sessions/attention.ts';
import { useAction } from '../ui/action.ts';
import { devicePath } from '../ui/address.ts';
import { folderOf } from '../ui/folder.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Unloaded, loadedLater } from '../ui/loaded-later.tsx';
import { Problem } from '../ui/notice.tsx';
import type { NotifyChoice } from './bell-menu.tsx';

const Rename = loadedLater(async () => (await import('./rename.tsx')).default, Unloaded);
const BellMenu = loadedLater(async () => (await import('./bell-menu.tsx')).BellMenu);
const Remove = loadedLater(async () => (await import('./remove.tsx')).default, Unloaded);
const Nudge = loadedLater(async () => (await import('./nudge.tsx')).Nudge);

interface HeadProps {
  session: Session;
  device: Device | undefined;
  /** The machine could not be asked right now; the relay says so of itself only after a while. */
  isAway: boolean;
  onChange: (session: Session) => void;
}

export function Head({ session, device, isAway, onChange }: HeadProps) {
  const { client } = useRooms();
  const heading = useRef<HTMLHeadingElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const menuId = useId();
  const asked = useHistoryState<{ rename?: boolean } | null>()?.rename === true;
  const [renaming, setRenaming] = useState(false);
  useEffect(() => setRenaming(asked), [asked]);
  const [removing, setRemoving] = useState(false);
  const change = useAction(async (body: { archived: boolean } | { pinned: boolean } | { notify: NotifyChoice }) =>
    onChange(await client.call('updateSession', { params: { id: session.id }, body })),
  );
  const title = session.title === '' ? words.untitled : session.title;
  useEffect(() => {
    titled(title);
  }, [title]);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  const renamed = () => {
    setRenaming(false);
    heading.current?.focus({ preventScroll: true });
  };
  const choose = (what: () => void) => () => {
    menu.current?.hidePopover();
    what();
  };
  const isOffline = isAway || device?.status === 'offline';
  // Without the relay no one here knows.
  const isKnown = useLiveState().kind !== 'waiting';
  return (
    <>
      <header className="bar">
        <Link href="/sessions" className="button ghost icon back" aria-label={words.allSessions}>
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <div className="grow">
          <h1 className="name cut" tabIndex={-1} ref={heading}>
            {title}
          </h1>
          <p className="where">
            <span className={isOffline || !device || !isKnown ? 'dot off' : 'dot'} />
            <span className="cut" title={session.projectPath}>
              {folderOf(session.projectPath)}
              {folderOf(session.projectPath) !== '' && ' · '}
              <Link href={devicePath(session.deviceId)}>{device?.name ?? words.list.machine}</Link>
              {isOffline && ` · ${words.offline}`}
              {session.archived && ` · ${words.archived}`}
            </span>
          </p>
        </div>
        <Suspense fallback={<span className="button ghost icon" />}>
          <BellMenu session={session} busy={change.busy} onChoose={(notify) => void change.run({ notify })} />
        </Suspense>
        <IconButton icon={EllipsisVertical} label={words.more} title={words.more} popoverTarget={menuId} />
        <div className="menu" id={menuId} popover="auto" ref={menu}>
          <button type="button" onClick={choose(() => setRenaming(true))}>
            {words.list.rename}
          </button>
          <button
            type="button"
            aria-disabled={change.busy}
            onClick={choose(() => void change.run({ pinned: !session.pinned }))}
          >
            {session.pinned ? words.list.unpin : words.list.pin}
          </button>
          <button
            type="button"
            aria-disabled={change.busy}
            onClick={choose(() => void change.run({ archived: !session.archived }))}
          >
            {session.archived ? words.list.unarchive : words.list.archive}
          </button>
          <button type="button" className="danger" onClick={choose(() => setRemoving(true))}>
            {words.list.remove}
          </button>
        </div>
      </header>
      <Suspense>
        <Nudge session={session} />
        {removing && <Remove session={session} onNo={() => setRemoving(false)} />}
      </Suspense>
      {(renaming || change.refusal) && (
        <div className="under-bar">
          <Problem refusal={change.refusal} />
          <Suspense>{renaming && <Rename session={session} onChange={onChange} onDone={renamed} />}</Suspense>
        </div>
      )}
    </>
  );
}
