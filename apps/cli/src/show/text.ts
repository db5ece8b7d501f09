/**
 * Displays untrusted text (agents, titles, names): it must not move the cursor, change a colour or ring. The terminal enforces this too;
 * here it is done before widths are measured.
 */
import { visible } from '@relay/protocol';

/** Colours in a program's output carry no text, and this screen has its own colours. */
const colours = /\u001b\[[\d;:]*m/g;

/** Keeps lines and tabs; every other control character becomes `\u001b`. */
export const plain = (text: string): string => visible(text.replace(/\r\n?/g, '\n').replace(colours, ''));

/** Returns one line: line breaks become spaces. */
export const oneLine = (text: string): string => plain(text).replace(/\s+/g, ' ').trim();

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const weightless = /\p{Mark}|\u200b|\u200c|\u200d|\ufe0f/u;

const columnsOf = (character: string) => (weightless.test(character) ? 0 : wide.test(character) ? 2 : 1);

/** Approximate columns on a screen. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** Cuts a text to `columns`, with an ellipsis. */
export function fitted(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const character of text) {
    width += columnsOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
