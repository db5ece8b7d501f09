/**
 * The part of the protocol that clients need at run time: data without schemas, the application of operations to items,
 * plain text from markdown, and the validation of form fields. They import everything else as types.
 */
export * from './close-codes.ts';
export * from './endpoints.ts';
export * from './figures.ts';
export * from './transcript/apply.ts';
export * from './without-marks.ts';
export { patchOf } from './patch.ts';
export { type FieldProblem, fieldProblem } from './transcript/form-values.ts';

/**
 * Returns the capitals and digits of a code that a machine shows and a person types (rules, 7.4): of any width, without everything between them.
 */
export const foldedCode = (typed: string): string =>
  typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '');
