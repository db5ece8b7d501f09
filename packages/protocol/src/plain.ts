/** The part of the protocol that clients need at run time: data without schemas, the application of operations to items, and what fits the fields of a form. Everything else they import as types. */
export * from './close-codes.ts';
export * from './endpoints.ts';
export * from './transcript/apply.ts';
export { type FieldProblem, fieldProblem } from './transcript/form-values.ts';
