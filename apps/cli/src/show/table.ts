/** Formats rows of text as columns. On a narrow screen the widest shrinkable column shrinks. */
import type { Terminal } from '@relay/machine';
import { type Paint, styleOf } from './style.ts';
import { fitted, oneLine, widthOf } from './text.ts';

/** A text, optionally with a colour. */
type Cell = string | { text: string; paint?: Paint | undefined };

/** The column's title. */
type Column = string | { title: string; shrinks?: boolean };

/** A column that can be cut on a narrow screen. Ids are never cut, because people copy them. */
export const shrinking = (title: string): Column => ({ title, shrinks: true });

const gap = 2;
const narrowest = 8;

export function tableOf(columns: readonly Column[], rows: readonly (readonly Cell[])[], terminal: Terminal): string {
  const style = styleOf(terminal);
  const heads = columns.map((column) => (typeof column === 'string' ? { title: column } : column));
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) })),
  );
  const widths = heads.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[at]?.text ?? ''))),
  );
  if (terminal.outIsScreen) shrink(heads, widths, terminal.columns);
  const line = (row: readonly Exclude<Cell, string>[]) =>
    row
      .map(({ text, paint }, at) => {
        const shown = fitted(text, widths[at] ?? 0);
        const pad = at === columns.length - 1 ? 0 : (widths[at] ?? 0) - widthOf(shown) + gap;
        return style(paint, shown) + ' '.repeat(pad);
      })
      .join('')
      .trimEnd();
  return [heads.map(({ title }) => ({ text: title, paint: 'bold' as const })), ...cells]
    .map((row) => `${line(row)}\n`)
    .join('');
}

function shrink(columns: readonly Exclude<Column, string>[], widths: number[], available: number): void {
  const excess = () => widths.reduce((sum, width) => sum + width + gap, -gap) - available;
  while (excess() > 0) {
    const candidates = widths.map((width, at) => (columns[at]?.shrinks && width > narrowest ? width : 0));
    const widest = Math.max(...candidates);
    if (widest === 0) return;
    const at = candidates.indexOf(widest);
    widths[at] = Math.max(narrowest, widest - excess());
  }
}

/** Formats one name and value per line, with aligned values. */
export function listOf(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${oneLine(value)}\n`).join('');
}
