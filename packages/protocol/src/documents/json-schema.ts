/** Schemas as other documents want them: plain JSON, every titled object once, under `#/components/schemas/<title>`. */
import type { TSchema } from '../schema.ts';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };
export type JsonObject = { [key: string]: Json | undefined };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a schema is a record of its own, with a name that other schemas refer to. */
export const isNamed = (schema: unknown): schema is TSchema & { title: string } =>
  isObject(schema) && schema.type === 'object' && typeof schema.title === 'string';

export interface Components {
  /** A reference to the schema if it is named, else the schema itself with its named parts replaced by references. */
  refer: (schema: TSchema) => JsonObject;
  /** Everything referred to so far, by title. */
  schemas: () => JsonObject;
}

/**
 * Collects named schemas for one document. Throws TypeError when two different schemas have one name, because one of them
 * would silently vanish from the document.
 */
export function collectComponents(): Components {
  const found = new Map<string, { source: string; schema: JsonObject }>();

  const properties = (map: Record<string, unknown>): JsonObject =>
    Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, walk(schema)]));

  const body = (schema: Record<string, unknown>): JsonObject =>
    Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [
        key,
        (key === 'properties' || key === 'patternProperties') && isObject(value) ? properties(value) : walk(value),
      ]),
    );

  function walk(value: unknown): Json {
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value as Json;
    return isNamed(value) ? register(value) : body(value);
  }

  function register(schema: TSchema & { title: string }): JsonObject {
    const source = JSON.stringify(schema);
    const existing = found.get(schema.title);
    if (existing && existing.source !== source) throw new TypeError(`two schemas are called ${schema.title}`);
    if (!existing) {
      const place: { source: string; schema: JsonObject } = { source, schema: {} };
      found.set(schema.title, place);
      place.schema = body(schema);
    }
    return { $ref: `#/components/schemas/${schema.title}` };
  }

  return {
    refer: (schema) => walk(schema) as JsonObject,
    schemas: () => Object.fromEntries([...found].map(([title, { schema }]) => [title, schema])),
  };
}

/** An object of JSON from name and value pairs. */
export const objectOf = <T>(entries: Iterable<readonly [string, T]>): { [key: string]: T } =>
  Object.fromEntries(entries);
