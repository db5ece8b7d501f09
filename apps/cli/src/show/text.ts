/**
 * Text of strangers (agents, titles, names) as it is shown: nothing in it may move the cursor, change a colour or ring. The door
 * of the terminal sees to that too; here it is done before widths are measured.
 */
import { visible } from '@relay/protocol';

/** Colours that a program gave its output: they carry no words, and ours are the only ones on this screen. */
const colours = /\u001b\[[\d;:]*m/g;

/** Lines and tabs stay; every other control is shown as `\u001b`. */
export const plain = (text: string): string => visible(text.replace(/\r\n?/g, '\n').replace(colours, ''));

/** One line: what breaks lines becomes a space. */
export const oneLine = (text: string): string => plain(text).replace(/\s+/g, ' ').trim();

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const weightless = /\p{Mark}|\u200b|\u200c|\u200d|\ufe0f/u;

const columnsOf = (character: string) => (weightless.test(character) ? 0 : wide.test(character) ? 2 : 1);

/** Columns on a screen, near enough. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** At most `columns` wide; what was cut ends in an ellipsis. */
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
