/**
 * Readers for untyped parts, which can have any shape, also from a later release. Each reader takes the parts that it can show and ignores
 * the rest, so that no part can crash the program.
 */
export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
/** Returns an empty text for other types. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
/** Returns the entries of a list; an empty list for other types. */
export const listOf = (value: unknown, most: number): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]).slice(0, most) : [];

/** Formats a size for people: `12 kB`. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Looks up untrusted text in a table; the text can be `constructor`. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
