/** A session in the list: its state, its name, what happens or came last; and what can be done with it. */
import { useId, useRef } from 'react';
import { EllipsisVertical } from 'lucide-react';
import type { Device, Session } from '@relay/protocol';
import { Link } from 'wouter';
import { fullTime, shortAgo, words } from '../catalogue.ts';
import { sessionPath } from '../ui/address.ts';
import { useNow } from '../ui/time.tsx';
import { StateGlyph, rowState } from './state-glyph.tsx';

export const titleOf = ({ title }: Session): string => (title === '' ? words.untitled : title);

function lately(session: Session, device: Device | undefined): string {
  const { status, progress, prompt, lastMessage, title } = session;
  const state = rowState(session, device);
  if (state === 'need') return prompt?.prompt ?? '';
  if (state === 'fail') return words.list.stopped;
  if (state === 'wait') return words.list.waitingFor(device?.name ?? '');
  if (state === 'work' && progress) return `${progress.action} ${progress.target}`.trim();
  if (state === 'work') return status === 'pending' ? words.list.starting : words.list.working;
  return lastMessage === title ? '' : lastMessage;
}

interface RowProps {
  session: Session;
  device: Device | undefined;
  isOpen: boolean;
  onArchive: (session: Session) => void;
  onDelete: (session: Session) => void;
}

export function Row({ session, device, isOpen, onArchive, onDelete }: RowProps) {
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const now = useNow(20_000);
  const state = rowState(session, device);
  const title = titleOf(session);
  const choose = (what: (session: Session) => void) => () => {
    menu.current?.hidePopover();
    what(session);
  };
  return (
    <li className="row-place">
      <Link
        href={sessionPath(session.id)}
        className={state === 'need' && isOpen ? 'row here' : 'row'}
        {...(isOpen ? { 'aria-current': 'page' as const } : {})}
      >
        <StateGlyph state={state} />
        <span className="t cut">{title}</span>
        <time dateTime={session.updatedAt} title={fullTime(session.updatedAt)}>
          {shortAgo(session.updatedAt, now)}
        </time>
        <span className="w cut">{lately(session, device).slice(0, 200)}</span>
      </Link>
      <button type="button" className="ghost icon row-more" aria-label={words.list.more(title)} popoverTarget={id}>
        <EllipsisVertical className="i" aria-hidden />
      </button>
      <div className="menu" id={id} popover="auto" ref={menu}>
        <button type="button" onClick={choose(onArchive)}>
          {session.archived ? words.list.unarchive : words.list.archive}
        </button>
        <button type="button" className="danger" onClick={choose(onDelete)}>
          {words.list.remove}
        </button>
      </div>
    </li>
  );
}
