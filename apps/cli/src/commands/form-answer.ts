/** Form values on the command line: `--field name=value`, once per field. */
import { type FieldValues, type Prompt, formProblem } from '@relay/protocol';
import { usage } from '../failure.ts';

type Field = NonNullable<Prompt['fields']>[number];

const yes = new Set(['true', 'yes', 'y', '1']);
const no = new Set(['false', 'no', 'n', '0']);

/** Also accepts choices by label. @throws Failure BAD_USAGE */
export function fieldValuesOf({ fields }: Prompt, typed: readonly string[]): FieldValues {
  if (!fields) throw usage('This question has no fields: answer with --option or a text.');
  const values = new Map<string, FieldValues[string]>();
  for (const one of typed) {
    const at = one.indexOf('=');
    const name = one.slice(0, at).trim();
    const field = fields.find((candidate) => candidate.name === name) ?? fields.find(({ title }) => title === name);
    if (at < 1 || !field)
      throw usage(`--field must be name=value, with one of ${fields.map((candidate) => candidate.name).join(', ')}.`);
    values.set(field.name, valueOf(field, one.slice(at + 1)));
  }
  const given = Object.fromEntries(values);
  const problem = formProblem(fields, given);
  if (problem !== undefined) throw usage(problem);
  return given;
}

function valueOf(field: Field, words: string): FieldValues[string] {
  const { type, choices = [] } = field;
  const idOf = (word: string) =>
    choices.find(({ id }) => id === word)?.id ??
    choices.find(({ label }) => label.toLowerCase() === word.toLowerCase())?.id ??
    word;
  const text = words.trim();
  switch (type) {
    case 'boolean':
      if (yes.has(text.toLowerCase())) return true;
      return no.has(text.toLowerCase()) ? false : words;
    case 'number':
    case 'integer':
      return text !== '' && Number.isFinite(Number(text)) ? Number(text) : words;
    case 'choices':
      return text === '' ? [] : text.split(',').map((word) => idOf(word.trim()));
    case 'choice':
      return idOf(text);
    default:
      return words;
  }
}
