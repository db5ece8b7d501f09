import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTokenBucket } from '../src/index.ts';

function open(ratePerSecond: number, burst: number) {
  let nowMs = 5_000;
  const bucket = createTokenBucket({ ratePerSecond, burst, now: () => nowMs });
  return {
    takeMany: (count: number) => Array.from({ length: count }, () => bucket.take()).filter((taken) => taken).length,
    pass: (ms: number) => void (nowMs += ms),
  };
}

describe('a token bucket', () => {
  it('allows a burst and then the rate', () => {
    const { takeMany, pass } = open(200, 1_000);
    expect(takeMany(2_000)).toBe(1_000);
    pass(1_000);
    expect(takeMany(2_000)).toBe(200);
    pass(5);
    expect(takeMany(10)).toBe(1);
  });

  it('never holds more than the burst', () => {
    const { takeMany, pass } = open(200, 1_000);
    pass(3_600_000);
    expect(takeMany(5_000)).toBe(1_000);
  });

  it('is not fooled by a clock that steps back', () => {
    const { takeMany, pass } = open(10, 10);
    takeMany(10);
    pass(-60_000);
    expect(takeMany(10)).toBe(0);
    pass(1_000);
    expect(takeMany(20)).toBe(10);
  });

  it('has a clock of its own', () => {
    const bucket = createTokenBucket({ ratePerSecond: 0.001, burst: 2 });
    expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false]);
  });

  it('gives at most the burst plus the rate, in any rhythm', () => {
    const rhythm = fc.array(
      fc.record({ passMs: fc.integer({ min: 0, max: 5_000 }), take: fc.integer({ min: 0, max: 300 }) }),
    );
    fc.assert(
      fc.property(rhythm, (steps) => {
        const { takeMany, pass } = open(50, 100);
        let [taken, passedMs] = [0, 0];
        for (const step of steps) {
          pass(step.passMs);
          passedMs += step.passMs;
          taken += takeMany(step.take);
          expect(taken).toBeLessThanOrEqual(100 + (passedMs / 1_000) * 50 + 1e-6);
        }
      }),
    );
  });
});
