/** Promise: the bodies of one user or address take a bounded share of an instance (S3; rules, 6.7). */
import { describe, expect, it } from '@jest/globals';
import { limits } from '@relay/protocol';
import { BodyPace } from '../../src/http/body-pace.ts';

describe('S3: the pace of bodies', () => {
  const mebibyte = 1024 * 1024;
  const scene = () => {
    const clock = { nowMs: 1_000_000 };
    return { clock, pace: new BodyPace(() => clock.nowMs) };
  };

  it('S3: admits one body of the largest size immediately, and delays the next one', () => {
    const { pace } = scene();
    expect(pace.charge('alice', limits.imageRequestBytes)).toBe(0);
    expect(pace.charge('alice', mebibyte)).toBe(250);
    expect(pace.charge('alice', mebibyte)).toBe(500);
  });

  it('S3: counts each payer separately', () => {
    const { pace } = scene();
    pace.charge('alice', 10 * limits.imageRequestBytes);
    expect(pace.charge('bob', limits.imageRequestBytes)).toBe(0);
  });

  it('S3: restores the burst of a payer that paused, and no more', () => {
    const { pace, clock } = scene();
    pace.charge('alice', 2 * limits.imageRequestBytes);
    clock.nowMs += 3_600_000;
    expect(pace.charge('alice', limits.imageRequestBytes)).toBe(0);
    expect(pace.charge('alice', mebibyte)).toBe(250);
  });

  it('S3: remembers a bounded number of payers', () => {
    const { pace } = scene();
    pace.charge('alice', 2 * limits.imageRequestBytes);
    for (let n = 0; n < 10_000; n += 1) pace.charge(`address ${n}`, 1);
    expect(pace.charge('alice', 1)).toBe(0);
  });
});
