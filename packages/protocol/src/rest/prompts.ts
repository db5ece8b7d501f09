/** The answer to one question of an agent, and the refusals that are particular to it. camelCase, times in UTC. */
import { type Static, count, id, limits, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { FieldValues } from '../transcript/index.ts';
import { Message, Prompt } from './conversation.ts';

export const AnswerPrompt = record(
  'AnswerPrompt',
  'The answer to a question: an option, a text, or the fields of a form.',
  {
    option: maybe(id('Id of the option')),
    text: maybe(text('Text, if the question accepts one', { minLength: 1, maxLength: limits.messageBytes })),
    fields: maybe(FieldValues),
    digest: maybe(text('`digest` of the question that was shown', { maxLength: 64 })),
    on: maybe(text('The program in which the person answers, for display', { maxLength: limits.nameCharacters })),
  },
);

export const AnsweredPrompt = record(
  'AnsweredPrompt',
  'The relay accepted the answer and accepts no other answer to this question.',
  {
    sessionId: sessionId('Canonical session id'),
    promptId: id('The question'),
    taskId: id('The task that carries the answer'),
    message: Message,
  },
);

export const PromptRefusal = record('PromptRefusal', 'Why the relay refused an answer.', {
  error: line('Text for people'),
  code: line('Stable code'),
  status: count('HTTP status'),
  answer: maybe(
    record('GivenAnswer', 'The first answer, if the question is already answered.', {
      option: maybe(id('Id of the option')),
      label: maybe(line('Its text, while the relay keeps the question')),
      at: time('When'),
      by: maybe(line('Who')),
      on: maybe(line('The program in which it was given, or the address whose notification was used')),
    }),
  ),
  prompts: maybe(list(Prompt, 'The open questions, oldest first', { maxItems: limits.promptOptions })),
});

export const GiveAnswer = record(
  'GiveAnswer',
  'The rest of an answer; its token contains the question and the option.',
  {
    text: maybe(text('The text, with a token for a text answer', { minLength: 1, maxLength: limits.messageBytes })),
  },
);

const answerOutcomes = ['sent', 'queued'] as const;

export const GivenByToken = record(
  'GivenByToken',
  'The relay accepted the answer and accepts no other answer to this question.',
  {
    sessionId: sessionId('Canonical session id'),
    promptId: id('The question'),
    outcome: oneOf(answerOutcomes, '`queued`: the machine is offline, and the answer waits for it'),
    queuedUntil: maybe(time('When the answer expires, while `queued`')),
  },
);

/** The kinds of answer; a request gives exactly one of the three. */
export const answerKinds = ['option', 'text', 'fields'] as const;

export type AnswerPrompt = Static<typeof AnswerPrompt>;
export type AnsweredPrompt = Static<typeof AnsweredPrompt>;
export type GivenByToken = Static<typeof GivenByToken>;
export type PromptRefusal = Static<typeof PromptRefusal>;
