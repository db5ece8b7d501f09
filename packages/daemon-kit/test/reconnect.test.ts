import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from '@relay/protocol';
import fc from 'fast-check';
import { type AttemptEnd, backoffMs, stepAfter, stopOf, waitMs } from '../src/reconnect.ts';

const timings = { initialDelayMs: 1000, maxDelayMs: 30_000 };
const closed = (code: number): AttemptEnd => ({ kind: 'closed', code, reason: '' });
const refused = (status: number, retryAfter?: number): AttemptEnd => ({
  kind: 'refused',
  status,
  message: '',
  retryAfterMs: retryAfter,
});
const failed: AttemptEnd = { kind: 'failed', message: 'ECONNREFUSED' };

describe('the back-off (specification §6.4)', () => {
  it('starts at a second, doubles, and stays at thirty seconds', () => {
    const ceilings = [0, 1, 2, 3, 4, 5, 6, 50, 5000].map((step) => backoffMs(step, 1, timings));
    expect(ceilings).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  });

  it('lies in the upper half of each step, so that daemons do not reconnect together', () => {
    fc.assert(
      fc.property(fc.nat({ max: 100 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (step, random) => {
        const ceiling = backoffMs(step, 1, timings);
        const delay = backoffMs(step, random, timings);
        expect(delay).toBeGreaterThanOrEqual(ceiling / 2);
        expect(delay).toBeLessThanOrEqual(ceiling);
      }),
    );
    expect(backoffMs(0, 0, timings)).not.toBe(backoffMs(0, 0.9, timings));
  });

  it('grows with every failed attempt and starts over after a successful open', () => {
    expect(stepAfter(failed, { step: -1, opened: false })).toBe(0);
    expect(stepAfter(failed, { step: 0, opened: false })).toBe(1);
    expect(stepAfter(refused(503), { step: 4, opened: false })).toBe(5);
    expect(stepAfter(closed(1006), { step: 4, opened: true })).toBe(0);
  });

  it('keeps growing when the relay closes because it is overloaded or received too much', () => {
    expect(stepAfter(closed(1013), { step: 4, opened: true })).toBe(5);
    expect(stepAfter(closed(4429), { step: 0, opened: true })).toBe(1);
  });

  it('waits at least as long as Retry-After demands, with 429 and 503 only', () => {
    expect(waitMs(refused(429, 7000), 500)).toBe(7500);
    expect(waitMs(refused(503, 7000), 30_000)).toBe(8000);
    expect(waitMs(refused(500, 7000), 500)).toBe(500);
    expect(waitMs(refused(503), 500)).toBe(500);
  });

  it('reads Retry-After as seconds or as a date, bounded, and ignores nonsense', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfterMs('3', now)).toBe(3000);
    expect(retryAfterMs('Thu, 01 Jan 2026 00:00:10 GMT', now)).toBe(10_000);
    expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
    expect(retryAfterMs('999999999', now)).toBe(600_000);
    expect(retryAfterMs('soon', now)).toBeUndefined();
    expect(retryAfterMs('', now)).toBeUndefined();
    expect(retryAfterMs(undefined, now)).toBeUndefined();
  });
});

describe('giving up reconnecting (rules, 13.1)', () => {
  it.each([
    ['a refused credential', refused(401), 'credential'],
    ['close 4401', closed(4401), 'credential'],
    ['close 4403', closed(4403), 'forbidden'],
    ['close 4404', closed(4404), 'deleted'],
    ['close 4409', closed(4409), 'replaced'],
    ['close 4426', closed(4426), 'outdated'],
  ] as const)('happens after %s', (_name, ending, reason) => {
    expect(stopOf(ending)).toEqual({ reason, message: expect.stringMatching(/^[A-Z].*\.$/) });
  });

  it('does not happen after any other status of the upgrade', () => {
    expect([403, 404, 426, 429, 500, 502, 503].filter((status) => stopOf(refused(status)))).toEqual([]);
  });

  it('does not happen after any other close code', () => {
    const codes = [1000, 1001, 1003, 1006, 1007, 1009, 1011, 1012, 1013, 4400, 4408, 4429];
    expect(codes.filter((code) => stopOf(closed(code)))).toEqual([]);
  });

  it('does not happen after a network failure', () => {
    expect(stopOf(failed)).toBeUndefined();
  });
});
