/** Colours, on a terminal and unless NO_COLOR is set (no-color.org). */
import type { Terminal } from '@relay/machine';
import { entryOf } from './shape.ts';

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const codes: Readonly<Record<Paint, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export type Style = (paint: Paint | undefined, text: string) => string;

/** Styles become ANSI sequences only when the terminal writes them. */
export function styleOf({ outIsScreen, env, mark }: Terminal): Style {
  const colours = outIsScreen && !env.NO_COLOR && env.TERM !== 'dumb';
  return (paint, text) =>
    colours && paint !== undefined && text !== ''
      ? `${mark}[${codes[paint][0]}m${text}${mark}[${codes[paint][1]}m`
      : text;
}

const ofStatus: Readonly<Record<string, Paint>> = {
  online: 'green',
  active: 'green',
  completed: 'green',
  pending: 'cyan',
  queued: 'cyan',
  waiting: 'yellow',
  unknown: 'yellow',
  expired: 'yellow',
  failed: 'red',
  offline: 'dim',
  idle: 'dim',
};

/** Returns the colour for the status of a device, a session or a task. */
export const paintOf = (status: string): Paint | undefined => entryOf(ofStatus, status);
