import { describe, expect, it } from '@jest/globals';
import { spreadOver } from '../src/index.ts';

/** A machine on which each wait takes `lateMs` longer than requested. */
const machine = (lateMs: number) => {
  let now = 1000;
  return {
    now: () => now,
    wait: (ms: number) => {
      now += ms + lateMs;
      return Promise.resolve();
    },
  };
};

describe('sockets that are spread over a time', () => {
  const all = Array.from({ length: 400 }, (_, n) => n);

  it('have their turn one by one and evenly', async () => {
    const clock = machine(0);
    const turns: [number, number][] = [];
    await spreadOver(all, 4000, (one) => turns.push([one, clock.now()]), clock);
    expect(turns).toEqual(all.map((one) => [one, 1000 + one * 10]));
  });

  it('have all had it in time on a machine that wakes late, in the same order', async () => {
    const clock = machine(90);
    const turns: [number, number][] = [];
    await spreadOver(all, 4000, (one) => turns.push([one, clock.now()]), clock);
    expect(turns.map(([one]) => one)).toEqual(all);
    expect(turns.at(-1)![1]).toBeLessThanOrEqual(1000 + 4000 + 90);
  });

  it('wait for nothing without a time', async () => {
    const clock = machine(90);
    await spreadOver(all, 0, () => undefined, clock);
    expect(clock.now()).toBe(1000);
  });
});
