/** Assertions of the checks. A failure names the expected and the received value. */
import { isDeepStrictEqual } from 'node:util';

/** The relay violates an expectation. Any other error that is thrown is a fault of the setup. */
export class Unmet extends Error {
  override readonly name = 'Unmet';
}

const shownCharacters = 400;

export function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`;
}

/** @throws Unmet */
export function must(condition: unknown, otherwise: string): asserts condition {
  if (!condition) throw new Unmet(otherwise);
}

/** Deep equality. @throws Unmet, with both values */
export function same(actual: unknown, expected: unknown, what: string): void {
  must(isDeepStrictEqual(actual, expected), `${what}: expected ${show(expected)}, came ${show(actual)}`);
}

/** One of several values. @throws Unmet */
export function oneOf(actual: unknown, expected: readonly unknown[], what: string): void {
  must(
    expected.some((value) => isDeepStrictEqual(actual, value)),
    `${what}: expected one of ${show(expected)}, came ${show(actual)}`,
  );
}

/** A text of this form. @throws Unmet */
export function matches(actual: unknown, pattern: RegExp, what: string): void {
  must(
    typeof actual === 'string' && pattern.test(actual),
    `${what}: expected a text like ${pattern}, came ${show(actual)}`,
  );
}

/** A value that is there. @throws Unmet */
export function present<T>(value: T | null | undefined, what: string): T {
  must(value !== undefined && value !== null, `${what}: expected it to be there, came nothing`);
  return value;
}
