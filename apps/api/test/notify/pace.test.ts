import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createPace } from '../../src/notify/pace.ts';

describe('the pace of a flood of notifications', () => {
  const { signal } = new AbortController();
  /** A pace over work of a given duration, and its rests. */
  const paced = (parallel?: number) => {
    let nowMs = 0;
    const rests: number[] = [];
    const pace = createPace({ parallel, now: () => nowMs, wait: (ms) => Promise.resolve(rests.push(ms)) });
    const work = (ms: number, fault?: Error) =>
      pace.spend(() => {
        nowMs += ms;
        return fault ? Promise.reject(fault) : Promise.resolve();
      });
    return { pace, work, rests };
  };

  it('rests eight times as long as the work took, once for each piece of work', async () => {
    const { pace, work, rests } = paced();
    await work(10);
    await work(5);
    await pace.rest(signal);
    await pace.rest(signal);
    expect(rests).toEqual([120, 0]);
  });

  it('counts concurrent pieces as one', async () => {
    const { pace, work, rests } = paced(4);
    await Promise.all([work(10), pace.spend(() => Promise.resolve())]);
    await pace.rest(signal);
    expect(rests).toEqual([20]);
  });

  it('counts failed work, and rests for a second at most', async () => {
    const { pace, work, rests } = paced();
    await expect(work(20, new Error('away'))).rejects.toThrow('away');
    await pace.rest(signal);
    await work(60_000);
    await pace.rest(signal);
    expect(rests).toEqual([160, 1000]);
  });

  it('stops a rest when the instance stops', async () => {
    let nowMs = 0;
    const pace = createPace({ now: () => (nowMs += 60_000) });
    await pace.spend(() => Promise.resolve());
    const stopping = new AbortController();
    const rested = pace.rest(stopping.signal).then(() => 'ended');
    stopping.abort();
    expect(await Promise.race([rested, delay(900, 'went on', { ref: false })])).toBe('ended');
  });
});
