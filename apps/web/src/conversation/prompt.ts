/** Facts about a question: whether it is dangerous, and the meaning of its choices. */
import type { Message, Prompt } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { visibleText } from '../ui/visible.ts';

export type Option = Prompt['options'][number];

/** True for a command that cannot be undone: the safe answer comes first then. */
export const isDestructive = (command: string): boolean =>
  /\brm\s+(?:-\w+\s+)*-\w*[rf]|\bgit\s+push\b.*(?:--force|\s-f\b)|\bgit\s+reset\s+--hard|\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bmkfs|\bdd\s+if=/i.test(
    command,
  );

export const isNo = ({ kind }: Option): boolean => kind === 'reject_once' || kind === 'reject_always';

/** Labels that repeat the kind of the choice. */
const plain: Readonly<Record<string, readonly [RegExp, 'allowOnce' | 'reject' | 'allowAlways']>> = {
  allow_once: [/^(?:allow(?: once)?|yes|approve|accept|ok)\.?$/i, 'allowOnce'],
  reject_once: [/^(?:reject(?: once)?|no|deny|decline)\.?$/i, 'reject'],
  allow_always: [/^(?:always allow|allow always|always)\.?$/i, 'allowAlways'],
};

/** The catalogue's label for a choice, the same for every agent; an agent's own label if it adds something. */
export function labelOf({ kind, label }: Option): string {
  const [same, ours] = plain[kind ?? ''] ?? [];
  return same?.test(label.trim()) ? words.question[ours!] : visibleText(label);
}

/** The command and, after it, the folder where it would run. */
export const commandOf = ({ command = '', cwd = '' }: NonNullable<Prompt['subject']>): string =>
  visibleText([command, cwd === '' ? '' : `# ${cwd.replace(/[\r\n]/g, ' ')}`].filter(Boolean).join('\n'));

/** The most that a card shows of one text. */
const shownCharacters = 200;

const rawQuestionOf = ({ prompt, result }: Prompt): string => (prompt === '' ? result : prompt);

/** The question itself, as the agent wrote it. */
export const questionOf = (prompt: Prompt): string => visibleText(rawQuestionOf(prompt));

/** Names and values, which an answer repeats as they are. */
const kept = new Set(['id', 'name', 'default', 'digest', 'kind', 'type', 'expires', 'at']);

/** All shown texts of a question, with hidden characters made visible. Names and values that an answer repeats stay unchanged. */
export function shownOf<T>(value: T): T {
  if (typeof value === 'string') return visibleText(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => shownOf(one)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]: [string, unknown]) => [key, kept.has(key) ? one : shownOf(one)]),
  ) as T;
}

/** True when a card has room for all of the question. */
export const fitsCard = (prompt: Prompt): boolean => questionOf(prompt).length <= shownCharacters;

/** Invisible characters and direction marks can change the text that a person reads. */
const isHiding = (text: string) => /[^\n\P{C}]|[\p{Zl}\p{Zp}]/u.test(text) || visibleText(text) !== text;

/** Allow once and reject, where all that is allowed is on a card: the question, and a short command. */
export function quickAnswers(prompt: Prompt): { allow: Option; reject: Option } | undefined {
  const { subject, context, options, id, digest } = prompt;
  const allow = options.find(({ kind }) => kind === 'allow_once');
  const reject = options.find(({ kind }) => kind === 'reject_once');
  const command = subject?.command ?? '';
  if (id === undefined || digest === undefined || allow?.id === undefined || reject?.id === undefined) return undefined;
  if (subject?.diffs !== undefined || command.length > shownCharacters || !fitsCard(prompt)) return undefined;
  const shown = `${rawQuestionOf(prompt)}\n${command}`;
  if (![context, subject?.tool, subject?.input].every((text) => shown.includes(text ?? ''))) return undefined;
  return isHiding(shown) || isDestructive(shown) ? undefined : { allow, reject };
}

/** The messages without the texts of open questions, which a card shows: a message comes before the item of its question. */
export const withoutQuestions = (
  messages: readonly Message[],
  open: readonly Pick<Prompt, 'id' | 'prompt'>[],
): readonly Message[] =>
  messages.filter(
    ({ uuid, role, content, part }) =>
      role !== 'AGENT' ||
      part?.kind === 'question' ||
      open.every(({ id, prompt }) => uuid !== id && !`${content}\n`.startsWith(`${prompt}\n`)),
  );
