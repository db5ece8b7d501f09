/** The shape of a table of examples. */
import type { Static, TSchema } from '../schema.ts';

/** One example for every schema of a table: leaving one out does not compile. */
export type ExamplesOf<T extends Readonly<Record<string, TSchema>>> = { readonly [K in keyof T]: Static<T[K]> };
