/**
 * Decides whether an answer fits its question (rules, chapter 5), and writes it as text for a daemon that takes no choices. Reads
 * nothing.
 */
import type { NamedPrompt, PromptAnswer } from '@relay/database';
import {
  type AnswerPrompt,
  type FieldValues,
  type QuestionField,
  RelayError,
  answerKinds,
  formProblem,
} from '@relay/protocol';
import { checkMessage } from './accept.ts';

const invalid = (text: string) => new RelayError('INVALID_ANSWER', text);

/** The answer for the daemon. @throws RelayError INVALID_ANSWER, INVALID_REQUEST (blank text), PAYLOAD_TOO_LARGE */
export function judgeAnswer(prompt: NamedPrompt, given: AnswerPrompt): { content: string; answer: PromptAnswer } {
  if (answerKinds.filter((kind) => given[kind] !== undefined).length !== 1)
    throw invalid('Answer with exactly one of "option", "text" and "fields".');
  const seen = given.digest === undefined ? {} : { digest: given.digest };
  if (given.option !== undefined) {
    const option = prompt.options.find(({ id }) => id === given.option);
    if (!option) throw invalid('The question has no option with this id.');
    return { content: option.label, answer: { ...seen, option: given.option } };
  }
  if (given.fields !== undefined) {
    if (!prompt.fields) throw invalid('The question has no fields.');
    return { content: inWords(prompt.fields, given.fields), answer: { ...seen, fields: given.fields } };
  }
  const text = given.text ?? '';
  checkMessage(text, 'text');
  const takesWords = prompt.text === true || prompt.kind === undefined || prompt.kind === 'text';
  if (!takesWords) throw invalid('The question takes no words. Answer with one of its options or fields.');
  return { content: text, answer: seen };
}

/** The fields as lines. @throws RelayError INVALID_ANSWER for an unknown, missing or wrong field */
function inWords(fields: readonly QuestionField[], given: FieldValues): string {
  const problem = formProblem(fields, given);
  if (problem !== undefined) throw invalid(problem);
  const lines = fields.flatMap(({ name, title }) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return value === undefined ? [] : [`${title}: ${Array.isArray(value) ? value.join(', ') : String(value)}`];
  });
  const content = lines.join('\n') || '…';
  checkMessage(content, 'fields');
  return content;
}
