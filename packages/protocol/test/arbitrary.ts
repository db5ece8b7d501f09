/** Schema → fast-check arbitrary of valid values, so that properties run over every frame that exists. */
import fc from 'fast-check';
import type { TSchema } from '../src/index.ts';

/** Any text that survives storage: every code point but U+0000. */
export const storable = (minLength = 0, maxLength = 40): fc.Arbitrary<string> =>
  fc.string({ unit: 'binary', minLength, maxLength }).map((text) => text.replaceAll('\u0000', '0'));

const scalar = (schema: TSchema, type: string): fc.Arbitrary<unknown> => {
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') {
    const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
    return fc.integer({ min: minimum ?? -1000, max: maximum ?? 100_000 });
  }
  if (type === 'number') return fc.integer({ min: -1000, max: 1000 }).map((n) => n / 4);
  if (type !== 'string') throw new TypeError(`no arbitrary for ${type}`);
  if (schema.format === 'date-time') {
    const range = { min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true };
    return fc.date(range).map((at) => at.toISOString());
  }
  const { minLength = 0, maxLength = 40 } = schema as { minLength?: number; maxLength?: number };
  // A frame counts code units, and a character can have two.
  return storable(minLength, Math.max(minLength, Math.min(Math.floor(maxLength / 2), 40)));
};

export function arbitraryOf(schema: TSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const as unknown);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  const types = [schema.type as string | string[]].flat();
  if (types.length > 1) return fc.oneof(...types.map((type) => arbitraryOf({ ...schema, type })));
  // Not checked: any JSON.
  if (schema.type === undefined)
    return fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  const [type = ''] = types;
  if (type === 'array') return fc.array(arbitraryOf(schema.items as TSchema), { maxLength: 5 });
  if (type !== 'object') return scalar(schema, type);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>);
  return fc.record(Object.fromEntries(properties.map(([name, field]) => [name, arbitraryOf(field)])), {
    requiredKeys: (schema.required ?? []) as string[],
  });
}

/** Fields that no release knows yet. */
export const unknownFields: fc.Arbitrary<Record<string, unknown>> = fc
  .dictionary(
    fc.string({ maxLength: 8 }).map((name) => `x_${name.replaceAll('\u0000', '')}`),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 3, noNullPrototype: true },
  )
  .map((fields) => JSON.parse(JSON.stringify(fields)) as Record<string, unknown>);
