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
    description: `${description}. Values: ${values.join(', ')}; new values can be added`,
  });
const number = (description: string) => Type.Number({ description });
const path = (description: string) => text(description, { maxLength: limits.pathCharacters });

export const Hunk = record('Hunk', 'Lines of a file that changed, as a unified diff has them.', {
  old: count('First line in the old file, from 1; 0 if the old file has no lines here'),
  new: count('First line in the new file, from 1; 0 if the new file has no lines here'),
  lines: list(text('Begins with a space, `-` or `+`', { maxLength: transcriptLimits.diffBytes }), 'Lines'),
});

export const Diff = record('DiffPart', 'The diff of one file.', {
  path: path('Path, relative to the project if it is inside the project'),
  change: word(['add', 'edit', 'delete', 'move'], 'Kind of the change'),
  from: maybe(path('Path before a move')),
  added: count('Lines'),
  removed: count('Lines'),
  hunks: maybe(list(Hunk, 'Hunks; absent if the file is binary or too large')),
});

export const Subject = record('Subject', 'The subject of a permission.', {
  type: word(['command', 'edit', 'tool'], 'Kind'),
  command: maybe(text('The command', { maxLength: transcriptLimits.inputBytes })),
  cwd: maybe(path('Working directory of the command')),
  diffs: maybe(list(Diff, 'Intended changes', { maxItems: transcriptLimits.diffFiles })),
  tool: maybe(line('Name of the tool')),
  input: maybe(text('Summary of its input', { maxLength: transcriptLimits.inputBytes })),
});

export const promptKinds = ['permission', 'choice', 'form', 'text'] as const;
export const optionKinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

export const QuestionOption = record('QuestionOption', 'A choice.', {
  id: id('Id, for the answer'),
  label: text('Text of the choice', { maxLength: limits.promptOptionCharacters }),
  kind: maybe(word(optionKinds, 'For a permission. Absent if the agent does not report it; the daemon never guesses')),
});

export const QuestionField = record('QuestionField', 'A field of a form.', {
  name: id('Id, for the answer'),
  title: text('Label for people', { maxLength: limits.promptOptionCharacters }),
  type: word(['text', 'number', 'integer', 'boolean', 'choice', 'choices'], 'Type of its value'),
  about: maybe(text('Description for people', { maxLength: limits.promptOptionCharacters })),
  choices: maybe(
    list(
      record('QuestionChoice', 'A possible value of a field.', {
        id: text('The value', { maxLength: limits.promptOptionCharacters }),
        label: text('Label for people', { maxLength: limits.promptOptionCharacters }),
        about: maybe(text('Description for people', { maxLength: limits.promptOptionCharacters })),
      }),
      'Choices',
      { maxItems: limits.promptOptions },
    ),
  ),
  required: maybe(flag('The field is required')),
  text: maybe(flag('The field also accepts text that is not among the choices')),
  default: maybe(text('As text', { maxLength: limits.promptOptionCharacters })),
  min: maybe(number('Minimum number, length or count')),
  max: maybe(number('Maximum number, length or count')),
});

export const QuestionReason = record(
  'QuestionReason',
  'Why the daemon itself asks (`person`), so that an app can ask in its own language. The options have the ids `continue`, `raise` and `stop`, or `take`, `wait`, `anyway` and `drop`.',
  {
    code: word(
      ['cap_session', 'cap_day', 'held', 'held_likely', 'held_shared', 'held_foreign'],
      'Reason: the session, or the sessions of the agent today, cost more than the cap; or another program has the session open: surely, possibly, in a server of several sessions, outside of a terminal',
    ),
    spent: maybe(number('Cost so far, in dollars')),
    next: maybe(number('The amount of `raise`, in dollars')),
    program: maybe(text('The other program', { maxLength: 200 })),
    state: maybe(word(['idle', 'busy', 'waiting', 'unknown'], 'Its state')),
    minutes: maybe(count('Minutes that it has been idle')),
  },
);

export const Question = record('Question', 'A question of the agent.', {
  uuid: id('Uuid of its item'),
  title: text('The question', { maxLength: limits.messageBytes }),
  kind: word(promptKinds, 'Kind'),
  options: list(QuestionOption, 'Choices; can be empty', { maxItems: limits.promptOptions }),
  text: maybe(flag('The question accepts a text as answer. A text rejects a permission and becomes the next message')),
  subject: maybe(Subject),
  fields: maybe(list(QuestionField, 'Fields of a form', { maxItems: transcriptLimits.fields })),
  person: maybe(flag('The daemon itself asks: an agent cannot answer, whatever its scopes')),
  reason: maybe(QuestionReason),
  expires: maybe(text('Deadline for the answer (ISO 8601)', { maxLength: limits.timeCharacters })),
  digest: maybe(
    text('First 32 hexadecimal digits of SHA-256 over the JSON of `[title, subject, options]`', { maxLength: 64 }),
  ),
});

/** The values that the app gave for the fields of a form, by name. */
export const FieldValues = Type.Unsafe<Record<string, string | number | boolean | string[]>>({
  type: 'object',
  maxProperties: transcriptLimits.fields,
  description: 'Values of a form by field name: a string, a number, true or false, or a list of strings',
});

export type Hunk = Static<typeof Hunk>;
export type Diff = Static<typeof Diff>;
export type Subject = Static<typeof Subject>;
export type Question = Static<typeof Question>;
export type QuestionOption = Static<typeof QuestionOption>;
export type QuestionField = Static<typeof QuestionField>;
export type FieldValues = Static<typeof FieldValues>;
