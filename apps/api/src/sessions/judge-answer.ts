/**
 * Whether an answer fits its question (transcript §7), and what it says in words: a daemon that takes no choices gets these. Reads nothing.
 */
import type { NamedPrompt, PromptAnswer } from '@relay/database';
import { type AnswerPrompt, type FieldValues, type QuestionField, RelayError, answerKinds } from '@relay/protocol';
import { checkMessage } from './accept.ts';

type Value = FieldValues[string];

const invalid = (text: string) => new RelayError('INVALID_ANSWER', text);

/** The answer for the daemon. @throws RelayError INVALID_ANSWER, INVALID_REQUEST (blank words), PAYLOAD_TOO_LARGE */
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

/** The fields as lines. @throws RelayError INVALID_ANSWER for one that is unknown, missing or wrong */
function inWords(fields: readonly QuestionField[], given: FieldValues): string {
  const names = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !names.has(name));
  if (unknown !== undefined) throw invalid(`The question has no field "${unknown.slice(0, 100)}".`);
  const lines = fields.flatMap((field) => {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    if (value === undefined) {
      if (field.required) throw invalid(`The field "${field.name}" is missing.`);
      return [];
    }
    const wrong = whatIsWrong(field, value);
    if (wrong) throw invalid(`The field "${field.name}" ${wrong}.`);
    return [`${field.title}: ${Array.isArray(value) ? value.join(', ') : String(value)}`];
  });
  const content = lines.join('\n') || '…';
  checkMessage(content, 'fields');
  return content;
}

function whatIsWrong(field: QuestionField, value: Value): string | undefined {
  const { type, choices, text, min = -Infinity, max = Infinity } = field;
  const isChoice = (one: string) => text === true || !choices || choices.some(({ id }) => id === one);
  const outside = (size: number, what: string) =>
    size < min || size > max ? `must have ${what} from ${min} to ${max}` : undefined;
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value))) return `must be a ${type}`;
      return outside(value, 'a value');
    case 'choices':
      if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && isChoice(one)))
        return 'must be a list of its choices';
      return outside(value.length, 'a count');
    case 'choice':
      return typeof value === 'string' && isChoice(value) ? undefined : 'must be one of its choices';
    default:
      return typeof value === 'string' ? outside([...value].length, 'a length') : 'must be a text';
  }
}
