/** Facts about a question without showing it: whether it is dangerous, and what its choices mean. */
import type { Prompt } from '@relay/protocol';
import { words } from '../catalogue.ts';

export type Option = Prompt['options'][number];

/** True for a command that cannot be undone: the safe answer comes first then. */
export const isDestructive = (command: string): boolean =>
  /\brm\s+(?:-\w+\s+)*-\w*[rf]|\bgit\s+push\b.*(?:--force|\s-f\b)|\bgit\s+reset\s+--hard|\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bmkfs|\bdd\s+if=/i.test(
    command,
  );

export const isNo = ({ kind }: Option): boolean => kind === 'reject_once' || kind === 'reject_always';

/** Words that say no more than the kind of the choice does. */
const plain: Readonly<Record<string, readonly [RegExp, 'allowOnce' | 'reject' | 'allowAlways']>> = {
  allow_once: [/^(?:allow(?: once)?|yes|approve|accept|ok)\.?$/i, 'allowOnce'],
  reject_once: [/^(?:reject(?: once)?|no|deny|decline)\.?$/i, 'reject'],
  allow_always: [/^(?:always allow|allow always|always)\.?$/i, 'allowAlways'],
};

/** The same words for the same choice, whichever agent asks; where it says more, its own. */
export function labelOf({ kind, label }: Option): string {
  const [same, ours] = plain[kind ?? ''] ?? [];
  return same?.test(label.trim()) ? words.question[ours!] : label;
}

/** The most that a card shows of one text. */
const shownCharacters = 200;

/** The question itself, in the words of the agent. */
export const questionOf = ({ prompt, result }: Prompt): string => (prompt === '' ? result : prompt);

/** True when a card has room for all of the question. */
export const fitsCard = (prompt: Prompt): boolean => questionOf(prompt).length <= shownCharacters;

/** Characters that cannot be seen, or turn a text around, may change what is read. */
const isHiding = (text: string) => /[^\n\P{C}]|[\p{Zl}\p{Zp}]/u.test(text);

/** Allow once and reject, where all that is allowed is on a card: the question, and a short command. */
export function quickAnswers(prompt: Prompt): { allow: Option; reject: Option } | undefined {
  const { subject, context, options, id, digest } = prompt;
  const allow = options.find(({ kind }) => kind === 'allow_once');
  const reject = options.find(({ kind }) => kind === 'reject_once');
  const command = subject?.command ?? '';
  if (id === undefined || digest === undefined || allow?.id === undefined || reject?.id === undefined) return undefined;
  if (subject?.diffs !== undefined || command.length > shownCharacters || !fitsCard(prompt)) return undefined;
  const shown = `${questionOf(prompt)}\n${command}`;
  if (![context, subject?.tool, subject?.input].every((text) => shown.includes(text ?? ''))) return undefined;
  return isHiding(shown) || isDestructive(shown) ? undefined : { allow, reject };
}
