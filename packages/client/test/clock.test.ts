import { describe, expect, it } from '@jest/globals';
import { backoffMs } from '../src/node.ts';

describe('the wait before the next connection', () => {
  it('doubles up to its maximum, lies in the upper half, and is never shorter than the relay demands', () => {
    expect([0, 1, 2, 5, 60].map((step) => backoffMs(step, 0))).toEqual([500, 1000, 2000, 15_000, 15_000]);
    expect(backoffMs(60, 0.999)).toBeLessThanOrEqual(30_000);
    expect(backoffMs(0, 0, 20)).toBe(20_500);
  });
});
