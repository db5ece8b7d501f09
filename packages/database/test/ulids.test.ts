import { describe, expect, it } from '@jest/globals';
import { isValid } from 'ulid';
import { ulids } from '../src/ulids.ts';

describe('many ULIDs at once', () => {
  it('are valid and different from each other', () => {
    const made = ulids(1000);
    expect(made.every((id) => isValid(id))).toBe(true);
    expect(new Set(made).size).toBe(1000);
  });

  it('use every character of the alphabet in every random place', () => {
    const made = ulids(2000);
    for (let place = 10; place < 26; place += 1) expect(new Set(made.map((id) => id[place])).size).toBe(32);
  });
});
