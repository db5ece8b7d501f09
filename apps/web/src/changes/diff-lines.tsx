/** The lines of a diff, each with a button to comment on it, and the unchanged lines between them. */
import { Fragment, type ReactNode, useEffect, useState } from 'react';
import type { FileDiff, Hunk } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { languageOfPath } from '../transcript/markdown/languages.ts';
import { lineClasses, lineSigns, useDrawnLines } from '../transcript/parts/diff-view.tsx';
import { type DiffLine, linesOf } from '../transcript/parts/patch.ts';
import type { Comment } from './comments.ts';

const shownCharacters = 2000;

const sideOf = ({ kind }: DiffLine): Comment['side'] => (kind === 'removed' ? 'old' : 'new');
const nameOf = (line: DiffLine) => `${sideOf(line)} ${line.number}`;
const labelOf = (line: DiffLine) =>
  sideOf(line) === 'new' ? words.changes.newLine(line.number) : words.changes.oldLine(line.number);
const isAbout = (comment: Comment, line: DiffLine) =>
  comment.side === sideOf(line) && comment.line === line.number && comment.quoted === line.text;

export const lineShown = (text: string): string =>
  text.length <= shownCharacters
    ? text
    : `${text.slice(0, shownCharacters)}${words.changes.longLine(text.length - shownCharacters)}`;

interface DiffLinesProps {
  path: string;
  hunks: FileDiff['hunks'];
  comments: readonly Comment[];
  /** Reads the current lines of the file; undefined if the file does not exist. */
  readLines: (() => Promise<readonly string[]>) | undefined;
  onAdd: (comment: Comment) => void;
  onRemove: (comment: Comment) => void;
}

export function DiffLines({ path, hunks, comments, readLines, onAdd, onRemove }: DiffLinesProps) {
  const [open, setOpen] = useState<string>();
  const [whole, setWhole] = useState<readonly string[]>();
  // Another load can return the same diff: the file changed only with its hunks.
  const diff = JSON.stringify(hunks);
  useEffect(() => setWhole(undefined), [path, diff]);
  const mine = comments.filter((comment) => comment.path === path);
  const all = hunks.flatMap((hunk) => linesOf(hunk));
  const lost = mine.filter((comment) => !all.some((line) => isAbout(comment, line)));
  const shared: HunkProps = { path, open, onOpen: setOpen, comments: mine, onAdd, onRemove };
  const read = readLines && (() => void readLines().then(setWhole, () => undefined));
  /** The first unchanged line after the hunk before this one. */
  const unchangedFrom = (at: number) => (at === 0 ? 1 : endOf(hunks[at - 1]!));
  const last = hunks.at(-1);
  return (
    <>
      {lost.map((comment, index) => (
        <Card key={index} comment={comment} onRemove={onRemove}>
          <p className="soft">
            {words.changes.lineChanged} <code>{comment.quoted}</code>
          </p>
        </Card>
      ))}
      <div className="diff lines" role="region" aria-label={words.changes.region(path)} tabIndex={0} dir="ltr">
        {hunks.map((hunk, at) => (
          <Fragment key={at}>
            <Unchanged from={unchangedFrom(at)} to={hunk.new - 1} {...{ whole, read }} {...shared} />
            <HunkRows hunk={hunk} {...shared} />
          </Fragment>
        ))}
        {whole && last && <Unchanged from={endOf(last)} to={whole.length} {...{ whole, read }} {...shared} />}
      </div>
    </>
  );
}

/** The number of the line after a hunk in the current file. */
const endOf = (hunk: Hunk): number => hunk.new + hunk.lines.filter((line) => /^[+ ]/.test(line)).length;

interface HunkProps {
  path: string;
  /** The line whose comment is being written. */
  open: string | undefined;
  onOpen: (name: string | undefined) => void;
  comments: readonly Comment[];
  onAdd: (comment: Comment) => void;
  onRemove: (comment: Comment) => void;
}

interface UnchangedProps extends HunkProps {
  from: number;
  to: number;
  whole: readonly string[] | undefined;
  read: (() => void) | undefined;
}

/** Lines that did not change: named, and shown once the file was read. */
function Unchanged({ from, to, whole, read, ...shared }: UnchangedProps) {
  if (to < from) return null;
  if (whole)
    return (
      <HunkRows
        hunk={{ old: from, new: from, lines: whole.slice(from - 1, to).map((line) => ` ${line}`) }}
        {...shared}
      />
    );
  const text = words.changes.unchanged(from, to);
  return read ? (
    <button type="button" className="gap" onClick={read}>
      {text} · {words.changes.show}
    </button>
  ) : (
    <span className="gap">{text}</span>
  );
}

function HunkRows({ hunk, path, open, onOpen, comments, onAdd, onRemove }: HunkProps & { hunk: Hunk }) {
  const drawn = useDrawnLines(hunk, languageOfPath(path).key);
  return drawn.map(({ line, text }) => {
    const name = nameOf(line);
    return (
      <Fragment key={name}>
        <LineRow
          line={line}
          text={line.text.length <= shownCharacters ? text : lineShown(line.text)}
          isOpen={open === name}
          onOpen={() => onOpen(open === name ? undefined : name)}
        />
        {comments
          .filter((comment) => isAbout(comment, line))
          .map((comment, index) => (
            <Card key={index} comment={comment} onRemove={onRemove} />
          ))}
        {open === name && (
          <Writing
            line={line}
            onCancel={() => onOpen(undefined)}
            onAdd={(comment) => {
              onAdd({ path, side: sideOf(line), line: line.number, quoted: line.text, text: comment });
              onOpen(undefined);
            }}
          />
        )}
      </Fragment>
    );
  });
}

interface LineRowProps {
  line: DiffLine;
  text: ReactNode;
  isOpen: boolean;
  onOpen: () => void;
}

function LineRow({ line, text, isOpen, onOpen }: LineRowProps) {
  const { kind } = line;
  return (
    <div className={lineClasses[kind]}>
      <button type="button" className="no num" aria-expanded={isOpen} aria-label={labelOf(line)} onClick={onOpen}>
        {line.number}
      </button>
      <span>
        <span aria-hidden="true">{lineSigns[kind]}</span>
        {kind !== 'same' && <span className="sr">{words.changes[kind]}</span>}
      </span>
      <span>{text}</span>
    </div>
  );
}

interface CardProps {
  comment: Comment;
  onRemove: (comment: Comment) => void;
  children?: ReactNode;
}

function Card({ comment, onRemove, children }: CardProps) {
  return (
    <div className="comment" dir="auto">
      <p className="soft h">
        <span className="grow">{words.changes.commentOn(comment.line)}</span>
        <button type="button" className="ghost small" onClick={() => onRemove(comment)}>
          {words.changes.removeComment}
        </button>
      </p>
      {children}
      <p>{withCode(comment.text)}</p>
    </div>
  );
}

/** A text whose parts in backticks are code. */
const withCode = (text: string): ReactNode[] =>
  text.split(/`([^`\n]+)`/).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));

function Writing({ line, onAdd, onCancel }: { line: DiffLine; onAdd: (text: string) => void; onCancel: () => void }) {
  const [text, setText] = useState('');
  return (
    <form
      className="comment writing"
      dir="auto"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onAdd(text.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
        event.stopPropagation();
      }}
    >
      <label>
        <span className="soft">{labelOf(line)}</span>
        <textarea rows={2} autoFocus maxLength={4096} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <div className="acts">
        <button type="button" className="ghost" onClick={onCancel}>
          {words.changes.cancel}
        </button>
        <button type="submit" className="primary">
          {words.changes.addComment}
        </button>
      </div>
    </form>
  );
}
