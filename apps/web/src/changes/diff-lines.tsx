/** The lines of a diff, each with a button to comment on it. */
import { Fragment, type ReactNode, useState } from 'react';
import type { FileDiff } from '@relay/protocol';
import { words } from '../catalogue.ts';
import type { Comment } from './comments.ts';

interface Line {
  side: 'new' | 'old';
  sign: string;
  line: number;
  text: string;
}

const shownCharacters = 2000;
const classes: Readonly<Record<string, string>> = { '+': 'ln ad', '-': 'ln de', ' ': 'ln' };

function linesOf({ old, new: now, lines }: FileDiff['hunks'][number]): Line[] {
  let [before, after] = [old, now];
  return lines.flatMap((line): Line[] => {
    const [sign, text] = [line.charAt(0), line.slice(1)];
    if (sign === '+') return [{ sign, text, side: 'new', line: Math.max(after++, 1) }];
    if (sign === '-') return [{ sign, text, side: 'old', line: Math.max(before++, 1) }];
    if (sign === '\\') return [];
    before += 1;
    return [{ sign: ' ', text, side: 'new', line: after++ }];
  });
}

export const lineShown = (text: string): string =>
  text.length <= shownCharacters
    ? text
    : `${text.slice(0, shownCharacters)}${words.changes.longLine(text.length - shownCharacters)}`;

interface DiffLinesProps {
  path: string;
  hunks: FileDiff['hunks'];
  comments: readonly Comment[];
  onAdd: (comment: Comment) => void;
  onRemove: (comment: Comment) => void;
}

export function DiffLines({ path, hunks, comments, onAdd, onRemove }: DiffLinesProps) {
  const [open, setOpen] = useState<string>();
  const mine = comments.filter((comment) => comment.path === path);
  const lines = hunks.map(linesOf);
  const placed = new Set<Comment>();
  const rows = lines.map((some) =>
    some.map((line) => {
      const here = mine.filter((one) => one.side === line.side && one.line === line.line && one.quoted === line.text);
      for (const one of here) placed.add(one);
      return { line, here };
    }),
  );
  const lost = mine.filter((one) => !placed.has(one));
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
        {rows.map((some, at) => (
          <Fragment key={at}>
            {at > 0 && (
              <span className="gap" aria-hidden="true">
                …
              </span>
            )}
            {some.map(({ line, here }) => {
              const name = `${line.side} ${line.line}`;
              return (
                <Fragment key={name}>
                  <LineRow
                    line={line}
                    isOpen={open === name}
                    onOpen={() => setOpen(open === name ? undefined : name)}
                  />
                  {here.map((comment, index) => (
                    <Card key={index} comment={comment} onRemove={onRemove} />
                  ))}
                  {open === name && (
                    <Writing
                      line={line}
                      onCancel={() => setOpen(undefined)}
                      onAdd={(text) => {
                        onAdd({ path, side: line.side, line: line.line, quoted: line.text, text });
                        setOpen(undefined);
                      }}
                    />
                  )}
                </Fragment>
              );
            })}
          </Fragment>
        ))}
      </div>
    </>
  );
}

function LineRow({
  line: { side, sign, line, text },
  isOpen,
  onOpen,
}: {
  line: Line;
  isOpen: boolean;
  onOpen: () => void;
}) {
  const said = sign === '+' ? words.changes.added : sign === '-' ? words.changes.removed : '';
  return (
    <div className={classes[sign] ?? 'ln'}>
      <button
        type="button"
        className="no num"
        aria-expanded={isOpen}
        aria-label={side === 'new' ? words.changes.newLine(line) : words.changes.oldLine(line)}
        onClick={onOpen}
      >
        {line}
      </button>
      <span>
        <span aria-hidden="true">{sign === '-' ? '−' : sign}</span>
        {said !== '' && <span className="sr">{said}</span>}
      </span>
      <span>{lineShown(text)}</span>
    </div>
  );
}

function Card({
  comment,
  onRemove,
  children,
}: {
  comment: Comment;
  onRemove: (comment: Comment) => void;
  children?: ReactNode;
}) {
  return (
    <div className="comment" dir="auto">
      <p className="soft h">
        <span className="grow">{words.changes.commentOn(comment.line)}</span>
        <button type="button" className="ghost small" onClick={() => onRemove(comment)}>
          {words.changes.removeComment}
        </button>
      </p>
      {children}
      <p>{comment.text}</p>
    </div>
  );
}

function Writing({ line, onAdd, onCancel }: { line: Line; onAdd: (text: string) => void; onCancel: () => void }) {
  const [text, setText] = useState('');
  const label = line.side === 'new' ? words.changes.newLine(line.line) : words.changes.oldLine(line.line);
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
        <span className="soft">{label}</span>
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
