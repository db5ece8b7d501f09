import { describe, expect, it } from '@jest/globals';
import { BackplaneError, createMemoryBus, createRateLimiter } from '../src/index.ts';

describe('a rate limit when the others cannot be reached', () => {
  it('is counted by the instance alone until they can, and shared again from then on', async () => {
    const bus = createMemoryBus();
    const backplane = bus.connect('api');
    let away = false;
    const limiter = createRateLimiter(
      {
        count: (key, by, windowMs) =>
          away ? Promise.reject(new BackplaneError('UNAVAILABLE', 'away')) : backplane.count(key, by, windowMs),
      },
      { name: 'requests', points: 2, windowMs: 60_000 },
    );
    expect(await limiter.consume('user')).toMatchObject({ allowed: true, remaining: 1, local: false });
    away = true;
    expect(await limiter.consume('user')).toMatchObject({ allowed: true, remaining: 1, local: true });
    expect(await limiter.consume('user')).toMatchObject({ allowed: true, remaining: 0, local: true });
    expect(await limiter.consume('user')).toMatchObject({ allowed: false, remaining: 0, local: true });
    await limiter.giveBack('user');
    await limiter.giveBack('user');
    expect((await limiter.consume('user')).allowed).toBe(true);
    away = false;
    expect(await limiter.consume('user')).toMatchObject({ allowed: true, remaining: 0, local: false });
    await bus.close();
  });

  it('begins a new window of its own, and hides no mistake of ours', async () => {
    let at = 1_000;
    let failure: Error = new BackplaneError('UNAVAILABLE', 'away');
    const limiter = createRateLimiter(
      { count: () => Promise.reject(failure) },
      { name: 'requests', points: 1, windowMs: 500, now: () => at },
    );
    expect(await limiter.consume('user')).toMatchObject({ allowed: true, leftMs: 500 });
    at += 200;
    expect(await limiter.consume('user')).toMatchObject({ allowed: false, leftMs: 300 });
    at += 300;
    expect((await limiter.consume('user')).allowed).toBe(true);
    failure = new TypeError('ours');
    await expect(limiter.consume('user')).rejects.toThrow(TypeError);
  });
});
