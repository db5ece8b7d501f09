/** Whether values fit the fields of a form. The relay asks before it accepts an answer, the daemon before it applies one. Pure. */
import type { FieldValues, QuestionField } from './question.ts';

/** The reason why they do not, as a sentence; undefined when they fit. */
export function formProblem(fields: readonly QuestionField[], given: FieldValues): string | undefined {
  const names = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !names.has(name));
  if (unknown !== undefined) return `The question has no field "${unknown.slice(0, 100)}".`;
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    if (value === undefined && field.required) return `The field "${field.name}" is missing.`;
    const wrong = value === undefined ? undefined : whatIsWrong(field, value);
    if (wrong) return `The field "${field.name}" ${wrong}.`;
  }
  return undefined;
}

function whatIsWrong(field: QuestionField, value: FieldValues[string]): string | undefined {
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
