/**
 * A scrolling conversation with a few redrawn last lines. Finished lines belong to the terminal: the screen never changes anything above
 * the last lines, and does not use the alternate screen.
 */
import type { Terminal } from '@relay/machine';
import { widthOf } from '../show/text.ts';

interface Screen {
  /** Prints text into the scrollback. An unfinished last line stays among the redrawn lines. */
  print(text: string): void;
  /** Redraws soon, at most ten times a second. */
  changed(): void;
  /** Leaves the last lines on the screen. */
  close(): void;
}

/** The last lines, and the cursor position in them. */
export interface Footer {
  lines: readonly string[];
  row: number;
  column: number;
}

const mostLines = 14;
const gapMs = 100;

export function createScreen(terminal: Terminal, footerOf: () => Footer): Screen {
  const { mark } = terminal;
  const escape = (code: string) => `${mark}[${code}`;
  /** The unfinished last line. */
  let partial = '';
  let waiting = '';
  let drawn = { lines: 0, row: 0 };
  let timer: NodeJS.Timeout | undefined;
  let drawnAtMs = 0;

  const clear = () => {
    const up = drawn.row > 0 ? escape(`${drawn.row}A`) : '';
    return `${up}${escape('1G')}${escape('J')}`;
  };
  const isStyle = new RegExp(`${mark}\\[[\\d;]*m`, 'g');

  const draw = () => {
    timer = undefined;
    drawnAtMs = Date.now();
    const { lines, row, column } = footerOf();
    const open = partial.replace(isStyle, '');
    const head = open === '' ? [] : [endOf(open, terminal.columns - 1)];
    const all = [...head, ...lines].slice(-mostLines);
    const cut = head.length + lines.length - all.length;
    const at = Math.max(0, row + head.length - cut);
    const below = all.length - 1 - at;
    terminal.out(
      [
        escape('?2026h'),
        clear(),
        waiting,
        all.join('\n'),
        below > 0 ? escape(`${below}A`) : '',
        escape(`${Math.min(column, terminal.columns - 1) + 1}G`),
        escape('?2026l'),
      ].join(''),
    );
    waiting = '';
    drawn = { lines: all.length, row: at };
  };
  const changed = () => {
    timer ??= setTimeout(draw, Math.max(0, drawnAtMs + gapMs - Date.now()));
  };

  return {
    print(text) {
      const all = partial + text;
      const end = all.lastIndexOf('\n') + 1;
      waiting += all.slice(0, end);
      partial = all.slice(end);
      changed();
    },
    changed,
    close() {
      clearTimeout(timer);
      if (partial !== '') {
        waiting += `${partial}\n`;
        partial = '';
      }
      terminal.out(`${clear()}${waiting}`);
    },
  };
}

/** Returns the last columns of a line that is too long for one row. */
function endOf(text: string, columns: number): string {
  const characters = [...text.slice(-2 * columns)];
  while (widthOf(characters.join('')) > columns) characters.shift();
  return characters.join('');
}
