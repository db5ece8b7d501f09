/**
 * The common part of every question of an agent. Pure: a request of ACP becomes a question for the user (`permission.ts`, `form.ts`), the
 * words of the user become a response for the agent.
 */
import type { Question } from '@relay/daemon-kit';

/** What the words of the user make of a question. */
export type Reply<R> =
  /** The agent goes on with this. */
  | { kind: 'answer'; response: R; rejected?: boolean }
  /** The question as it stands now must be asked before the agent can go on. `why`: these words were no answer to the one before. */
  | { kind: 'ask'; why?: string }
  /** No answer: the agent is told no, and the words are the next message of the conversation. */
  | { kind: 'decline'; response: R };

export interface Asking<R> {
  /** The question as it stands now. `said` is what the agent said before it. */
  question(said: string): Question;
  reply(words: string): Reply<R>;
  /** The same for the id of an option; undefined when there is none with it. Without it the numbers of the options are their ids. */
  choose?(option: string): Reply<R> | undefined;
  /** The response when the turn was cancelled. */
  cancelled: R;
}

/**
 * A question as people see it. What they read in the conversation holds all of it, so that it shows afterwards what was answered: what was
 * said, the question, and what it is about.
 */
export const questionOf = (said: string, prompt: string, about: string, options: readonly string[]): Question => ({
  prompt,
  result: [said, prompt, about].filter((text) => text.trim() !== '').join('\n\n'),
  options,
});
