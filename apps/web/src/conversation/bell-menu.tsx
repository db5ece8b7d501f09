/** The bell of a session: notifications of everything, by the settings, or of nothing. */
import { useId, useRef } from 'react';
import { Check } from '../ui/icons.tsx';
import { BellOff, BellRing, Bell } from '../ui/later-icons.tsx';
import type { Session, UpdateSession } from '@relay/protocol';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { changesPath } from '../ui/address.ts';
import { folderOf } from '../ui/folder.ts';
import { icon } from '../ui/icon.tsx';
import { IconButton } from '../ui/icon-button.tsx';

type NotifyChoice = NonNullable<UpdateSession['notify']>;

const choices: readonly NotifyChoice[] = ['all', 'watched', 'off'];
const icons = { all: BellRing, watched: Bell, off: BellOff };

const FileDiff = icon(
  'file-diff',
  <>
    <path d="M15 2H6a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V7Z" />
    <path d="M9 10h6" />
    <path d="M12 13V7" />
    <path d="M9 17h6" />
  </>,
);

interface BellMenuProps {
  session: Pick<Session, 'id' | 'title' | 'projectPath' | 'watched' | 'notify'>;
  busy: boolean;
  onChoose: (level: NotifyChoice) => void;
}

export function BellMenu({ session, busy, onChoose }: BellMenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const now = session.notify ?? (session.watched ? 'watched' : 'off');
  const Icon = icons[now];
  const changes = words.diff.region(folderOf(session.projectPath) || session.title);
  const label = `${words.bell.title}: ${words.bell.levels[now][0]}`;
  return (
    <>
      <Link href={changesPath(session.id)} className="button ghost icon" aria-label={changes} title={changes}>
        <FileDiff className="i" aria-hidden />
      </Link>
      <IconButton icon={Icon} label={label} title={label} popoverTarget={id} />
      <div className="menu bell" id={id} popover="auto" ref={menu} role="group" aria-label={words.bell.title}>
        {choices.map((level) => (
          <button
            key={level}
            type="button"
            aria-pressed={level === now}
            aria-disabled={busy}
            onClick={() => {
              menu.current?.hidePopover();
              onChoose(level);
            }}
          >
            <Check className="i" aria-hidden />
            <span>
              {words.bell.levels[level][0]}
              <small>{words.bell.levels[level][1]}</small>
            </span>
          </button>
        ))}
      </div>
    </>
  );
}
