/** A body of a route: its schema and its golden example, side by side. */
import type { Static, TSchema } from '../schema.ts';

const example: unique symbol = Symbol('example');

/** A schema with an example. Its key is a symbol, so that documents and validators ignore it. */
export type Body<T extends TSchema = TSchema> = T & { readonly [example]: Static<T> };

/** Adds a valid value, as on the wire, to a schema. The documents show it, and `examples/` has it as a file. */
export const body = <T extends TSchema>(schema: T, value: Static<T>): Body<T> => ({ ...schema, [example]: value });

/** Returns the example of a body, for the documents and as a part of other examples. */
export const exampleOf = <T extends TSchema>(schema: Body<T>): Static<T> => schema[example];
