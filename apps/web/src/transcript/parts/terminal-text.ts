/** What a program printed, as lines of stretches with classes. Colours become classes, never HTML; other commands to a terminal are left out. */
import Anser from 'anser';

export type TermStretch = readonly [text: string, classes: string];

// Titles, links and cursor movements; colours (`m`) stay.
const commands =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[\d;?]*[A-LN-Za-ln-z]|\u001b[()][\dA-Z]|\u001b[=>78]/g;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;

/** A line that a program wrote over is the last it wrote. */
const overwritten = (line: string) => line.replace(/\r+$/, '').replace(/^[\s\S]*\r/, '');
const cleaned = (text: string): string =>
  text.replace(commands, '').split('\n').map(overwritten).join('\n').replace(controls, '').replace(/\n+$/, '');

/** The text alone: for copying. */
export const plainOutput = (text: string): string =>
  cleaned(text)
    .replace(/\u001b\[[\d;]*m/g, '')
    .replaceAll('\u001b', '');

const classOf = (name: string | null | undefined) =>
  name ? `a-${name.replace(/^ansi-(?:bright-)?/, '').replace(/-fg$/, '')}` : '';

export function outputLines(text: string): TermStretch[][] {
  const lines: TermStretch[][] = [[]];
  const entries = Anser.ansiToJson(cleaned(text), { json: true, remove_empty: true, use_classes: true });
  for (const { content, fg, decorations } of entries) {
    const classes = [fg, ...(decorations ?? [])]
      .map(classOf)
      .filter((name) => /^a-[a-z]+$/.test(name))
      .join(' ');
    content
      .replaceAll('\u001b', '')
      .split('\n')
      .forEach((piece, index) => {
        if (index > 0) lines.push([]);
        if (piece !== '') lines.at(-1)!.push([piece, classes]);
      });
  }
  return lines;
}
