/** Many new ULIDs at once. */
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';

const randomCharacters = 16;

/** `count` ULIDs of this moment, in no order. The library alone asks the operating system for every single character. */
export function ulids(count: number): string[] {
  const bytes = randomBytes(count * randomCharacters);
  const now = Date.now();
  let used = 0;
  return Array.from({ length: count }, () => ulid(now, () => (bytes[used++] ?? 0) / 256));
}
