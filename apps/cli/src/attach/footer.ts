/** The lines below a conversation: the open question, the state of the session, and the input line. Pure. */
import type { Held, Prompt, Session } from '@relay/protocol';
import { questionsOf } from '../show/question.ts';
import { fieldsOf, listOf, textOf } from '../show/shape.ts';
import type { Paint, Style } from '../show/style.ts';
import { fitted, oneLine, plain, widthOf } from '../show/text.ts';
import type { Footer } from './screen.ts';

interface FooterState {
  session: Session | undefined;
  /** Milliseconds until the next attempt to connect. */
  lostForMs: number | undefined;
  note: string;
  /** The message waits until the user chooses how to treat the terminal that has the session open. */
  choosing: boolean;
  readOnly: boolean;
  text: string;
  cursor: number;
}

export const deskWays = ['Close it there and send', 'Send when it’s closed there', 'Keep as a draft'] as const;

const ways = deskWays.map((way, index) => `${index + 1} ${way}`).join('   ');

/** Maximum lines of a question's subject below the conversation; a longer subject is printed in full above. */
export const mostSubjectLines = 4;
/** Maximum lines of the input text. */
const mostTextLines = 4;
const mostLines = 400;

export const isWorking = ({ status }: Session): boolean => status === 'active' || status === 'pending';

/** Returns the action in question. */
export function subjectLines({ subject }: Prompt): string[] {
  const { command, tool, input, diffs } = fieldsOf(subject);
  const changes = listOf(diffs, 20).flatMap((diff) => {
    const { path, hunks } = fieldsOf(diff);
    const lines = listOf(hunks, 20).flatMap((hunk) => listOf(fieldsOf(hunk).lines, mostLines).map(textOf));
    return [textOf(path), ...lines.filter((line) => /^[-+]/.test(line))];
  });
  const shown = textOf(command) || textOf(input) || textOf(tool);
  const all = changes.length > 0 ? changes : shown === '' ? [] : plain(shown).split('\n');
  return all.slice(0, mostLines).map(oneLine);
}

/** A line and its colour. Text is cut before it is coloured. */
type Line = readonly [text: string, paint?: Paint];

function questionLines(prompt: Prompt): Line[] {
  const choices = prompt.options.slice(0, 9).map(({ label }, index) => `${index + 1} ${oneLine(label)}`);
  const words = prompt.text === false ? [] : ['or type an answer'];
  const lines = subjectLines(prompt);
  return [
    [oneLine(prompt.prompt), 'yellow'],
    ...lines.slice(0, mostSubjectLines).map((line): Line => [`  ${line}`]),
    ...(lines.length > mostSubjectLines ? [[`  all ${lines.length} lines are above`, 'dim'] as const] : []),
    [[...choices, ...words].join('   ')],
  ];
}

const heldLine = ({ state, program, terminal, why, sure }: Held): string => {
  if (!sure) return `May be open at the desk: ${program}`;
  if (why !== undefined) return `Open in another program: ${program}`;
  const where = terminal === undefined ? '' : ` in ${terminal}`;
  const what =
    { busy: 'Working at the desk', waiting: 'Waits for you at the desk' }[state as 'busy'] ?? 'Open at the desk';
  return `${what}: ${program}${where} (/take closes it there)`;
};

function stateLine({ session, lostForMs }: FooterState): Line {
  if (lostForMs !== undefined) return [`Reconnecting in ${Math.ceil(lostForMs / 1000)} s`, 'yellow'];
  if (!session) return [''];
  const { status, progress, queue } = session;
  const waiting = queue ? ` · ${queue.count} queued` : '';
  if (status === 'waiting') return [`● Waits for you${waiting}`, 'yellow'];
  if (!isWorking(session)) return [`● ${status}${waiting}`, status === 'failed' ? 'red' : 'green'];
  const doing = progress ? `: ${oneLine(`${progress.action} ${progress.target}`)}` : '';
  return [`▶ Working${doing}${waiting}`, 'cyan'];
}

export function footerOf(shown: FooterState, columns: number, style: Style): Footer {
  const { session, note, choosing, readOnly, text, cursor } = shown;
  const room = Math.max(20, columns - 1);
  const drawn = (lines: readonly Line[]) => lines.map(([line, paint]) => style(paint, fitted(line, room)));
  const [prompt] = session ? questionsOf(session) : [];
  const above: Line[] = [
    ...(prompt && session?.status === 'waiting' ? [[''] as const, ...questionLines(prompt)] : []),
    [''],
    stateLine(shown),
    ...(session?.held ? [[heldLine(session.held)] as const] : []),
    ...(choosing ? [[`It’s still open at the desk. ${ways}`] as const] : []),
    ...(note === '' ? [] : [[note, 'dim'] as const]),
  ];
  if (readOnly) return { lines: drawn([...above, ['Ctrl-D leaves', 'dim']]), row: above.length, column: 0 };
  const rows = text.split('\n');
  const before = [...text].slice(0, cursor).join('').split('\n');
  const at = before.length - 1;
  const first = Math.max(0, at - mostTextLines + 1);
  const typed = rows.slice(first, first + mostTextLines).map((row, index) => {
    const sign = first + index === 0 ? '› ' : '  ';
    const shift = first + index === at ? Math.max(0, widthOf(before[at]!) - room + 4) : 0;
    return `${sign}${[...plain(row)].slice(shift).join('')}`;
  });
  const shift = Math.max(0, widthOf(before[at]!) - room + 4);
  const hints = 'Enter sends · Ctrl-C stops the agent · Ctrl-D leaves · /diff /queue /stop /desk /take /help';
  const lines = drawn([...above, ...typed.map((line): Line => [line]), [hints, 'dim']]);
  return { lines, row: above.length + at - first, column: 2 + widthOf(before[at]!) - shift };
}
