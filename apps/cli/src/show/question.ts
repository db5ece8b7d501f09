/** Formats an agent's question: its numbered choices, its subject, and the command that answers exactly this question. */
import type { Prompt, Session } from '@relay/protocol';
import { nameOf } from '../naming.ts';
import { diffText } from './diff.ts';
import { fieldsOf, listOf, textOf } from './shape.ts';
import type { Style } from './style.ts';
import { fitted, oneLine, plain } from './text.ts';
import { clockTime } from './times.ts';

const shortest = 8;
/** Maximum lines of the diff in question. */
const diffLines = 200;

/** Returns every open question, oldest first, including those from a relay that supports only one. */
export const questionsOf = ({ prompt, prompts }: Pick<Session, 'prompt' | 'prompts'>): readonly Prompt[] =>
  prompts && prompts.length > 0 ? prompts : prompt ? [prompt] : [];

/** Returns the shortest unique prefix of the id among the open questions. */
function shortIdOf(id: string, open: readonly Prompt[]): string {
  let length = shortest;
  const isTaken = () => open.some((other) => other.id !== id && other.id?.startsWith(id.slice(0, length)));
  while (length < id.length && isTaken()) length += 1;
  return id.slice(0, length);
}

/** Describes the action in question: the command, the files, or the tool with its input. */
function subjectText(subject: unknown, style: Style): string {
  const { command, cwd, diffs, tool, input } = fieldsOf(subject);
  const lines: string[] = [];
  const where = textOf(cwd) === '' ? '' : style('dim', `  (in ${fitted(oneLine(textOf(cwd)), 200)})`);
  if (textOf(command) !== '') lines.push(`  $ ${plain(textOf(command)).trim().replaceAll('\n', '\n    ')}${where}\n`);
  if (textOf(tool) !== '') lines.push(`  ${fitted(oneLine(textOf(tool)), 200)}\n`);
  if (textOf(input) !== '') lines.push(`  ${plain(textOf(input)).trim().replaceAll('\n', '\n  ')}\n`);
  return lines.join('') + diffText(diffs, { style, mostLines: diffLines, indent: '  ' });
}

const fieldsText = (fields: unknown): string =>
  listOf(fields, 100)
    .map((field) => {
      const { title, name, type, required, choices } = fieldsOf(field);
      const kind = [textOf(type), required === true ? 'required' : ''].filter((word) => word !== '').join(', ');
      const values = listOf(choices, 100).map((choice) => fitted(oneLine(textOf(fieldsOf(choice).id)), 60));
      const offered = values.length === 0 ? '' : `: ${fitted(values.join(', '), 300)}`;
      const key =
        textOf(name) === '' || textOf(name) === textOf(title) ? '' : `${fitted(oneLine(textOf(name)), 100)}: `;
      const about = kind === '' ? '' : ` (${oneLine(kind)})`;
      return `  - ${key}${fitted(oneLine(textOf(title) || textOf(name)), 200)}${about}${offered}\n`;
    })
    .join('');

/** Formats one of a session's open questions, without a trailing line break. */
export function promptText(
  prompt: Prompt,
  sessionId: string,
  style: Style,
  open: readonly Prompt[] = [prompt],
): string {
  const { id, context, options, subject, fields, expires, text } = prompt;
  const title = plain(prompt.prompt).trim();
  const number = open.indexOf(prompt) + 1;
  const which = open.length > 1 && number > 0 ? ` (${number} of ${open.length})` : '';
  const until = expires === undefined ? '' : style('dim', ` (until ${clockTime(oneLine(expires))})`);
  const what = subjectText(subject, style);
  // The subject contains the same in parts.
  const about = what === '' && context && !prompt.prompt.includes(context) ? `${plain(context).trim()}\n` : '';
  const choices = options.map(({ label }, index) => `  ${index + 1}) ${oneLine(label)}\n`).join('');
  const isForm = listOf(fields, 1).length > 0;
  const how = isForm ? '--field <name>=<value> …' : options.length > 0 ? '--option <number>' : '<text>';
  const words =
    options.length === 0 || text !== true
      ? ''
      : isForm
        ? ', or field by field with --option or a text'
        : ', or a text instead of --option';
  // An answer typed later must not reach a newer question.
  const bound = id === undefined ? '' : ` --question ${oneLine(shortIdOf(id, open))}`;
  return `\n${style('yellow', `The agent asks${which}:`)} ${title}${until}\n${about}${what}${fieldsText(fields)}${choices}Answer with: relay answer ${nameOf(sessionId)}${bound} ${how}${words}`;
}
