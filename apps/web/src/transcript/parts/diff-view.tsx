/** The change of a file: numbered lines, marked changes, sideways scroll inside. */
import { Fragment, type ReactNode, memo, useEffect, useMemo, useState } from 'react';
import type { Diff, Hunk } from '@relay/protocol';
import { words } from '../../catalogue.ts';
import { useColours } from '../markdown/coloured.tsx';
import type { Stretch } from '../markdown/highlight.ts';
import { languageOfPath } from '../markdown/languages.ts';
import { workOfChange } from './tool-state.ts';
import { type CompareWords, type DiffLine, type Range, linesOf } from './patch.ts';

/** The first lines of a longer diff; a person asks for the rest. */
const firstLines = 80;

export const DiffCounts = ({ diff }: { diff: Pick<Diff, 'added' | 'removed'> }) => (
  <>
    {diff.added > 0 && (
      <span className="plus">
        <span aria-hidden="true">+{diff.added}</span>
        <span className="sr">{words.diff.added(diff.added)}</span>
      </span>
    )}
    {diff.removed > 0 && (
      <span className="minus">
        <span aria-hidden="true">−{diff.removed}</span>
        <span className="sr">{words.diff.removed(diff.removed)}</span>
      </span>
    )}
  </>
);

/** The file of a diff, where more than one stand together. */
export const DiffFile = ({ diff, isDone }: { diff: Diff; isDone: boolean }) => (
  <p className="file">
    {isDone && <span className="soft">{words.tool.past(workOfChange(diff.change))}</span>}
    <code className="cut">{diff.path}</code>
    {diff.from !== undefined && <span className="soft cut">{words.diff.moved(diff.from)}</span>}
    <span className="r num">
      <DiffCounts diff={diff} />
    </span>
  </p>
);

/** `isWhole`: all of its lines. */
export const DiffView = memo(function DiffView({ diff, isWhole = false }: { diff: Diff; isWhole?: boolean }) {
  const [all, setAll] = useState(isWhole);
  const { hunks } = diff;
  const shown = useMemo(() => (all ? (hunks ?? []) : beginningOf(hunks ?? [])), [hunks, all]);
  if (!hunks || shown.length === 0)
    return <p className="pad soft">{hunks ? words.diff.noLines : words.diff.tooLarge}</p>;
  const { key } = languageOfPath(diff.path);
  const left = changedLines(hunks) - changedLines(shown);
  return (
    <div className="diff" tabIndex={0} role="region" aria-label={words.diff.region(diff.path)} dir="ltr">
      {shown.map((hunk, index) => (
        <Fragment key={index}>
          {index > 0 && (
            <span className="gap" aria-hidden="true">
              …
            </span>
          )}
          <HunkLines hunk={hunk} language={key} />
        </Fragment>
      ))}
      {left > 0 && (
        <button type="button" className="gap" onClick={() => setAll(true)}>
          {words.diff.show(left)}
        </button>
      )}
    </div>
  );
});

const changedLines = (hunks: readonly Hunk[]): number =>
  hunks.reduce((sum, { lines }) => sum + lines.filter((line) => /^[+-]/.test(line)).length, 0);

/** As many lines as a diff shows before a person asks for more. */
export const linesShown = ({ hunks = [] }: Diff): number =>
  Math.min(
    firstLines,
    hunks.reduce((sum, { lines }) => sum + lines.length, 0),
  );

function beginningOf(hunks: readonly Hunk[]): Hunk[] {
  let room = firstLines;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, room);
    room -= lines.length;
    return lines.length === 0 ? [] : [lines.length === hunk.lines.length ? hunk : { ...hunk, lines }];
  });
}

export const lineClasses = { same: 'ln', added: 'ln ad', removed: 'ln de' } as const;
export const lineSigns = { same: ' ', added: '+', removed: '−' } as const;

/** Undefined until its chunk is loaded; the diff then has no marks. */
function useCompareWords(): CompareWords | undefined {
  const [compare, setCompare] = useState<CompareWords>();
  useEffect(() => {
    let isCurrent = true;
    void import('./changed-words.ts').then(
      ({ changedWords }) => isCurrent && setCompare(() => changedWords),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return compare;
}

/**
 * The lines of a hunk, drawn with the colours of their language and the marks of their changes, each as soon as its chunk is
 * there.
 */
export function useDrawnLines(hunk: Hunk, language: string): { line: DiffLine; text: ReactNode }[] {
  const compare = useCompareWords();
  const lines = useMemo(() => linesOf(hunk, compare), [hunk, compare]);
  const code = useMemo(() => lines.map(({ text }) => text).join('\n'), [lines]);
  const colours = useColours(code, language, true);
  const coloured = useMemo(() => (colours ? byLine(colours) : undefined), [colours]);
  return lines.map((line, index) => ({ line, text: drawn(line, coloured?.[index]) }));
}

function HunkLines({ hunk, language }: { hunk: Hunk; language: string }) {
  return useDrawnLines(hunk, language).map(({ line, text }, index) => (
    <div key={index} className={lineClasses[line.kind]}>
      <span>{line.number}</span>
      <span>{lineSigns[line.kind]}</span>
      <span>{text}</span>
    </div>
  ));
}

function byLine(stretches: readonly Stretch[]): Stretch[][] {
  const lines: Stretch[][] = [[]];
  for (const [text, kind] of stretches)
    text.split('\n').forEach((piece, index) => {
      if (index > 0) lines.push([]);
      if (piece !== '') lines.at(-1)!.push([piece, kind]);
    });
  return lines;
}

/** A line with its colours, cut where a mark begins or stops. */
function drawn({ text, marks: ranges }: DiffLine, colours: readonly Stretch[] = [[text, '']]): ReactNode {
  const pieces: { text: string; kind: string; mark: Range | undefined }[] = [];
  let at = 0;
  for (const [stretch, kind] of colours) {
    const end = at + stretch.length;
    while (at < end) {
      const mark = ranges.find(([from, to]) => at >= from && at < to);
      const next = mark ? mark[1] : Math.min(end, ...ranges.map(([from]) => from).filter((from) => from > at));
      pieces.push({ text: text.slice(at, Math.min(end, next)), kind, mark });
      at = Math.min(end, next);
    }
  }
  const span = (piece: (typeof pieces)[number], key: number) =>
    piece.kind === '' ? (
      piece.text
    ) : (
      <span key={key} className={piece.kind}>
        {piece.text}
      </span>
    );
  const shown: ReactNode[] = [];
  for (let index = 0; index < pieces.length;) {
    const { mark } = pieces[index]!;
    if (!mark) {
      shown.push(span(pieces[index]!, index));
      index += 1;
      continue;
    }
    const from = index;
    while (pieces[index]?.mark === mark) index += 1;
    shown.push(<mark key={`m${from}`}>{pieces.slice(from, index).map((piece, key) => span(piece, key))}</mark>);
  }
  return shown;
}
