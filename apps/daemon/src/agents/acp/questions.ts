/**
 * The common part of every question of an agent. Pure: a request of ACP becomes a question for the user (`permission.ts`, `form.ts`), the
 * words of the user become a response for the agent.
 */
import type { Question, Turn } from '@relay/daemon-kit';
import type { FieldValues } from '@relay/protocol';

/** The effect of the user's words on a question. */
export type Reply<R> =
  /** The agent continues with this. */
  | { kind: 'answer'; response: R; rejected?: boolean }
  /** The question in its current form must be asked before the agent can continue. `why`: these words did not answer the one before. */
  | { kind: 'ask'; why?: string }
  /** No answer: the request is declined, and the words are the next message of the conversation. */
  | { kind: 'decline'; response: R };

export interface Asking<R> {
  /** The question in its current form. `said`: the agent's words before it. */
  question(said: string): Question;
  reply(words: string): Reply<R>;
  /** The same for the id of an option; undefined when there is none with it. Without it the numbers of the options are their ids. */
  choose?(option: string): Reply<R> | undefined;
  /** The same for the values of its fields; undefined where it has none. */
  fill?(values: FieldValues): Reply<R> | undefined;
  /** The response when the turn was cancelled. */
  cancelled: R;
}

/** The reply that an answer gives to a question: by the values of its fields, by the id of an option, else by its words. */
export function replyOf<R>(
  asking: Asking<R>,
  words: string,
  { option, fields }: Partial<NonNullable<Turn['answer']>>,
): Reply<R> | undefined {
  if (fields !== undefined) return asking.fill?.(fields);
  if (option === undefined) return asking.reply(words);
  if (asking.choose) return asking.choose(option);
  const label = (asking.question('').options ?? [])[Number(option) - 1];
  return label === undefined ? undefined : asking.reply(label);
}

/**
 * A question as people see it. Its text in the conversation is complete, so that the answer can be understood afterwards: the earlier
 * words, the question, and its subject.
 */
export const questionOf = (said: string, prompt: string, about: string, options: readonly string[]): Question => ({
  prompt,
  result: [said, prompt, about].filter((text) => text.trim() !== '').join('\n\n'),
  options,
});
