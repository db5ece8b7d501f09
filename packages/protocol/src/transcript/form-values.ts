/**
 * Whether values fit the fields of a form. An app asks before it sends an answer, the relay before it accepts one, the daemon before it applies
 * one. Pure.
 */
import type { FieldValues, QuestionField } from './question.ts';

export interface FieldProblem {
  /** `range`: of a number, of the length of a text, or of the count of a list. */
  kind: 'missing' | 'boolean' | 'number' | 'integer' | 'choice' | 'choices' | 'text' | 'range';
  /** Set with `range`: the bounded quantity. */
  of?: 'a value' | 'a length' | 'a count';
}

/** Why the value does not fit the field; undefined if it fits. `value`: undefined if missing. */
export function fieldProblem(field: QuestionField, value: FieldValues[string] | undefined): FieldProblem | undefined {
  if (value === undefined) return field.required ? { kind: 'missing' } : undefined;
  const { type, choices, text, min = -Infinity, max = Infinity } = field;
  const isChoice = (one: string) => text === true || !choices || choices.some(({ id }) => id === one);
  const within = (size: number, of: 'a value' | 'a length' | 'a count'): FieldProblem | undefined =>
    size < min || size > max ? { kind: 'range', of } : undefined;
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : { kind: 'boolean' };
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value)))
        return { kind: type === 'integer' ? 'integer' : 'number' };
      return within(value, 'a value');
    case 'choices':
      if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && isChoice(one)))
        return { kind: 'choices' };
      return within(value.length, 'a count');
    case 'choice':
      return typeof value === 'string' && isChoice(value) ? undefined : { kind: 'choice' };
    default:
      return typeof value === 'string' ? within([...value].length, 'a length') : { kind: 'text' };
  }
}

/** The reason why the values do not fit, as a sentence; undefined when they fit. */
export function formProblem(fields: readonly QuestionField[], given: FieldValues): string | undefined {
  const names = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !names.has(name));
  if (unknown !== undefined) return `The question has no field "${unknown.slice(0, 100)}".`;
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    const problem = fieldProblem(field, value);
    if (problem) return `The field "${field.name}" ${sentenceOf(problem, field)}.`;
  }
  return undefined;
}

function sentenceOf({ kind, of }: FieldProblem, { min, max }: QuestionField): string {
  switch (kind) {
    case 'missing':
      return 'is missing';
    case 'boolean':
      return 'must be true or false';
    case 'number':
    case 'integer':
      return `must be a ${kind}`;
    case 'choices':
      return 'must be a list of its choices';
    case 'choice':
      return 'must be one of its choices';
    case 'text':
      return 'must be a text';
    case 'range':
      if (min !== undefined && max !== undefined) return `must have ${of} from ${min} to ${max}`;
      return min === undefined ? `must have ${of} of at most ${max}` : `must have ${of} of at least ${min}`;
  }
}
