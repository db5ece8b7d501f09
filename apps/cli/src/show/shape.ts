/**
 * Parts as they come from the wire: any shape, also of a later release. Each reader takes what it can show and leaves out the rest, so that
 * no part can end the program.
 */
export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
/** Empty for anything but a text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
/** Entries of a list; none when the value is not a list. */
export const listOf = (value: unknown, most: number): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]).slice(0, most) : [];

/** `12 kB`, as people say it. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The entry of a table for a word of a stranger, which may be `constructor`. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
