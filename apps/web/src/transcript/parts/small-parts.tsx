/** The parts that are a line or a small card: your messages, a thought, a plan, a picture, notes. */
import { type ReactNode, Suspense, useId, useState } from 'react';
import {
  Ban,
  ChevronDown,
  Circle,
  CircleDot,
  Image as ImageIcon,
  Info,
  ListChecks,
  Square,
  TriangleAlert,
} from '../icons.tsx';
import { Check, ChevronRight, CircleCheck, Clock } from '../../ui/icons.tsx';
import { taskSentence } from '../../api/words.ts';
import { fullTime, loadWords, timeOf, words } from '../../catalogue.ts';
import { loadedLater } from '../../ui/loaded-later.tsx';
import type { Item } from '@relay/protocol';
import { useOwnTexts } from '../../conversation/own-question.ts';
import { CopyButton } from '../markdown/copy-button.tsx';
import { useImage } from '../contents.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { type PictureShape, type PlanStep, type QuestionShape } from './shape.ts';

const foldedLines = 12;

interface UserMessageProps {
  uuid: string;
  text: string;
  at: string;
  images: readonly PictureShape[];
  /** `steer`: the outcome of a message to a working agent. `at`: its place. */
  part: Item['part'];
}

const SteerNote = loadedLater(
  async () => (await Promise.all([import('../../steering/note.tsx'), loadWords('steer')]))[0].SteerNote,
);

const SentFiles = loadedLater(async () => (await import('../../files/load.ts')).sent());

const DeskNote = loadedLater(
  async () => (await Promise.all([import('../../desk/note.tsx'), loadWords('desk')]))[0].DeskNote,
);

export function UserMessage({ uuid, text, at, images, part }: UserMessageProps) {
  const isLong = text.split('\n').length > foldedLines || text.length > 1200;
  const [all, setAll] = useState(false);
  return (
    <>
      <div className={isLong && !all ? 'me folded' : 'me'} dir="auto">
        <div className="clip">{text}</div>
        {isLong && (
          <button type="button" className="more" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? words.message.showLess : words.message.showAll}
          </button>
        )}
        {images.length > 0 && (
          <div className="shots">
            {images.map((one, index) => (
              <Picture key={index} uuid={uuid} picture={one} />
            ))}
          </div>
        )}
        {Array.isArray(part['files']) && (
          <Suspense>
            <SentFiles files={part['files']} />
          </Suspense>
        )}
      </div>
      <p className="meta num">
        <CopyButton text={text} label={words.message.copy} className="xs quiet" />
        {part['at'] === 'desk' && (
          <Suspense>
            <DeskNote />
          </Suspense>
        )}
        <time dateTime={at} title={fullTime(at)}>
          {timeOf(at)}
        </time>
        {part['steer'] ? (
          <Suspense>
            <SteerNote part={part} text={text} />
          </Suspense>
        ) : (
          <Check className="i" role="img" aria-label={words.message.received} />
        )}
      </p>
    </>
  );
}

/** Its size is set before it loads, so that the page does not jump. */
export function Picture({ uuid, picture: { data, mime, bytes } }: { uuid: string; picture: PictureShape }) {
  const address = useImage(uuid, data, mime);
  const [isLarge, setLarge] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (address !== undefined && !isBroken)
    return (
      <button
        type="button"
        className={isLarge ? 'shot all' : 'shot'}
        aria-expanded={isLarge}
        aria-label={isLarge ? words.image.smaller : words.image.larger}
        onClick={() => setLarge(!isLarge)}
      >
        <img src={address} alt={words.image.alt} onError={() => setBroken(true)} />
      </button>
    );
  return (
    <div className="shot" role="img" aria-label={words.image.alt}>
      <ImageIcon className="i" aria-hidden />
      <span>{words.image.ofType(mime.replace('image/', '').toUpperCase(), bytes)}</span>
    </div>
  );
}

export function Thought({ text, open, tookMs }: { text: string; open: boolean; tookMs: number | undefined }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="tool bare"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? <ChevronDown className="i" aria-hidden /> : <ChevronRight className="i" aria-hidden />}
        <span className="v soft">{open ? words.thought.now : words.thought.done(tookMs)}</span>
      </button>
      {isOpen && (
        <div className="thought" id={id}>
          <Markdown text={text} open={open} />
        </div>
      )}
    </>
  );
}

export function Plan({ steps }: { steps: readonly PlanStep[] }) {
  const done = steps.filter(({ status }) => status === 'completed').length;
  const stepClass = (status: string) => (status === 'completed' ? 'done' : status === 'in_progress' ? 'now' : '');
  return (
    <section className="plan" aria-label={words.plan.title}>
      <div className="h">
        <ListChecks className="i" aria-hidden />
        <span>{words.plan.title}</span>
        <progress max={Math.max(steps.length, 1)} value={done} aria-label={words.plan.progress(done, steps.length)} />
        <span className="soft num" aria-hidden="true">
          {words.plan.progress(done, steps.length)}
        </span>
      </div>
      <ul>
        {steps.map(({ text, status }, index) => {
          const Icon = status === 'completed' ? CircleCheck : status === 'in_progress' ? CircleDot : Circle;
          const state =
            status === 'completed' ? words.plan.done : status === 'in_progress' ? words.plan.now : words.plan.open;
          return (
            <li key={index} className={stepClass(status)}>
              <Icon className="i" aria-hidden />
              <span>
                <span className="sr">{state} </span>
                {text}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export function Note({
  kind = '',
  icon,
  end,
  children,
}: {
  kind?: '' | 'bad';
  icon: ReactNode;
  end?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={`note ${kind}`.trim()}>
      {icon}
      <span className="grow">{children}</span>
      {end}
    </div>
  );
}

/** A foreign key can be `constructor`. */
const entryOf = (table: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** A question that has its answer, or can no longer get one. */
export function QuestionLine({ question }: { question: QuestionShape }) {
  const { state, answer, reason } = question;
  const own = useOwnTexts({ prompt: question.title, options: answer?.option ? [answer.option] : [], reason });
  const title = own.prompt;
  const text = own.options[0]?.label ?? answer?.text ?? '';
  if (answer)
    return (
      <Note
        icon={answer.isNo ? <Ban className="i" aria-hidden /> : <Check className="i ok" aria-hidden />}
        end={
          <span className="num">
            {[timeOf(answer.at), answer.by && words.question.on(answer.by)].filter(Boolean).join(', ')}
          </span>
        }
      >
        <strong>{text === '' ? words.question.answered : `${text}:`}</strong> {title}
      </Note>
    );
  return (
    <Note icon={<Clock className="i" aria-hidden />}>
      <strong>{entryOf(words.question.ended, state) ?? words.question.waiting}</strong>{' '}
      {state === 'expired' ? words.question.expired(title) : title}
    </Note>
  );
}

export function Mark({
  what,
  text,
  by,
  danger,
  end = by && words.question.on(by),
}: {
  what: string;
  text: string;
  by?: string | undefined;
  danger?: boolean;
  end?: ReactNode;
}) {
  // Daemons add an English text to each mark.
  const markText = entryOf(words.mark, what) ?? text;
  if (markText === '') return null;
  const Icon = ['cancelled', 'interrupted', 'error'].includes(what) ? Square : Info;
  return (
    <Note kind={danger ? 'bad' : ''} icon={<Icon className="i" aria-hidden />} end={end}>
      {markText}
    </Note>
  );
}

interface ErrorNoteProps {
  code: unknown;
  text: string;
  end?: ReactNode;
}

/** The work is kept at a usage limit, and a card offers to continue: the note does not show a failure. */
export const ErrorNote = ({ code, text, end }: ErrorNoteProps) =>
  code === 'USAGE_LIMIT' ? (
    <Note kind="" icon={<Info className="i" aria-hidden />} end={end}>
      {taskSentence(code)} {text}
    </Note>
  ) : (
    <Note kind="bad" icon={<TriangleAlert className="i" aria-hidden />} end={end}>
      <strong>{taskSentence('AGENT_ERROR')}</strong> {text}
    </Note>
  );
