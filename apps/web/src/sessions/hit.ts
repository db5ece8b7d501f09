/** Where a text matches a search: a list shows only its beginning. */

/** Characters before the hit that are shown. */
const before = 24;

const wordsOf = (words: string): string[] => words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
const placeOf = (text: string, words: string): number => {
  const places = wordsOf(words).map((word) => text.toLocaleLowerCase().indexOf(word));
  return Math.min(...places.map((place) => (place === -1 ? Infinity : place)));
};

/** The text from a little before the first hit; unchanged where that is at its beginning, or nowhere. */
export function fromHit(text: string, words: string): string {
  const place = placeOf(text, words);
  if (place === Infinity || place <= 2 * before) return text;
  const start = text.lastIndexOf(' ', place - before) + 1;
  return `…${text.slice(start)}`;
}

/** Returns the second line of a row during a search: the last message, or the folder if only the folder matches. */
export function hitOf(line: string, title: string, projectPath: string, words: string): string {
  if (words === '') return line;
  const isElsewhere = [line, title].every((text) => placeOf(text, words) === Infinity);
  return isElsewhere && placeOf(projectPath, words) !== Infinity ? projectPath : fromHit(line, words);
}
