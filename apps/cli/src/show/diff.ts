/** File changes: one line per file, and its changed lines below. */
import { countOf, entryOf, fieldsOf, listOf, textOf } from './shape.ts';
import type { Paint, Style } from './style.ts';
import { fitted, oneLine, plain } from './text.ts';

const mostFiles = 50;
const mostHunks = 500;
/** Maximum characters of one line; no screen shows longer lines. */
const lineCharacters = 2000;

const marks: Readonly<Record<string, string>> = { add: 'A', edit: 'M', delete: 'D', move: 'R' };
const paints: Readonly<Record<string, Paint>> = { '+': 'green', '-': 'red' };

interface DiffWish {
  style: Style;
  /** Limit of lines shown, over all files. */
  mostLines: number;
  indent: string;
}

/** Returns an empty text if `diffs` is not a list of diffs. */
export function diffText(diffs: unknown, { style, mostLines, indent }: DiffWish): string {
  const lines: string[] = [];
  let [shown, left] = [0, 0];
  for (const diff of listOf(diffs, mostFiles)) {
    const { path, change, from, added, removed, hunks } = fieldsOf(diff);
    if (typeof path !== 'string') continue;
    const where = [textOf(from), path]
      .filter((name) => name !== '')
      .map((name) => fitted(oneLine(name.slice(0, 4096)), 300));
    const counts = [`+${countOf(added) ?? 0}`, `-${countOf(removed) ?? 0}`];
    lines.push(
      `${indent}${entryOf(marks, textOf(change)) ?? 'M'} ${where.join(' → ')} ${style('green', counts[0]!)} ${style('red', counts[1]!)}`,
    );
    for (const hunk of listOf(hunks, mostHunks)) {
      const { old, new: fresh, lines: changed } = fieldsOf(hunk);
      const all = Array.isArray(changed) ? changed.length : 0;
      const some = listOf(changed, Math.max(0, mostLines - shown));
      if (some.length > 0)
        lines.push(`${indent}  ${style('cyan', `@@ -${countOf(old) ?? 0} +${countOf(fresh) ?? 0} @@`)}`);
      for (const line of some) {
        const text = plain(textOf(line).slice(0, lineCharacters)).replaceAll('\n', ' ');
        lines.push(`${indent}  ${style(paints[text[0] ?? ''], text)}`);
      }
      shown += some.length;
      left += all - some.length;
    }
  }
  if (left > 0) lines.push(style('dim', `${indent}  … ${left} more ${left === 1 ? 'line' : 'lines'}`));
  return lines.map((line) => `${line}\n`).join('');
}
