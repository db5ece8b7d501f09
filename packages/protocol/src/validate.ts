/** Schema → validator. The only file that knows ajv. A refusal is one sentence that names the field. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formatsModule from 'ajv-formats';
import type { Static, TSchema } from '@sinclair/typebox';

export type Checked<T> = { ok: true; value: T } | { ok: false; reason: string };
export type Validator<T> = (value: unknown) => Checked<T>;

const addFormats = formatsModule as unknown as (ajv: Ajv) => void;

const createAjv = ({ coerceTypes = false, unicode = true }) => {
  const ajv = new Ajv({ strict: false, coerceTypes, useDefaults: coerceTypes, addUsedSchema: false });
  addFormats(ajv);
  // Not a constructor option, because the constructor warns that ajv might remove it. Tests notice the removal.
  Object.assign(ajv.opts, { unicode });
  return ajv;
};
// Compilers hold no state between calls that a caller could see: schemas are never registered by name.
const bodies = createAjv({});
const queries = createAjv({ coerceTypes: true });
// Lengths in UTF-16 units, as strings know them: counting code points would walk over every text of every frame.
const frames = createAjv({ unicode: false });

/**
 * Returns a function that checks whether a value fits the schema, and if not, names the field and the reason. Compiled on first
 * use. With `coerce` (query strings) numbers are read from text, and the value is changed in place. For `frames` a character
 * is a UTF-16 unit, elsewhere a code point.
 */
export function validator<S extends TSchema>(
  schema: S,
  options: { coerce?: boolean; frames?: boolean } = {},
): Validator<Static<S>> {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= (options.coerce ? queries : options.frames ? frames : bodies).compile(schema);
    if (check(value)) return { ok: true, value: value as Static<S> };
    return { ok: false, reason: reasonOf(check.errors ?? []) };
  };
}

/** The same question about a part of a frame, without the reason: for callers that meet wrong values by the million. */
export function predicate<S extends TSchema>(schema: S): (value: unknown) => value is Static<S> {
  let check: ValidateFunction | undefined;
  return (value): value is Static<S> => (check ??= frames.compile(schema))(value);
}

function reasonOf(errors: readonly ErrorObject[]): string {
  // Unions report each branch; the deepest, first error is the one a person means.
  const error = [...errors].sort((a, b) => b.instancePath.length - a.instancePath.length)[0];
  if (!error) return 'invalid';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'required') {
    const missing = (error.params as { missingProperty: string }).missingProperty;
    return `"${path ? `${path}.` : ''}${missing}" is required`;
  }
  if (error.keyword === 'additionalProperties') {
    const name = (error.params as { additionalProperty: string }).additionalProperty;
    return `"${path ? `${path}.` : ''}${name.slice(0, 64)}" is not known here`;
  }
  const subject = path ? `"${path}"` : 'the value';
  if (error.keyword === 'enum') {
    return `${subject} must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  }
  if (error.keyword === 'const') {
    return `${subject} must be ${JSON.stringify((error.params as { allowedValue: unknown }).allowedValue)}`;
  }
  return `${subject} ${error.message ?? 'is invalid'}`;
}

const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;
const hex2 = '[\\da-fA-F]{2}';
const escapes = new RegExp(
  `\\\\(?:u0000|u[dD][89abAB]${hex2}\\\\u[dD][c-fC-F]${hex2}|u[dD][89a-fA-F]${hex2}|[^u])`,
  'g',
);

/**
 * JSON.parse that removes characters PostgreSQL cannot store: deletes U+0000 from every text, and replaces half a
 * surrogate pair by U+FFFD.
 * Throws SyntaxError like JSON.parse. Takes any depth of nesting.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Most texts hold no such escape at all, and looking for two characters takes a tenth of the time.
  if (!text.includes('\\u') || !suspicious.test(text)) return value;
  // Works on the text, not with a reviver, which is recursive and slow. The text is known to be valid JSON by now, so every
  // escape is whole and taking one out cannot make a new one of its neighbours.
  const storable = text.replace(escapes, (escape) => {
    if (escape === '\\u0000') return '';
    const half = escape.length === 6;
    return half ? '\\ufffd' : escape;
  });
  return storable === text ? value : JSON.parse(storable);
}
