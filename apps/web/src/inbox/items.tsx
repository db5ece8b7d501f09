/** Items of the inbox as cards and rows, with their actions. */
import { type ReactNode, useId, useRef } from 'react';
import { CircleCheck, CircleHelp, Laptop, X } from '../ui/icons.tsx';
import { AlarmClock, CircleAlert } from '../ui/later-icons.tsx';
import type { InboxItem } from '@relay/protocol';
import { withoutMarks } from '@relay/protocol/plain';
import { Link } from 'wouter';
import { taskSentence } from '../api/words.ts';
import { fullTime, shortAgo, words } from '../catalogue.ts';
import { useOwnTexts } from '../conversation/own-question.ts';
import { type Option, commandOf, fitsCard, isNo, labelOf, questionOf, quickAnswers } from '../conversation/prompt.ts';
import { useAnswer } from '../conversation/use-answer.ts';
import { useRooms } from '../rooms.ts';
import { useAction } from '../ui/action.ts';
import { sessionPath } from '../ui/address.ts';
import { folderOf } from '../ui/folder.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { Problem } from '../ui/notice.tsx';
import { useNow } from '../ui/time.tsx';

const hourMs = 3_600_000;
/** The morning of the day `days` from now, local time. */
function morning(days: number): Date {
  const at = new Date();
  at.setDate(at.getDate() + days);
  at.setHours(9, 0, 0, 0);
  return at;
}
const snoozes = [
  { name: 'hour', until: () => new Date(Date.now() + hourMs) },
  { name: 'tomorrow', until: () => morning(1) },
  { name: 'week', until: () => morning(7) },
] as const;

export function Snooze({ item }: { item: InboxItem }) {
  const { inbox } = useRooms();
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  return (
    <>
      <IconButton
        icon={AlarmClock}
        className="small"
        label={words.inbox.snooze(nameOf(item))}
        title={words.inbox.later}
        popoverTarget={id}
      />
      <div className="menu" id={id} popover="auto" ref={menu}>
        {snoozes.map(({ name, until }) => (
          <button
            key={name}
            type="button"
            onClick={() => {
              menu.current?.hidePopover();
              // The relay refused: the item is back.
              inbox.snooze(item.id, until()).catch(() => undefined);
            }}
          >
            {words.inbox.until[name]}
          </button>
        ))}
      </div>
    </>
  );
}

const icons = {
  question: CircleHelp,
  failure: CircleAlert,
  unknown: CircleAlert,
  finished: CircleCheck,
  device: Laptop,
  missed: CircleAlert,
};
/** It needs no answer. */
const mayClose = ({ kind }: InboxItem) => kind !== 'question' && kind !== 'device';

/** The subject of an item, as its person calls it. */
export function nameOf({ title, deviceName, prompt }: InboxItem): string {
  if (prompt) return questionOf(prompt);
  return title === undefined ? (deviceName ?? '') : title === '' ? words.untitled : title;
}

function textOf({ kind, reason, error, lastMessage }: InboxItem): string {
  const { inbox } = words;
  if (kind === 'unknown') return inbox.unknown;
  if (kind === 'device') return reason === 'conflict' ? inbox.conflict : inbox.away;
  if (kind === 'finished') return withoutMarks(lastMessage ?? '');
  if (kind === 'missed')
    return reason === 'down' ? inbox.missedDown : reason === 'set_back' ? inbox.missedBack : inbox.missedOffline;
  if (reason === 'TASK_EXPIRED' || reason === 'TASK_LOST') return taskSentence(reason);
  return error ?? taskSentence('AGENT_ERROR');
}

function addressOf({ kind, sessionId, deviceId }: InboxItem): string {
  if (kind === 'missed') return '/later';
  return sessionId === undefined ? `/devices/${encodeURIComponent(deviceId ?? '')}` : sessionPath(sessionId);
}

/** An item other than a question. */
export function ItemCard({ item }: { item: InboxItem }) {
  const { inbox } = useRooms();
  const now = useNow(20_000);
  const ack = useAction(() => inbox.ack(item.id));
  const Icon = icons[item.kind];
  const place = folderOf(item.projectPath ?? '') || item.deviceName;
  return (
    <li className={`item ${item.kind}`} data-item={item.id}>
      <Icon className="i" aria-hidden />
      <Link href={addressOf(item)} className="about">
        <span className="what cut">
          <span className="sr">{words.inbox.kinds[item.kind]}: </span>
          {nameOf(item)}
        </span>
        <span className="said">{textOf(item)}</span>
        <span className="where">
          {place !== undefined && place !== nameOf(item) && <>{place} · </>}
          <time dateTime={item.createdAt} title={fullTime(item.createdAt)}>
            {shortAgo(item.createdAt, now)}
          </time>
        </span>
      </Link>
      <div className="end">
        <Snooze item={item} />
        {mayClose(item) && (
          <IconButton
            icon={X}
            className="small"
            label={words.inbox.dismiss(nameOf(item))}
            title={words.inbox.done}
            onClick={() => void ack.run()}
          />
        )}
      </div>
      <Problem refusal={ack.refusal} />
    </li>
  );
}

/** A question with all of its choices, where all that it is about fits the card. */
export function QuestionItem({ item: given }: { item: InboxItem }): ReactNode {
  const now = useNow(20_000);
  const prompt = useOwnTexts(given.prompt);
  const item = prompt === undefined ? given : { ...given, prompt };
  const { sessionId } = item;
  const answer = useAnswer(sessionId, prompt);
  const choices = prompt === undefined ? undefined : choicesOf(prompt);
  const place = folderOf(item.projectPath ?? '') || item.deviceName;
  return (
    <li className="ask item-ask" data-item={item.id} data-prompt={prompt?.id}>
      <div className="head">
        <Link href={addressOf(item)} className="about">
          <span className={choices ? 'what whole' : 'what'}>{nameOf(item)}</span>
          <span className="where">
            {[item.title || words.untitled, place].filter((part) => part && part !== nameOf(item)).join(' · ')}
            {' · '}
            <time dateTime={item.createdAt} title={fullTime(item.createdAt)}>
              {shortAgo(item.createdAt, now)}
            </time>
          </span>
        </Link>
        <Snooze item={item} />
      </div>
      {prompt?.subject?.command !== undefined && <pre dir="ltr">{commandOf(prompt.subject)}</pre>}
      <Problem refusal={answer.refusal} />
      <div className="acts">
        {choices?.map((option, index) => (
          <button
            key={option.id}
            type="button"
            className={`small ${index === 0 && option.kind === 'allow_once' ? 'primary' : isNo(option) ? 'danger' : ''}`}
            aria-disabled={answer.busy}
            onClick={() => void answer.run(option)}
          >
            {labelOf(option)}
          </button>
        )) ?? (
          <Link href={addressOf(item)} className="button small">
            {words.inbox.open}
          </Link>
        )}
      </div>
    </li>
  );
}

/**
 * The choices to offer here; a permission is offered only if the card shows everything it allows. Undefined: the person answers
 * it in its session.
 */
function choicesOf(prompt: NonNullable<InboxItem['prompt']>): readonly Option[] | undefined {
  const quick = quickAnswers(prompt);
  if (quick) return [quick.allow, quick.reject];
  const { options, subject, context, id } = prompt;
  const isPermission = options.some(({ kind }) => kind !== undefined);
  const isWhole = subject === undefined && (context ?? '') === '' && id !== undefined && fitsCard(prompt);
  const isShort = options.length > 0 && options.length <= 4 && options.every((option) => option.id !== undefined);
  return !isPermission && isWhole && isShort ? options : undefined;
}
