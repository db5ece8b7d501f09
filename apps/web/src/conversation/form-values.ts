/** The entries of a form, and the values that they mean. Pure. */
import type { FieldValues, Prompt } from '@relay/protocol';

export type FormField = NonNullable<Prompt['fields']>[number];

/** The entry of one field. */
export interface FieldEntry {
  /** The typed part: a text, a number, or free text beside the choices. */
  typed: string;
  /** Ids of the choices; of a yes-or-no field `true` or `false`. */
  picked: string[];
  /** "Something else" is chosen. */
  own: boolean;
}
export type Entries = Record<string, FieldEntry>;

export const empty: FieldEntry = { typed: '', picked: [], own: false };

/** Starts with the field's default, which the daemon sends as text. */
export function firstEntry({ type, choices = [], default: words = '' }: FormField): FieldEntry {
  if (words === '') return empty;
  const same = (one: string, other: string) => one.trim().toLowerCase() === other.trim().toLowerCase();
  const idOf = (text: string) => choices.find(({ id, label }) => same(id, text) || same(label, text))?.id;
  switch (type) {
    case 'boolean':
      return same(words, 'yes') || same(words, 'true')
        ? { ...empty, picked: ['true'] }
        : same(words, 'no') || same(words, 'false')
          ? { ...empty, picked: ['false'] }
          : empty;
    case 'choice': {
      const id = idOf(words);
      return id === undefined ? empty : { ...empty, picked: [id] };
    }
    case 'choices': {
      const whole = idOf(words);
      return { ...empty, picked: whole === undefined ? words.split(',').flatMap((one) => idOf(one) ?? []) : [whole] };
    }
    default:
      return { ...empty, typed: words };
  }
}

/** Undefined when nothing is given. */
export function valueOf({ type }: FormField, { typed, picked, own }: FieldEntry): FieldValues[string] | undefined {
  const words = typed.trim();
  switch (type) {
    case 'boolean':
      return picked[0] === undefined ? undefined : picked[0] === 'true';
    case 'number':
    case 'integer':
      return words === '' ? undefined : Number(words);
    case 'choice':
      return own ? words || undefined : picked[0];
    case 'choices': {
      const all = own && words !== '' ? [...picked, words] : picked;
      return all.length === 0 ? undefined : all;
    }
    default:
      return typed === '' ? undefined : typed;
  }
}

export function valuesOf(fields: readonly FormField[], entries: Entries): FieldValues {
  const given = fields.flatMap((field): [string, FieldValues[string]][] => {
    const value = valueOf(field, entries[field.name] ?? empty);
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(given);
}

/** The message that the relay makes of them. */
export const wordsOf = (fields: readonly FormField[], values: FieldValues): string =>
  fields
    .filter(({ name }) => Object.hasOwn(values, name))
    .map(({ name, title }) => {
      const value = values[name]!;
      return `${title}: ${Array.isArray(value) ? value.join(', ') : String(value)}`;
    })
    .join('\n') || '…';

/** The stored entries of this question; undefined if the browser stored nothing. They can have any shape. */
export function keptEntries(text: string, question: string): { entries: Entries; step: number } | undefined {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { id, entries, step } = (kept ?? {}) as { id?: unknown; entries?: unknown; step?: unknown };
  if (id !== question || typeof entries !== 'object' || entries === null || !Number.isSafeInteger(step))
    return undefined;
  const good = Object.entries(entries).filter((one): one is [string, FieldEntry] => {
    const entry: unknown = one[1];
    const { typed, picked, own } = (entry ?? {}) as Partial<FieldEntry>;
    const isList = Array.isArray(picked) && picked.every((one) => typeof one === 'string');
    return typeof typed === 'string' && typeof own === 'boolean' && isList;
  });
  return { entries: Object.fromEntries(good), step: Math.max(0, Number(step)) };
}
