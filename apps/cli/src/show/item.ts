/** Formats one item of a conversation: messages as paragraphs, everything else as a line. Pure and stateless. */
import { type Item, transcriptLimits } from '@relay/protocol';
import { diffText } from './diff.ts';
import { type Fields, countOf, entryOf, fieldsOf, listOf, sizeOf, textOf } from './shape.ts';
import type { Paint, Style } from './style.ts';
import { fitted, oneLine, plain } from './text.ts';
import { clockTime } from './times.ts';

export interface ItemWish {
  style: Style;
  /** Columns of the screen; Infinity for a file. Read again for each item, because a person can resize the terminal. */
  columns: number;
  /** Print full outputs and diffs, not only their beginning. */
  full: boolean;
}

const speakers: Readonly<Record<string, readonly [name: string, paint: Paint]>> = {
  USER: ['you', 'cyan'],
  AGENT: ['agent', 'green'],
  SYSTEM: ['relay', 'yellow'],
};
/** Shortens untrusted text to one line before measuring it: it can be megabytes long. */
const short = (value: unknown, most = 200): string => oneLine(textOf(value).slice(0, most));
const timeOf = (timestamp: unknown): string => fitted(oneLine(clockTime(textOf(timestamp).slice(0, 200))), 40);

/** Returns the heading of a message: its speaker and its time. */
export function headingOf({ role, timestamp }: Pick<Item, 'role' | 'timestamp'>, style: Style, doing = ''): string {
  const [name, paint] = entryOf(speakers, textOf(role)) ?? [fitted(short(role).toLowerCase(), 20), 'dim'];
  return `${style(paint, name)}${doing} ${style('dim', timeOf(timestamp))}\n`;
}

const states: Readonly<Record<string, readonly [icon: string, paint: Paint | undefined]>> = {
  pending: ['○', 'dim'],
  running: ['▶', 'cyan'],
  in_progress: ['▶', 'cyan'],
  completed: ['✔', 'green'],
  answered: ['✔', 'green'],
  failed: ['✘', 'red'],
};
/** Covers states of later releases too. */
const iconOf = (state: string): readonly [icon: string, paint: Paint | undefined] =>
  entryOf(states, state) ?? ['⊘', 'yellow'];

/** Limits for the output of a failed call and for diffs, by default and with `full`. */
const [fewOutputLines, fewDiffLines] = [5, 40];
const [manyOutputLines, manyDiffLines] = [20_000, 20_000];

function outputText(part: Fields, { style, full }: ItemWish): string {
  const output = textOf(part.output).slice(full ? -transcriptLimits.keptOutputBytes : -64 * 1024);
  const all = output.trim() === '' ? [] : plain(output).replace(/\n+$/, '').split('\n');
  const failed = part.status === 'failed' || (countOf(part.exit) ?? 0) !== 0;
  const shown = full ? all.slice(-manyOutputLines) : failed ? all.slice(-fewOutputLines) : [];
  const left = countOf(part.left) ?? 0;
  const gap = full && left > 0 ? [`… ${sizeOf(left)} of it are not shown`] : [];
  return [...gap, ...shown].map((line) => `${style('dim', `    ${line}`)}\n`).join('');
}

/** Describes a tool call in one line. */
function callOf({ title, command, name }: Fields): string {
  const words = short(title, 4096) || short(name) || 'tool';
  const ran = short(command, 4096);
  return ran === '' || words.includes(ran) ? words : `${words}  $ ${ran}`;
}

/** Returns the state of a call. Older daemons send `interrupted`; an absent state is unknown. */
const stateOf = (part: Fields): string => {
  const state = textOf(part.status);
  return state === '' || state === 'interrupted' ? 'unknown' : state;
};

/** Returns one line with icon, time, action and state, followed by diffs and the last output of a failed call. */
export function toolText(item: Item, wish: ItemWish): string {
  const { style, columns, full } = wish;
  const part = fieldsOf(item.part);
  const state = stateOf(part);
  const [icon, paint] = iconOf(state);
  const what = callOf(part);
  const exit = countOf(part.exit) ?? 0;
  const how = ` · ${fitted(short(state, 64), 20)}${exit === 0 ? '' : `, exit ${exit}`}`;
  const indent = textOf(part.parent) === '' ? '' : '  ';
  const time = timeOf(item.timestamp);
  const room = Math.max(20, columns - indent.length - time.length - how.length - 4);
  const line = `${indent}${style(paint, icon)} ${style('dim', time)} ${fitted(what, Number.isFinite(room) ? room : 1000)}${style('dim', how)}\n`;
  if (['pending', 'running'].includes(state)) return line;
  return (
    line +
    diffText(part.diffs, { style, mostLines: full ? manyDiffLines : fewDiffLines, indent: `${indent}  ` }) +
    outputText(part, wish)
  );
}

const mostEntries = 200;
export function planText(item: Item, { style }: ItemWish): string {
  const entries = listOf(fieldsOf(item.part).entries, mostEntries).flatMap((entry) => {
    const { text, status } = fieldsOf(entry);
    const [icon, paint] = iconOf(textOf(status) || 'pending');
    return typeof text === 'string' ? [`  ${style(paint, icon)} ${fitted(short(text, 4096), 500)}\n`] : [];
  });
  return entries.length === 0 ? '' : `${style('bold', 'Plan')}\n${entries.join('')}`;
}

/** Returns the outcome of a question; empty while it is open, because the prompt shows it. */
export function questionText(item: Item, { style }: ItemWish): string {
  const { question, state, answer } = fieldsOf(item.part);
  const { title, options } = fieldsOf(question);
  if (state === 'open') return '';
  const { option, text, by } = fieldsOf(answer);
  const chosen = listOf(options, 1000)
    .map(fieldsOf)
    .find(({ id }) => typeof id === 'string' && id === option);
  const [icon, paint] = iconOf(textOf(chosen?.kind).startsWith('reject') ? 'rejected' : textOf(state));
  const answerText = textOf(text) || textOf(chosen?.label);
  const who = textOf(by) === '' ? '' : ` (${fitted(short(by), 60)})`;
  const titleText = fitted(short(textOf(title) || item.content, 4096), 300);
  return `${style(paint, icon)} ${titleText} → ${answerText === '' ? short(state, 64) : fitted(short(answerText, 4096), 300)}${who}\n`;
}

export function imageText(image: unknown, { style }: Pick<ItemWish, 'style'>): string {
  const { mime, bytes } = fieldsOf(image);
  const facts = [fitted(short(mime), 60), countOf(bytes) === undefined ? '' : sizeOf(countOf(bytes)!)];
  return `${style('cyan', '▣')} image ${style('dim', facts.filter((fact) => fact !== '').join(', '))}\n`;
}

/** Returns one line for a file, with its whole name. */
export function fileText(file: unknown, { style }: Pick<ItemWish, 'style'>): string {
  const { name, bytes } = fieldsOf(file);
  const size = countOf(bytes) === undefined ? '' : ` ${style('dim', sizeOf(countOf(bytes)!))}`;
  return `${style('cyan', '▤')} ${fitted(short(name), 160)}${size}\n`;
}

const happened: Readonly<Record<string, string>> = {
  cancelled: 'Cancelled',
  interrupted: 'Interrupted: the program on the machine ended',
  compacted: 'The conversation was compacted',
  mode: 'Mode',
};
export function markText(item: Item, { style }: ItemWish): string {
  const { what, text } = fieldsOf(item.part);
  const kind = entryOf(happened, textOf(what));
  const words = fitted(short(textOf(text) || item.content, 4096), 500);
  const shown = what === 'mode' && words !== '' ? `Mode: ${words}` : words || kind || short(what, 64);
  return shown === '' ? '' : `${style('dim', `── ${shown}`)}\n`;
}

/** Formats an item of an unknown kind by its content, which is always a complete text. */
export const unknownText = (item: Item, style: Style): string =>
  item.content.trim() === ''
    ? `${style('dim', `(something of the kind "${fitted(short(item.part.kind), 60)}", which this release does not know)`)}\n`
    : `\n${headingOf(item, style)}${plain(item.content).trimEnd()}\n`;

/** Returns a finished call or a mark without styles; empty for other items, which are printed as messages. */
export function itemLine(item: Item): string {
  const part = fieldsOf(item.part);
  if (part.kind === 'mark') return short(part.text, 1000) || short(part.what);
  const state = stateOf(part);
  if (part.kind !== 'tool' || ['pending', 'running'].includes(state)) return '';
  return `${iconOf(state)[0]} ${callOf(part)} · ${short(state, 64)}`;
}
