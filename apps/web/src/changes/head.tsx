/** The head of the page: the link back, the text for the agent, and notes on the comparison. */
import { useId, useRef } from 'react';
import type { Session } from '@relay/protocol';
import { Link } from 'wouter';
import { momentOf, words } from '../catalogue.ts';
import { sessionPath } from '../ui/address.ts';
import { useAsOf } from '../ui/as-of.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { ChevronLeft, EllipsisVertical } from '../ui/icons.tsx';
import { GitCommit } from './icons.tsx';
import type { Compared } from './use-changes.ts';

interface HeadProps {
  session: Session;
  machine: string;
  isDetail: boolean;
  title: string | undefined;
  onBack: () => void;
}

/** On a phone, the link back leads from a file to the list first. */
export function Head({ session, machine, isDetail, title, onBack }: HeadProps) {
  return (
    <>
      <Link
        href={sessionPath(session.id)}
        className={isDetail ? 'button ghost icon only-wide' : 'button ghost icon'}
        aria-label={words.changes.back}
      >
        <ChevronLeft className="i" aria-hidden />
      </Link>
      {isDetail && (
        <span className="only-narrow">
          <IconButton icon={ChevronLeft} label={words.changes.title} onClick={onBack} />
        </span>
      )}
      <div className="grow">
        <h1 className="name cut" tabIndex={-1}>
          <span className="only-wide">{words.changes.title}</span>
          <span className="only-narrow">{title ?? words.changes.title}</span>
        </h1>
        <p className="where">
          <span className="cut">{[session.title, machine].filter(Boolean).join(' · ')}</span>
        </p>
      </div>
    </>
  );
}

interface MenuProps {
  onCommit: () => void;
  onUndo: () => void;
  onUndoFile: (() => void) | undefined;
  onSummary: () => void;
  onBrowse: () => void;
  /** Absent before the first file. */
  onCopy: (() => void) | undefined;
}

export function Menu({ onCommit, onUndo, onUndoFile, onSummary, onBrowse, onCopy }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const entry = (text: string, act: () => void, className = '') => (
    <button
      type="button"
      className={className}
      onClick={() => {
        menu.current?.hidePopover();
        act();
      }}
    >
      {' '}
      {/* prettier-ignore */}
      {text}
    </button>
  );
  return (
    <>
      <button type="button" className="only-wide" onClick={onCommit}>
        <GitCommit className="i" /> {words.changes.commitAsk}
      </button>
      <IconButton icon={EllipsisVertical} label={words.changes.more_} popoverTarget={id} />
      <div className="menu" id={id} popover="auto" ref={menu}>
        {entry(words.changes.browse, onBrowse)}
        {entry(words.changes.commitAsk, onCommit)}
        {entry(words.changes.summaryAsk, onSummary)}
        {onCopy && entry(words.changes.copyPatch, onCopy)}
        {onUndoFile && entry(words.changes.undoFileAsk, onUndoFile)}
        {entry(words.changes.undoAllAsk, onUndo, 'danger')}
      </div>
    </>
  );
}

interface NotesProps {
  compared: Compared | undefined;
  agent: string;
  machine: string;
  isWorking: boolean;
}

export function Notes({ compared, agent, machine, isWorking }: NotesProps) {
  const { list, refusal } = compared ?? {};
  const asOf = useAsOf();
  const notes: string[] = [];
  if (asOf !== undefined) notes.push(words.changes.asOf(momentOf(asOf)));
  if (isWorking) notes.push(words.changes.working(agent));
  if (refusal?.code === 'NOT_SUPPORTED_BY_DEVICE') notes.push(words.changes.tooOld);
  else if (refusal?.code === 'CHANGES_TOO_LARGE' || refusal?.code === 'DEVICE_TIMEOUT')
    notes.push(words.changes.tooLarge(agent));
  else if (refusal) notes.push(words.changes.offline(machine));
  if (list?.note === 'empty') notes.push(words.changes.noCommit);
  if (list?.note === 'outside') notes.push(words.changes.outside);
  if (list?.note === 'foreign') notes.push(words.changes.foreign);
  if (list?.scope === 'edits' && !refusal) notes.push(words.changes.reported(agent));
  const state = list?.state === undefined ? undefined : words.changes.states[list.state];
  if (state !== undefined) notes.push(state);
  return (
    <div role="status" className="notes">
      {notes.map((note) => (
        <p key={note} className="soft">
          {note}
        </p>
      ))}
    </div>
  );
}
