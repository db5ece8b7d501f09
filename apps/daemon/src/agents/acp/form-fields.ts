/**
 * The fields of a form as ACP describes them (a part of JSON Schema), and the conversion of typed text into their
 * values. Pure.
 */
import type { ElicitationContentValue } from '@agentclientprotocol/sdk';
import { type FieldValues, type QuestionField, limits } from '@relay/protocol';
import { type Fields, chosen, keepHead, listOf, recordOf, wordsOf } from '@relay/daemon-kit';

export interface FormField {
  name: string;
  title: string;
  description: string;
  /** Its schema, for type, bounds and default. */
  schema: Fields;
  required: boolean;
  /** Choices: the label shown, the agent's value, and a description. */
  choices: { label: string; value: ElicitationContentValue; about: string }[];
  /** The field for text that matches none of the choices; if absent, such text is rejected. */
  words?: string;
}

/** The value parsed from the text, or the reason for rejecting it. */
type Value = { value: ElicitationContentValue } | { why: string };

/**
 * Returns the fields in order. A field that only accepts free text instead of a choice becomes part of the field with
 * the choices.
 */
export function fieldsOf(schema: Fields): FormField[] {
  const properties = recordOf(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(properties).map(([name, value]): FormField => {
    const property = recordOf(value);
    const choices = choicesOf(property);
    const words = choices.length > 0 ? ownWordsOf(name, properties) : undefined;
    return {
      name,
      title: wordsOf(property.title),
      description: wordsOf(property.description),
      schema: property,
      required: required.includes(name),
      choices,
      ...(words === undefined ? {} : { words }),
    };
  });
  const beside = new Set(fields.map(({ words }) => words));
  return fields.filter(({ name }) => !beside.has(name));
}

/** Finds the free-text field by the name Claude Code gives it, or by Codex's note on it. */
function ownWordsOf(name: string, properties: Fields): string | undefined {
  return Object.entries(properties).find(
    ([other, value]) =>
      other === `${name}_custom` || recordOf(recordOf(recordOf(value)._meta).codex).questionId === name,
  )?.[0];
}

function choicesOf(property: Fields): FormField['choices'] {
  if (property.type === 'boolean')
    return [
      { label: 'Yes', value: true, about: '' },
      { label: 'No', value: false, about: '' },
    ];
  const source = property.type === 'array' ? recordOf(property.items) : property;
  const titled = listOf(source.oneOf ?? source.anyOf).flatMap(({ const: value, title, description }) =>
    typeof value === 'string' ? [{ label: wordsOf(title) || value, value, about: wordsOf(description) }] : [],
  );
  if (titled.length > 0) return titled;
  const plain: unknown[] = Array.isArray(source.enum) ? source.enum : [];
  return plain.flatMap((value) => (typeof value === 'string' ? [{ label: value, value, about: '' }] : []));
}

/** Returns the default as people see it; empty without a default. */
export function defaultOf({ schema, choices }: FormField): string {
  const values: unknown[] = Array.isArray(schema.default) ? schema.default : [schema.default];
  return values
    .filter((value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    .map((value) => choices.find((choice) => choice.value === value)?.label ?? String(value))
    .join(', ');
}

/** The hints for an answer: the meaning of the choices, the bounds, the default. */
export function aboutField(field: FormField): string {
  const { choices, words } = field;
  const meanings = choices.flatMap(({ label, about }) => (about === '' ? [] : [`${label}: ${about}`]));
  const fallback = defaultOf(field);
  const own = words === undefined ? '' : 'Words of your own are an answer too.';
  return [...meanings, boundsOf(field), fallback && `Default: ${fallback}`, own].filter(Boolean).join('\n');
}

const formats: Readonly<Record<string, { is: (text: string) => boolean; name: string }>> = {
  email: { is: (text) => /^[^\s@]+@[^\s@]+$/.test(text), name: 'an e-mail address' },
  uri: { is: (text) => URL.canParse(text), name: 'a URL' },
  date: { is: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(text), name: 'a date like 2026-12-31' },
  'date-time': { is: (text) => /T/.test(text) && isTime(text), name: 'a time like 2026-12-31T18:00:00Z' },
};
const isTime = (text: string) => !Number.isNaN(Date.parse(text));

/** Returns a sentence; empty without bounds. */
function boundsOf({ schema, choices }: FormField): string {
  const { type } = schema;
  if (type === 'array') return `Choose ${range(schema.minItems, schema.maxItems, 'one or more')}, separated by commas.`;
  if (choices.length > 0) return '';
  if (type === 'integer' || type === 'number') {
    const what = type === 'integer' ? 'A whole number' : 'A number';
    return `${what}${range(schema.minimum, schema.maximum, '', ' ')}.`;
  }
  const length = range(schema.minLength, schema.maxLength, '');
  const format = formats[wordsOf(schema.format)]?.name;
  // Checked by the agent alone: a pattern of its own could keep this process busy forever.
  const pattern = wordsOf(schema.pattern);
  const parts = [length && `${length} characters`, format, pattern && `like ${pattern}`].filter(Boolean).join(', ');
  return parts === '' ? '' : `${parts[0]?.toUpperCase()}${parts.slice(1)}.`;
}

function range(from: unknown, to: unknown, otherwise: string, before = ''): string {
  const [low, high] = [numberOf(from), numberOf(to)];
  if (low !== undefined && high !== undefined) return `${before}from ${low} to ${high}`;
  if (low !== undefined) return `${before}at least ${low}`;
  return high === undefined ? otherwise : `${before}at most ${high}`;
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined);
const outside = (value: number, from: unknown, to: unknown) =>
  value < (numberOf(from) ?? -Infinity) || value > (numberOf(to) ?? Infinity);

export function valueOf(field: FormField, words: string): Value {
  const { schema, choices } = field;
  const labels = choices.map(({ label }) => label);
  if (schema.type === 'array') {
    const whole = chosen(words, labels);
    const picks = new Set(whole >= 0 ? [whole] : words.split(',').map((word) => chosen(word, labels)));
    if (picks.has(-1)) return { why: 'part of it is not among the choices' };
    if (outside(picks.size, schema.minItems, schema.maxItems)) return { why: boundsOf(field) };
    return { value: [...picks].map((pick) => String(choices[pick]?.value)) };
  }
  if (choices.length > 0) {
    const choice = choices[chosen(words, labels)];
    return choice ? { value: choice.value } : { why: 'it is not one of the choices' };
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    const number = Number(words);
    const fits =
      words.trim() !== '' && Number.isFinite(number) && (schema.type === 'number' || Number.isInteger(number));
    return fits && !outside(number, schema.minimum, schema.maximum) ? { value: number } : { why: boundsOf(field) };
  }
  const fits = formats[wordsOf(schema.format)]?.is(words.trim()) ?? true;
  return fits && !outside([...words].length, schema.minLength, schema.maxLength)
    ? { value: words }
    : { why: boundsOf(field) };
}

const short = (text: string) => keepHead(text, limits.promptOptionCharacters);

/** Returns the field as apps show it; undefined when it does not fit, so the agent asks for it as text. */
export function questionField(field: FormField): QuestionField | undefined {
  const { name, title, schema, required, choices, words } = field;
  const isList = schema.type === 'array';
  if (name === '' || name.length > limits.idCharacters || choices.length > limits.promptOptions) return undefined;
  // Texts of any kind in a list cannot be offered, and are not valid without choices.
  if (isList && choices.length === 0) return undefined;
  const isYesOrNo = schema.type === 'boolean';
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  const type = isYesOrNo ? 'boolean' : isList ? 'choices' : choices.length > 0 ? 'choice' : 'text';
  const [least, greatest] = isNumber
    ? [schema.minimum, schema.maximum]
    : isList
      ? [schema.minItems, schema.maxItems]
      : [schema.minLength, schema.maxLength];
  const format = formats[wordsOf(schema.format)]?.name;
  const about = [field.description, format && `${format[0]?.toUpperCase()}${format.slice(1)}.`].filter(Boolean);
  const [min, max, fallback] = [numberOf(least), numberOf(greatest), defaultOf(field)];
  const offered = isYesOrNo ? [] : choices;
  return {
    name,
    title: short(title || name),
    type: isNumber && choices.length === 0 ? (schema.type as 'number' | 'integer') : type,
    ...(about.length === 0 ? {} : { about: short(about.join('\n')) }),
    ...(offered.length === 0
      ? {}
      : {
          choices: offered.map(({ label, value, about: meaning }) => ({
            id: short(String(value)),
            label: short(label),
            ...(meaning === '' ? {} : { about: short(meaning) }),
          })),
        }),
    ...(required ? { required } : {}),
    ...(words === undefined ? {} : { text: true }),
    ...(fallback === '' ? {} : { default: short(fallback) }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

/** The value for the agent of a value that an app gave for `questionField`. */
export function givenValue(field: FormField, given: FieldValues[string]): Value {
  const { schema, choices } = field;
  if (typeof given === 'boolean' || typeof given === 'number') return { value: given };
  const valueAt = (id: string) => choices.find(({ value }) => String(value) === id)?.value;
  if (Array.isArray(given)) {
    const values = given.map(valueAt);
    if (schema.type !== 'array' || values.includes(undefined)) return { why: 'part of it is not among the choices' };
    return { value: values.map(String) };
  }
  if (choices.length === 0) return valueOf(field, given);
  const value = valueAt(given);
  return value === undefined ? { why: 'it is not one of the choices' } : { value };
}
