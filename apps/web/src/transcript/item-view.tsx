/** One row of the log. An invalid part never breaks the page: the row shows the item's text instead. */
import { type ReactNode, Suspense, createContext, memo, useContext, useLayoutEffect, useRef } from 'react';
import { RotateCw } from './icons.tsx';
import { timeOf, dayOf, words } from '../catalogue.ts';
import { type LogItem, isCapped, isGrowing } from './items.ts';
import { Markdown } from './markdown/markdown.tsx';
import { FoldedTools } from './parts/folded-tools.tsx';
import { markOf, picture, pictures, planOf, questionOf } from './parts/shape.ts';
import { ErrorNote, Mark, Picture, Plan, QuestionLine, Thought, UserMessage } from './parts/small-parts.tsx';
import { Tool } from './parts/tool.tsx';
import type { TranscriptRow } from './rows.ts';
import { type Texts, useText } from './texts.ts';
import { loadedLater } from '../ui/loaded-later.tsx';
import { Guard } from '../ui/guard.tsx';

const FileCard = loadedLater(async () => (await import('../files/load.ts')).card());

const speakers: Readonly<Record<string, () => string>> = {
  USER: () => words.you,
  AGENT: () => words.agent,
  SYSTEM: () => words.relay,
};
export const speakerOf = (item: LogItem): string =>
  item.part.kind === 'error' ? words.agent : (speakers[item.role]?.() ?? words.agent);

/** The last error offers a retry, which sends the last message again. */
interface Retry {
  uuid: string;
  busy: boolean;
  run: () => void;
}
export const RetryContext = createContext<Retry | undefined>(undefined);

function ErrorView({ item }: { item: LogItem }) {
  const retry = useContext(RetryContext);
  const isCap = isCapped(item);
  const button = retry?.uuid === item.uuid && (
    <button type="button" className="small" aria-disabled={retry.busy} onClick={retry.run}>
      {!isCap && <RotateCw className="i" aria-hidden />} {isCap ? words.mark.continue : words.retry}
    </button>
  );
  return isCap ? (
    <Mark what={item.part.kind} text={item.content} end={button} />
  ) : (
    <ErrorNote code={item.part['code']} text={item.content} end={button} />
  );
}

/** An element that has grown calls this before painting: the log measures it at once and scrolls along. */
export const GrowthContext = createContext<(element: HTMLElement) => void>(() => {});

function useGrowing(item: LogItem, texts: Texts) {
  const text = useText(texts, item.uuid, item.content);
  const box = useRef<HTMLDivElement>(null);
  const grew = useContext(GrowthContext);
  useLayoutEffect(() => {
    if (box.current) grew(box.current);
  }, [text, grew]);
  return { text, box };
}

function Growing({ item, texts }: { item: LogItem; texts: Texts }) {
  const { text, box } = useGrowing(item, texts);
  return (
    <div ref={box}>
      <Markdown text={text} open />
    </div>
  );
}
function GrowingThought({ item, texts }: { item: LogItem; texts: Texts }) {
  const { text, box } = useGrowing(item, texts);
  return (
    <div ref={box}>
      <Thought text={text} open tookMs={undefined} />
    </div>
  );
}

function partView(item: LogItem, texts: Texts, tookMs: number | undefined): ReactNode {
  const { part, content, timestamp } = item;
  switch (part.kind) {
    case 'user':
      return <UserMessage uuid={item.uuid} text={content} at={timestamp} images={pictures(part)} part={part} />;
    case 'thought':
      if (isGrowing(item)) return <GrowingThought item={item} texts={texts} />;
      return <Thought text={content} open={false} tookMs={tookMs} />;
    case 'plan':
      return <Plan steps={planOf(part)} />;
    case 'question':
      return <QuestionLine question={questionOf(part)} />;
    case 'image': {
      const shown = picture(part);
      return shown && <Picture uuid={item.uuid} picture={shown} />;
    }
    case 'file':
      return (
        <Suspense>
          <FileCard {...{ uuid: item.uuid, part }} drawing={(shown) => <Picture uuid={item.uuid} picture={shown} />} />
        </Suspense>
      );
    case 'error':
      return <ErrorView item={item} />;
    case 'mark':
      return <Mark {...markOf(part)} />;
    default:
      return isGrowing(item) ? <Growing item={item} texts={texts} /> : <Markdown text={content} />;
  }
}

function ItemView({ item, texts, tookMs }: { item: LogItem; texts: Texts; tookMs: number | undefined }) {
  return (
    <article aria-label={speakerOf(item)} data-kind={item.part.kind}>
      {partView(item, texts, tookMs)}
      {item.truncated && <p className="meta">{words.message.cutUnknown}</p>}
    </article>
  );
}

interface RowProps {
  row: TranscriptRow;
  texts: Texts;
  onEarlier: () => void;
}

export const RowView = memo(
  function RowView({ row, texts, onEarlier }: RowProps) {
    switch (row.kind) {
      case 'earlier':
        return (
          <p className="day">
            <button type="button" className="small" onClick={onEarlier}>
              {words.loadEarlier}
            </button>
          </p>
        );
      case 'day':
        return <p className="day">{dayOf(row.at)}</p>;
      case 'new':
        return <p className="day new">{words.newSince(row.at)}</p>;
      case 'item':
        return (
          <Guard instead={<p>{row.item.content === '' ? words.unknown : row.item.content}</p>}>
            <ItemView item={row.item} texts={texts} tookMs={row.tookMs} />
          </Guard>
        );
      case 'tools':
        return (
          <Guard instead={<p>{words.unknown}</p>}>
            <div className="tools" role="group" aria-label={timeOf(row.calls[0]?.at ?? '')}>
              {row.calls.map(({ uuid, at, tool }) => (
                <Tool key={uuid} uuid={uuid} tool={tool} at={at} />
              ))}
            </div>
          </Guard>
        );
      case 'folded':
        return (
          <Guard instead={<p>{words.unknown}</p>}>
            <FoldedTools calls={row.calls} tookMs={row.tookMs} />
          </Guard>
        );
    }
  },
  (one, other) => one.texts === other.texts && one.onEarlier === other.onEarlier && isSame(one.row, other.row),
);

function isSame(one: TranscriptRow, other: TranscriptRow): boolean {
  if (one.kind !== other.kind || one.key !== other.key) return false;
  if (one.kind === 'item' && other.kind === 'item') return one.item === other.item && one.tookMs === other.tookMs;
  if ('calls' in one && 'calls' in other)
    return one.calls.length === other.calls.length && one.calls.every((call, index) => call === other.calls[index]);
  return true;
}
