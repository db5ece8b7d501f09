/** Promise: expensive work of one person leaves room for others, however many daemons that person has (rules, 4.8). */
import { describe, expect, it } from '@jest/globals';
import { createFairShare } from '../src/frames/fair-share.ts';

const none = { factor: 0, maxMs: 0 };

describe('the fair share', () => {
  const gate = () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { open, opened };
  };

  it("S3: does the work of one person piece by piece, in order, and other people's work in between", async () => {
    const share = createFairShare();
    const done: string[] = [];
    const [first, second] = [gate(), gate()];
    const all = [
      share.run('alice', none, async () => (await first.opened, done.push('first of alice'))),
      share.run('alice', none, async () => (await second.opened, done.push('second of alice'))),
      share.run('alice', none, () => done.push('third of alice')),
    ];
    second.open();
    await share.run('bob', none, () => done.push('bob'));
    expect(done).toEqual(['bob']);
    first.open();
    await Promise.all(all);
    expect(done).toEqual(['bob', 'first of alice', 'second of alice', 'third of alice']);
  });

  it("S3: rests after a piece of work, so that other people's work continues", async () => {
    const share = createFairShare();
    const done: string[] = [];
    const busy = (forMs: number) => {
      const until = performance.now() + forMs;
      while (performance.now() < until);
    };
    // A rest of an hour, so that a slow machine does not change the order.
    await share.run('alice', { factor: 1e9, maxMs: 3_600_000 }, () => busy(20));
    const next = share.run('alice', none, () => done.push('alice'));
    // Each of them gives way to timers that are due: without a rest, alice would be among the first.
    for (let n = 0; n < 10; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await share.run(`other ${n}`, none, () => done.push('other'));
    }
    share.endRests();
    await next;
    expect(done).toEqual([...Array<string>(10).fill('other'), 'alice']);
  });

  it('S3: rests longer while many pieces of one person wait', async () => {
    const restOf = async (pieces: number) => {
      const share = createFairShare();
      // Five milliseconds of the processor as well: the share counts the time of this process alone.
      const busy = () => {
        const [until, before] = [performance.now() + 5, process.cpuUsage()];
        const usedMs = () => {
          const { user, system } = process.cpuUsage(before);
          return (user + system) / 1000;
        };
        while (performance.now() < until || usedMs() < 5);
      };
      const first = share.run('alice', { factor: 2, maxMs: 60_000 }, busy);
      let restMs = 0;
      const second = share.run('alice', none, () => (restMs = performance.now()));
      for (let n = 2; n < pieces; n += 1) void share.run('alice', none, () => undefined);
      await first;
      const endedAt = performance.now();
      await second;
      return restMs - endedAt;
    };
    // Ten times as many as are calm: each rest is about ten times as long, on a machine of any speed.
    expect(await restOf(80)).toBeGreaterThan(3 * Math.min(await restOf(2), 20));
  });

  it('skips all rests once they are stopped, including current ones', async () => {
    const share = createFairShare();
    const rest = { factor: 1e9, maxMs: 3_600_000 };
    const work = () => new Promise<void>((resolve) => setImmediate(resolve));
    const people = Array.from({ length: 20 }, (_, n) => `person ${n}`);
    await Promise.all(people.map((person) => share.run(person, rest, work)));
    const waiting = people.flatMap((person) => [share.run(person, rest, work), share.run(person, rest, work)]);
    share.endRests();
    await Promise.all(waiting);
  });

  it('K3: goes on at once for a person who is alone, and rests once others are here', async () => {
    let others = false;
    const share = createFairShare(() => others);
    const rest = { factor: 1e9, maxMs: 3_600_000 };
    const work = () => new Promise<void>((resolve) => setImmediate(resolve));
    await share.run('alice', rest, work);
    await share.run('alice', rest, work);
    // The share judges the rest of the second piece.
    await new Promise((resolve) => setImmediate(resolve));
    others = true;
    await share.run('alice', rest, work);
    let ran = false;
    const resting = share.run('alice', rest, () => void (ran = true));
    await share.run('bob', rest, work);
    expect(ran).toBe(false);
    share.endRests();
    await resting;
  });

  it('continues after failed work, and passes the failure to its caller', async () => {
    const share = createFairShare();
    await expect(share.run('alice', none, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(share.run('alice', none, () => 'next')).resolves.toBe('next');
  });
});
