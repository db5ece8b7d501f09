/** The head of a session: its name, its folder and machine, and its actions. */
import { Suspense, useEffect, useRef, useState } from 'react';
import { ChevronLeft } from '../ui/icons.tsx';
import type { Device, Session, UpdateSession } from '@relay/protocol';
import { Link } from 'wouter';
import { navigate, useHistoryState } from 'wouter/use-browser-location';
import { loadWords, words } from '../catalogue.ts';
import { useLiveState, useRooms } from '../rooms.ts';
import { titled } from '../sessions/attention.ts';
import { Desk } from '../desk/door.tsx';
import { useAction } from '../ui/action.ts';
import { devicePath } from '../ui/address.ts';
import { folderOf } from '../ui/folder.ts';
import { Unloaded, loadedLater } from '../ui/loaded-later.tsx';
import { Problem } from '../ui/notice.tsx';

const Rename = loadedLater(async () => (await import('./rename.tsx')).default, Unloaded);
const BellMenu = loadedLater(async () => (await import('./bell-menu.tsx')).BellMenu);
const HeadMenu = loadedLater(async () => (await import('./head-menu.tsx')).HeadMenu);
const Permissions = loadedLater(
  async () => (await Promise.all([import('./permissions.tsx'), loadWords('controls')]))[0].Permissions,
);
const Remove = loadedLater(async () => (await import('./remove.tsx')).default, Unloaded);
const Nudge = loadedLater(async () => (await import('./nudge.tsx')).Nudge);

/** Its daemon has settings, and no chips in the composer for them. */
const hasOldSettings = ({ capabilities, status }: Device) =>
  status === 'online' && capabilities.includes('settings') && !capabilities.includes('controls');

interface HeadProps {
  session: Session;
  device: Device | undefined;
  /** The machine does not answer right now; the relay reports it as offline only after a while. */
  isAway: boolean;
  onChange: (session: Session) => void;
}

export function Head({ session, device, isAway, onChange }: HeadProps) {
  const { client } = useRooms();
  const heading = useRef<HTMLHeadingElement>(null);
  const wantsRename = useHistoryState<{ rename?: boolean } | null>()?.rename === true;
  const [renaming, setRenaming] = useState(false);
  useEffect(() => {
    if (!wantsRename) return;
    setRenaming(true);
    // The request is used up: a reload does not repeat it, another address of the session does not revoke it, and the same menu can make it again.
    navigate(window.location.href, { replace: true, state: null });
  }, [wantsRename]);
  const [removing, setRemoving] = useState(false);
  const update = useAction(async (body: UpdateSession) =>
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
  const isOffline = isAway || device?.status === 'offline';
  // Without the relay no one here knows.
  const isConnected = useLiveState().kind !== 'waiting';
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
            <span className={isOffline || !device || !isConnected ? 'dot off' : 'dot'} />
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
          <BellMenu session={session} busy={update.busy} onChoose={(notify) => void update.run({ notify })} />
          <HeadMenu
            session={session}
            update={update}
            onRename={() => setRenaming(true)}
            onRemove={() => setRemoving(true)}
          >
            {device && hasOldSettings(device) && <Permissions {...{ session, device }} />}
            <Desk part="resume" {...{ session, device }} />
          </HeadMenu>
        </Suspense>
      </header>
      <Suspense>
        <Nudge session={session} />
        {removing && <Remove session={session} onNo={() => setRemoving(false)} />}
      </Suspense>
      {(renaming || update.refusal) && (
        <div className="under-bar">
          <Problem refusal={update.refusal} />
          <Suspense>{renaming && <Rename session={session} onChange={onChange} onDone={renamed} />}</Suspense>
        </div>
      )}
    </>
  );
}
