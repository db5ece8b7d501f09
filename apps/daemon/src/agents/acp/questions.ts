/**
 * The common part of every question of an agent. Pure: turns a request of ACP into a question for the user
 * (`permission.ts`, `form.ts`), and the user's message into a response for the agent.
 */
import type { Question, Turn } from '@relay/daemon-kit';
import type { FieldValues } from '@relay/protocol';

/** The effect of the user's message on a question. */
export type QuestionReply<R> =
  /** The agent continues with this. */
  | { kind: 'answer'; response: R; rejected?: boolean }
  /**
   * The question in its current form must be asked before the agent can continue. `why`: why the message did not answer
   * the previous form.
   */
  | { kind: 'ask'; why?: string }
  /** No answer: the request is declined, and the message is the next of the conversation. */
  | { kind: 'decline'; response: R };

export interface AgentQuestion<R> {
  /** The question in its current form. `before`: the agent's text before it. */
  question(before: string): Question;
  reply(words: string): QuestionReply<R>;
  /**
   * The reply for the id of an option; undefined for an unknown id. Where this method is missing, the numbers of the
   * options are their ids.
   */
  choose?(option: string): QuestionReply<R> | undefined;
  /** The reply for the values of its fields; undefined if the question has no fields. */
  fill?(values: FieldValues): QuestionReply<R> | undefined;
  /** The response when the turn was cancelled. */
  cancelled: R;
}

/** Returns the reply to a question: by the values of its fields, by the id of an option, else by the text. */
export function replyOf<R>(
  asking: AgentQuestion<R>,
  words: string,
  { option, fields }: Partial<NonNullable<Turn['answer']>>,
): QuestionReply<R> | undefined {
  if (fields !== undefined) return asking.fill?.(fields);
  if (option === undefined) return asking.reply(words);
  if (asking.choose) return asking.choose(option);
  const label = (asking.question('').options ?? [])[Number(option) - 1];
  return label === undefined ? undefined : asking.reply(label);
}

/**
 * A question as people see it. Its text in the conversation is complete, so that the answer makes sense later: the
 * earlier text, the question, and its subject.
 */
export const questionOf = (before: string, prompt: string, about: string, options: readonly string[]): Question => ({
  prompt,
  result: [before, prompt, about].filter((text) => text.trim() !== '').join('\n\n'),
  options,
});
