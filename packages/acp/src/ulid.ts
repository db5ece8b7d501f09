/** ULIDs: ids that sort by time, in 26 characters of Crockford's base 32. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export function newUlid(now = Date.now()): string {
  let time = '';
  for (let rest = now; time.length < 10; rest = Math.floor(rest / 32)) time = alphabet[rest % 32]! + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => alphabet[byte % 32]).join('');
}

/** Milliseconds since the epoch. */
export const timeOf = (ulid: string): number =>
  [...ulid.slice(0, 10)].reduce((time, character) => time * 32 + alphabet.indexOf(character), 0);
