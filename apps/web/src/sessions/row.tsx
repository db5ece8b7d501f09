/** A session in the list: its state, its name, its current activity or last message, and its actions. */
import { type MouseEvent, type PointerEvent, useId, useRef } from 'react';
import { EllipsisVertical, Repeat } from '../ui/icons.tsx';
import type { Device, Session } from '@relay/protocol';
import { withoutMarks } from '@relay/protocol/plain';
import { Link, useLocation } from 'wouter';
import { fullTime, momentOf, shortAgo, words } from '../catalogue.ts';
import { useOwnTexts } from '../conversation/own-question.ts';
import { doingNow } from '../ui/doing.ts';
import { sessionPath } from '../ui/address.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { useNow } from '../ui/time.tsx';
import { Desk } from '../desk/door.tsx';
import { Marked } from './marked.tsx';
import type { Selection } from './selection.ts';
import { StateGlyph, rowState } from './state-glyph.tsx';
import { type Changes, titleOf } from './use-changes.ts';
import { useSwipe } from './use-swipe.ts';

function lately(session: Session, device: Device | undefined, question: string): string {
  const { status, progress, lastMessage, title, limit, later } = session;
  const state = rowState(session, device);
  if (state === 'need') return question;
  if (state === 'wait' && limit)
    return later ? words.list.continues(momentOf(later.next)) : words.list.limit(momentOf(limit.resetsAt ?? ''));
  if (state === 'fail') return words.list.stopped;
  if (state === 'wait') return words.list.waitingFor(device?.name ?? '');
  if (state === 'work' && progress) return doingNow(progress);
  if (state === 'work') return status === 'pending' ? words.list.state.pending : words.list.state.active;
  return lastMessage === title ? '' : withoutMarks(lastMessage);
}

/** Shown characters before the hit. */
const charactersBefore = 24;

const wordsOf = (search: string): string[] => search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
const placeOf = (text: string, search: string): number => {
  const places = wordsOf(search).map((word) => text.toLocaleLowerCase().indexOf(word));
  return Math.min(...places.map((place) => (place === -1 ? Infinity : place)));
};

/** Returns the text from a little before the first hit; unchanged if the hit is near the beginning, or absent. */
export function fromHit(text: string, search: string): string {
  const place = placeOf(text, search);
  if (place === Infinity || place <= 2 * charactersBefore) return text;
  const start = text.lastIndexOf(' ', place - charactersBefore) + 1;
  return `…${text.slice(start)}`;
}

/** Returns the second line of a row during a search: the last message, or the folder if only the folder matches. */
export function hitOf(line: string, title: string, projectPath: string, search: string): string {
  if (search === '') return line;
  const isElsewhere = [line, title].every((text) => placeOf(text, search) === Infinity);
  return isElsewhere && placeOf(projectPath, search) !== Infinity ? projectPath : fromHit(line, search);
}

/** A finger that rests this long selects. */
const longMs = 500;
/** More than this is a scroll. */
const movedPx = 10;

/** A long touch, or a click with Shift; not while it is off. */
function useSelecting(onSelect: (() => void) | undefined) {
  const rest = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number }>(undefined);
  const isTouch = useRef(false);
  const wasLong = useRef(false);
  const stop = () => {
    clearTimeout(rest.current?.timer);
    rest.current = undefined;
  };
  return {
    onPointerDown: ({ pointerType, clientX: x, clientY: y }: PointerEvent) => {
      stop();
      wasLong.current = false;
      isTouch.current = pointerType === 'touch';
      if (!isTouch.current || !onSelect) return;
      const long = () => {
        stop();
        wasLong.current = true;
        // Felt on a phone.
        navigator.vibrate?.(10);
        onSelect();
      };
      rest.current = { timer: setTimeout(long, longMs), x, y };
    },
    onPointerMove: ({ clientX, clientY }: PointerEvent) => {
      const { x, y } = rest.current ?? { x: clientX, y: clientY };
      if (Math.hypot(clientX - x, clientY - y) > movedPx) stop();
    },
    onPointerUp: stop,
    onPointerCancel: stop,
    onClickCapture: (event: MouseEvent) => {
      const selects = event.shiftKey && onSelect;
      // After a long press the finger is lifted over the checkbox that has just appeared.
      if (!wasLong.current && !selects) return;
      wasLong.current = false;
      event.preventDefault();
      event.stopPropagation();
      if (selects) selects();
    },
    // The browser's own menu of a link belongs to a mouse.
    onContextMenu: (event: MouseEvent) => {
      if (isTouch.current) event.preventDefault();
    },
  };
}

/** A resting finger selects; a finger that moves sideways swipes. */
function both(one: ReturnType<typeof useSelecting>, other: ReturnType<typeof useSwipe>) {
  const names = ['onPointerDown', 'onPointerMove', 'onPointerUp', 'onPointerCancel'] as const;
  const each = (name: (typeof names)[number]) => (event: PointerEvent<HTMLElement>) => {
    one[name](event);
    other[name](event);
  };
  return Object.fromEntries(names.map((name) => [name, each(name)]));
}

interface RowProps {
  session: Session;
  device: Device | undefined;
  isOpen: boolean;
  /** Looked for. */
  search: string;
  selection: Selection;
  changes: Changes;
}

export function Row({ session, device, isOpen, search, selection, changes }: RowProps) {
  const now = useNow(20_000);
  const state = rowState(session, device);
  const question = useOwnTexts(session.prompt)?.prompt ?? '';
  const line = search === '' ? lately(session, device, question) : withoutMarks(session.lastMessage);
  const hit = hitOf(line, titleOf(session), session.projectPath, search);
  const text = <Marked text={hit.slice(0, 200)} words={search} />;
  const select = () => selection.pick(session.id);
  const selecting = useSelecting(selection.isOn ? undefined : select);
  const swipe = useSwipe((side) => (side === 'right' ? changes.mark(session) : changes.archive([session])));
  const kind = `row${session.unread ? ' un' : ''}${state === 'need' && isOpen ? ' here' : ''}`;
  const inside = (
    <>
      <span className="t cut">
        <Marked text={titleOf(session)} words={search} />
        {session.scheduleId !== undefined && <Repeat className="i again" role="img" aria-label={words.list.repeats} />}
      </span>
      <time dateTime={session.updatedAt} title={fullTime(session.updatedAt)}>
        {shortAgo(session.updatedAt, now)}
      </time>
      <span className="w cut">
        {session.held ? <Desk part="row" {...{ session, device, state, search, text }} /> : text}
      </span>
      {device && <span className="sr">{device.name}</span>}
    </>
  );
  if (selection.isOn)
    return (
      <li className="row-place" data-id={session.id} {...selecting}>
        <label className={kind}>
          <input
            type="checkbox"
            checked={selection.ids.has(session.id)}
            onChange={({ nativeEvent }) =>
              selection.pick(session.id, nativeEvent instanceof globalThis.MouseEvent && nativeEvent.shiftKey)
            }
          />
          {inside}
        </label>
      </li>
    );
  return (
    <li
      className="row-place"
      data-id={session.id}
      data-right={session.unread ? words.list.markRead : words.list.markUnread}
      data-left={session.archived ? words.list.unarchive : words.list.archive}
      {...selecting}
      {...both(selecting, swipe)}
    >
      <Link href={sessionPath(session.id)} className={kind} {...(isOpen ? { 'aria-current': 'page' as const } : {})}>
        <StateGlyph state={state} />
        {inside}
      </Link>
      <RowMenu session={session} changes={changes} onSelect={select} />
    </li>
  );
}

function RowMenu({ session, changes, onSelect }: { session: Session; changes: Changes; onSelect: () => void }) {
  const [, navigate] = useLocation();
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const choose = (what: () => void) => () => {
    menu.current?.hidePopover();
    what();
  };
  const item = (name: string, what: () => void, className = '') => (
    <button type="button" className={className} onClick={choose(what)}>
      {name}
    </button>
  );
  const { list } = words;
  return (
    <>
      <IconButton icon={EllipsisVertical} className="row-more" label={list.more(titleOf(session))} popoverTarget={id} />
      <div className="menu" id={id} popover="auto" ref={menu}>
        {item(list.rename, () => navigate(sessionPath(session.id), { state: { rename: true } }))}
        {item(session.pinned ? list.unpin : list.pin, () => changes.pin([session]))}
        {item(session.unread ? list.markRead : list.markUnread, () => changes.mark(session))}
        {item(list.select, onSelect)}
        {item(session.archived ? list.unarchive : list.archive, () => changes.archive([session]))}
        {item(list.remove, () => changes.remove([session]), 'danger')}
      </div>
    </>
  );
}
