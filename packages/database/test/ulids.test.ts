import { describe, expect, it } from '@jest/globals';
import { decodeTime, isValid } from 'ulid';
import { newUlid } from '../src/ulids.ts';

const made = (count: number) => Array.from({ length: count }, () => newUlid());

describe('new ULIDs', () => {
  it('are valid, of this moment, and different from each other', () => {
    const before = Date.now();
    const ids = made(1000);
    expect(ids.every((id) => isValid(id))).toBe(true);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(decodeTime(id)).toBeGreaterThanOrEqual(before);
    for (const id of ids) expect(decodeTime(id)).toBeLessThanOrEqual(Date.now());
  });

  it('use every character of the alphabet in every random place', () => {
    const ids = made(2000);
    for (let place = 10; place < 26; place += 1) expect(new Set(ids.map((id) => id[place])).size).toBe(32);
  });
});
