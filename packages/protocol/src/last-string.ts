/**
 * Finds the text of a string in JSON without decoding and encoding it: long output passes through the relay as its daemon
 * wrote it.
 */

const backslash = 92;

/**
 * The JSON string, its quotes included, that is the value of `key` in the object `text`, if that is its last member and no character
 * of the text is escaped by its number. Undefined otherwise, and when there is unusual white space, which proves nothing. `text`
 * must be valid JSON, and `key` needs no escape.
 */
export function lastString(text: string, key: string): string | undefined {
  const end = text.length - 2;
  if (!text.endsWith('"}') || text.includes('\\u')) return undefined;
  const name = `"${key}":`;
  const at = text.indexOf(name);
  // A quote that is not escaped opens or closes a string, and a closing quote is not followed by a name: so this is a
  // member, perhaps of an object within this one.
  if (at < 1 || text.charCodeAt(at - 1) === backslash) return undefined;
  let begin = at + name.length;
  if (text[begin] === ' ') begin += 1;
  if (text[begin] !== '"') return undefined;
  // The last string of the text belongs to the outermost object. Is it this one?
  let quote = text.indexOf('"', begin + 1);
  while (quote < end && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === end ? text.slice(begin, end + 1) : undefined;
}

/** Escaped: preceded by an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}
