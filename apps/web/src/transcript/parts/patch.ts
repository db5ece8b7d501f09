/** Diffs out of text, and what changed inside of a line. */
import { diffWordsWithSpace, parsePatch } from 'diff';
import type { Diff, Hunk } from '@relay/protocol';

const mostCharacters = 200_000;
const name = (file: string | undefined) =>
  file === undefined || file === '/dev/null' ? undefined : file.replace(/^[ab]\//, '');

/** The files of a unified diff; none when the text is none. */
export function diffsOf(text: string): Diff[] {
  if (text.length > mostCharacters || !/^@@ -\d+/m.test(text)) return [];
  try {
    return parsePatch(text).flatMap(({ oldFileName, newFileName, hunks }) => {
      if (hunks.length === 0) return [];
      const path = name(newFileName) ?? name(oldFileName) ?? '';
      const lines = hunks.flatMap((hunk) => hunk.lines);
      return [
        {
          path,
          change: name(oldFileName) === undefined ? 'add' : name(newFileName) === undefined ? 'delete' : 'edit',
          added: lines.filter((line) => line.startsWith('+')).length,
          removed: lines.filter((line) => line.startsWith('-')).length,
          hunks: hunks.map((hunk) => ({ old: hunk.oldStart, new: hunk.newStart, lines: hunk.lines })),
        },
      ];
    });
  } catch {
    return [];
  }
}

/** From and to, in characters. */
export type Range = readonly [from: number, to: number];
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  number: number;
  text: string;
  /** Words that changed. */
  marks: readonly Range[];
}

/** Longer lines have no marks: comparing their words would take too long. */
const markedCharacters = 500;

/** The lines of a hunk with their numbers. Lines that took the place of as many others have their changed words marked. */
export function linesOf(hunk: Hunk): DiffLine[] {
  let [old, fresh] = [hunk.old, hunk.new];
  const lines: DiffLine[] = [];
  for (const line of hunk.lines) {
    if (line.startsWith('\\')) continue;
    const text = line.slice(1);
    if (line.startsWith('+')) lines.push({ kind: 'added', number: fresh++, text, marks: [] });
    else if (line.startsWith('-')) lines.push({ kind: 'removed', number: old++, text, marks: [] });
    else {
      lines.push({ kind: 'same', number: fresh++, text, marks: [] });
      old += 1;
    }
  }
  for (let at = 0; at < lines.length;) {
    const removed = run(lines, at, 'removed');
    const added = run(lines, at + removed, 'added');
    for (let pair = 0; removed === added && pair < removed; pair++) {
      const [one, other] = [lines[at + pair]!, lines[at + removed + pair]!];
      const marks = changedWords(one.text, other.text);
      lines[at + pair] = { ...one, marks: marks.removed };
      lines[at + removed + pair] = { ...other, marks: marks.added };
    }
    at += Math.max(removed + added, 1);
  }
  return lines;
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let count = 0;
  while (lines[from + count]?.kind === kind) count += 1;
  return count;
}

function changedWords(before: string, after: string): { removed: Range[]; added: Range[] } {
  const marks = { removed: [] as Range[], added: [] as Range[] };
  if (before.length > markedCharacters || after.length > markedCharacters) return marks;
  let [old, fresh, same] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    if (removed) marks.removed.push([old, (old += value.length)]);
    else if (added) marks.added.push([fresh, (fresh += value.length)]);
    else {
      old += value.length;
      fresh += value.length;
      same += value.trim().length;
    }
  }
  // Nothing in common: the whole line says it already.
  return same === 0 ? { removed: [], added: [] } : marks;
}
