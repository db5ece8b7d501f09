/** Parses diffs out of text, and finds the changes within a line. */
import { parsePatch } from 'diff';
import type { Diff, Hunk } from '@relay/protocol';

const mostCharacters = 200_000;
const name = (file: string | undefined) =>
  file === undefined || file === '/dev/null' ? undefined : file.replace(/^[ab]\//, '');

const header =
  /^(?:diff --git |index [0-9a-f]+\.\.|(?:old|new|new file|deleted file) mode \d+$|similarity index \d+%$|(?:rename|copy) (?:from|to) |--- |\+\+\+ |@@ -)/;
const isShown = (line: string) => line.trim() !== '';

/** Returns the files of a unified diff; empty for any other text, and for a diff with text that no file of it shows. */
export function diffsOf(text: string): Diff[] {
  if (text.length > mostCharacters || !/^@@ -\d+/m.test(text)) return [];
  const diffs = parsed(text);
  const lines = diffs.flatMap(({ hunks = [] }) => hunks.flatMap((hunk) => hunk.lines)).filter(isShown);
  const all = text.split('\n').filter((line) => isShown(line) && !header.test(line));
  return all.length === lines.length ? diffs : [];
}

function parsed(text: string): Diff[] {
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

/** Start and stop offsets, in characters. */
export type Range = readonly [from: number, to: number];
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  number: number;
  text: string;
  /** The changed ranges. */
  marks: readonly Range[];
}

/** Returns the changed ranges of a line and its replacement. */
export type CompareWords = (before: string, after: string) => { removed: Range[]; added: Range[] };

/** The lines of a hunk with their numbers. `compare` marks the changes of lines that replace an equal number of lines. */
export function linesOf(hunk: Hunk, compare?: CompareWords): DiffLine[] {
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
  for (let at = 0; compare && at < lines.length;) {
    const removed = run(lines, at, 'removed');
    const added = run(lines, at + removed, 'added');
    for (let pair = 0; removed === added && pair < removed; pair++) {
      const [one, other] = [lines[at + pair]!, lines[at + removed + pair]!];
      const marks = compare(one.text, other.text);
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
