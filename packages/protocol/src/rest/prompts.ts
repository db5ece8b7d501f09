/** The answer to one question of an agent, and the refusals that are particular to it. camelCase, times in UTC. */
import { type Static, count, id, limits, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { FieldValues } from '../transcript/index.ts';
import { Message, Prompt } from './conversation.ts';

export const AnswerPrompt = record(
  'AnswerPrompt',
  'The answer to a question: an option, words, or the fields of a form.',
  {
    option: maybe(id('Id of the option')),
    text: maybe(text('Words, where the question takes them', { minLength: 1, maxLength: limits.messageBytes })),
    fields: maybe(FieldValues),
    digest: maybe(text('`digest` of the question as it was shown', { maxLength: 64 })),
    on: maybe(text('The program in which it is given, for people', { maxLength: limits.nameCharacters })),
  },
);

export const AnsweredPrompt = record('AnsweredPrompt', 'The answer was accepted, and no other one will be.', {
  sessionId: sessionId('Canonical session id'),
  promptId: id('The question'),
  taskId: id('The task that carries the answer'),
  message: Message,
});

export const PromptRefusal = record('PromptRefusal', 'Why an answer was not accepted.', {
  error: line('For people'),
  code: line('Stable code'),
  status: count('HTTP status'),
  answer: maybe(
    record('GivenAnswer', 'The answer that came first, of a question that was answered.', {
      option: maybe(id('Id of the option')),
      label: maybe(line('Its text, while the question is kept')),
      at: time('When'),
      by: maybe(line('Who')),
      on: maybe(line('The address whose notification, or the program, it was given in')),
    }),
  ),
  prompts: maybe(list(Prompt, 'The open questions, oldest first', { maxItems: limits.promptOptions })),
});

export const GiveAnswer = record('GiveAnswer', 'The rest of an answer whose question and option are in its token.', {
  text: maybe(text('The words, with a token for words', { minLength: 1, maxLength: limits.messageBytes })),
});

const answerOutcomes = ['sent', 'queued'] as const;

export const GivenByToken = record('GivenByToken', 'The answer was accepted, and no other one will be.', {
  sessionId: sessionId('Canonical session id'),
  promptId: id('The question'),
  outcome: oneOf(answerOutcomes, '`queued`: the machine is offline, and the answer waits for it'),
  queuedUntil: maybe(time('How long it waits, while `queued`')),
});

/** The kinds of answer; a request gives exactly one of the three. */
export const answerKinds = ['option', 'text', 'fields'] as const;

export type AnswerPrompt = Static<typeof AnswerPrompt>;
export type AnsweredPrompt = Static<typeof AnsweredPrompt>;
export type GivenByToken = Static<typeof GivenByToken>;
export type PromptRefusal = Static<typeof PromptRefusal>;
