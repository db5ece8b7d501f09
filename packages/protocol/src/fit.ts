/**
 * Cuts a value from the field to the bounds of its schema, so that one text that is too long does not cost the frame around
 * it (rules, 1.10). Called only for values that did not pass: a frame within its bounds never gets here.
 */
import { type TSchema, overlong } from './schema.ts';

type Node = TSchema & {
  [overlong]?: 'unknown' | 'first' | 'last';
  type?: string | string[];
  maxLength?: number;
  maxItems?: number;
  minLength?: number;
  pattern?: string;
  items?: TSchema;
  properties?: Readonly<Record<string, TSchema>>;
};

const lowSurrogate = /^[\udc00-\udfff]/;

/** At most `length` UTF-16 units, never half a pair. */
function cutAt(text: string, length: number): string {
  return text.slice(0, lowSurrogate.test(text.charAt(length)) ? length - 1 : length);
}

/** A copy within the bounds; the same value where nothing was too long, or where it must not be shortened. */
function shortened(schema: Node, value: unknown, count: () => void): unknown {
  if (typeof value === 'string') {
    if (schema.maxLength === undefined || value.length <= schema.maxLength) return value;
    // An id or a name: cut, it would be another one.
    if (schema.minLength !== undefined || schema.pattern !== undefined) return value;
    count();
    return schema[overlong] === 'unknown' ? null : cutAt(value, schema.maxLength);
  }
  if (Array.isArray(value)) {
    let items: unknown[] = value;
    const keep = schema[overlong];
    if (schema.maxItems !== undefined && items.length > schema.maxItems && keep !== undefined) {
      items = keep === 'last' ? items.slice(-schema.maxItems) : items.slice(0, schema.maxItems);
      count();
    }
    return schema.items ? items.map((item) => shortened(schema.items!, item, count)) : items;
  }
  if (typeof value === 'object' && value !== null) fit(schema, value as Record<string, unknown>, count);
  return value;
}

/** Shortens the known fields of `value` in place. Calls `count` once for everything that was shortened. */
export function fit(schema: TSchema, value: Record<string, unknown>, count: () => void): void {
  for (const [name, field] of Object.entries((schema as Node).properties ?? {})) {
    if (Object.hasOwn(value, name)) value[name] = shortened(field, value[name], count);
  }
}
