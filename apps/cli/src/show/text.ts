/**
 * Text of strangers (agents, titles, names) made fit for a terminal: nothing in it may move the cursor, change a colour or ring.
 */

// C0 and C1 control characters, DEL, and what reorders text in the eye of the reader (Unicode TR 36).
const unfit = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// Whole sequences first, so that no visible rest of them stays.
const sequences =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;

/** Lines and tabs stay. */
export const plain = (text: string): string => text.replace(/\r\n?/g, '\n').replace(sequences, '').replace(unfit, '');

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
