/** Half characters (lone surrogates): strict readers of JSON refuse a whole page because of one. */

/** `JSON.stringify` writes a half character, and nothing else, as `\ud800` to `\udfff`. An even number of backslashes before it is text. */
const escapedHalf = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** The JSON of `JSON.stringify` with U+FFFD for each half character. */
export const wellFormedJson = (json: string): string =>
  json.includes('\\ud') ? json.replace(escapedHalf, '$1\ufffd') : json;
