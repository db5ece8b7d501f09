/**
 * A question of an agent on the wire: in an item, with WAIT_FOR_USER, in PROMPT_OPEN. It has the uuid of its item and
 * never changes; a question that differs is a new question. Names are single lower-case identifiers, the same on every
 * plane.
 */
import { type Static, Type, count, flag, id, limits, line, list, maybe, record, text } from '../schema.ts';
import { transcriptLimits } from './bounds.ts';

/** An entry of a list that can grow: a receiver treats an unknown entry as absent. */
export const word = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number] | (string & {})>({
    type: 'string',
    maxLength: 64,
    description: `${description}: ${values.join(', ')}; others may come`,
  });
const number = (description: string) => Type.Number({ description });
const path = (description: string) => text(description, { maxLength: limits.pathCharacters });

export const Hunk = record('Hunk', 'Lines of a file that changed, as a unified diff has them.', {
  old: count('First line in the old file, from 1; 0 when it has none'),
  new: count('First line in the new file, from 1; 0 when it has none'),
  lines: list(text('Begins with a space, `-` or `+`', { maxLength: transcriptLimits.diffBytes }), 'Lines'),
});

export const Diff = record('DiffPart', 'The change of one file.', {
  path: path('Relative to the project where it is inside of it'),
  change: word(['add', 'edit', 'delete', 'move'], 'What happened to it'),
  from: maybe(path('Where it was before a move')),
  added: count('Lines'),
  removed: count('Lines'),
  hunks: maybe(list(Hunk, 'None when the file is binary or too large')),
});

export const Subject = record('Subject', 'The subject of a permission.', {
  type: word(['command', 'edit', 'tool'], 'Kind'),
  command: maybe(text('The command', { maxLength: transcriptLimits.inputBytes })),
  cwd: maybe(path('Where it would run')),
  diffs: maybe(list(Diff, 'What would change', { maxItems: transcriptLimits.diffFiles })),
  tool: maybe(line('Name of the tool')),
  input: maybe(text('What it would be given, as a summary', { maxLength: transcriptLimits.inputBytes })),
});

export const promptKinds = ['permission', 'choice', 'form', 'text'] as const;
export const optionKinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

export const QuestionOption = record('QuestionOption', 'A choice.', {
  id: id('Names it in an answer'),
  label: text('Text of the choice', { maxLength: limits.promptOptionCharacters }),
  kind: maybe(word(optionKinds, 'Of a permission. Absent when the agent does not say; never guessed')),
});

export const QuestionField = record('QuestionField', 'A field of a form.', {
  name: id('Names it in an answer'),
  title: text('For people', { maxLength: limits.promptOptionCharacters }),
  type: word(['text', 'number', 'integer', 'boolean', 'choice', 'choices'], 'What it takes'),
  about: maybe(text('More, for people', { maxLength: limits.promptOptionCharacters })),
  choices: maybe(
    list(
      record('QuestionChoice', 'A value that a field may have.', {
        id: text('The value', { maxLength: limits.promptOptionCharacters }),
        label: text('For people', { maxLength: limits.promptOptionCharacters }),
        about: maybe(text('More, for people', { maxLength: limits.promptOptionCharacters })),
      }),
      'Choices',
      { maxItems: limits.promptOptions },
    ),
  ),
  required: maybe(flag('It must be given')),
  text: maybe(flag('Other words than the choices are an answer too')),
  default: maybe(text('As words', { maxLength: limits.promptOptionCharacters })),
  min: maybe(number('Least number, length or count')),
  max: maybe(number('Greatest number, length or count')),
});

export const Question = record('Question', 'A question of the agent.', {
  uuid: id('Uuid of its item'),
  title: text('The question', { maxLength: limits.messageBytes }),
  kind: word(promptKinds, 'Kind'),
  options: list(QuestionOption, 'Choices; may be empty', { maxItems: limits.promptOptions }),
  text: maybe(flag('Words may answer. Words that answer a permission are a no, and the next message')),
  subject: maybe(Subject),
  fields: maybe(list(QuestionField, 'Of a form', { maxItems: transcriptLimits.fields })),
  expires: maybe(text('When it can no longer be answered (ISO 8601)', { maxLength: limits.timeCharacters })),
  digest: maybe(
    text('First 32 hexadecimal digits of SHA-256 over the JSON of `[title, subject, options]`', { maxLength: 64 }),
  ),
});

/** The values that the app gave for the fields of a form, by name. */
export const FieldValues = Type.Unsafe<Record<string, string | number | boolean | string[]>>({
  type: 'object',
  maxProperties: transcriptLimits.fields,
  description: 'Values of a form by the name of their field: a text, a number, true or false, or a list of texts',
});

export type Hunk = Static<typeof Hunk>;
export type Diff = Static<typeof Diff>;
export type Subject = Static<typeof Subject>;
export type Question = Static<typeof Question>;
export type QuestionOption = Static<typeof QuestionOption>;
export type QuestionField = Static<typeof QuestionField>;
export type FieldValues = Static<typeof FieldValues>;
