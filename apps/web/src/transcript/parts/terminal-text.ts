/** The output of a program, without commands to a terminal. */
export type TermStretch = readonly [text: string, classes: string];

// Titles, links and cursor movements; colours (`m`) stay.
const commands =
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[\d;?]*[A-LN-Za-ln-z]|\u001b[()][\dA-Z]|\u001b[=>78]/g;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** A line that a program wrote over is the last it wrote. */
const overwritten = (line: string) => line.replace(/\r+$/, '').replace(/^[\s\S]*\r/, '');
export const cleaned = (text: string): string =>
  text.replace(commands, '').split('\n').map(overwritten).join('\n').replace(controls, '').replace(/\n+$/, '');

/** The text alone: for copying. */
export const plainOutput = (text: string): string =>
  cleaned(text)
    .replace(/\u001b\[[\d;]*m/g, '')
    .replaceAll('\u001b', '');
