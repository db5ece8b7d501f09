/** New ULIDs. Without a source of randomness the library asks the operating system for every single character. */
import { randomFillSync } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';

const pool = Buffer.alloc(4096);
let used = pool.length;

/** A number from 0 up to 1 from a byte that is used once. */
function random(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used]!;
  used += 1;
  return byte / 256;
}

/** A ULID of this moment, in one piece: text that is put together letter by letter keeps every step of it in memory. */
export function newUlid(): string {
  return Buffer.from(ulid(undefined, random), 'latin1').toString('latin1');
}

/** When an id was made, in ms since 1970. */
export const timeOfUlid = (id: string): number => decodeTime(id);
