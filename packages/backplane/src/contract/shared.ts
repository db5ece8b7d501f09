/** Promises about what is built on a backplane: limits and revocations that hold for all instances. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { createRateLimiter } from '../rate-limiter.ts';
import { createRevocationLog } from '../revocation-log.ts';
import { createEar, createStage, passing, until } from './harness.ts';
import type { MakeBus } from './harness.ts';

export function describeShared(makeBus: MakeBus): void {
  const stage = createStage(makeBus);

  async function openTwo() {
    const bus = await stage.open();
    return { bus, one: await bus.connect('one'), two: await bus.connect('two') };
  }

  describe('a rate limit', () => {
    afterEach(stage.clear);

    it('holds for all instances together, and for each of its names', async () => {
      const { one, two } = await openTwo();
      const options = { name: 'requests', points: 3, windowMs: 60_000 };
      const [here, there] = [createRateLimiter(one, options), createRateLimiter(two, options)];
      const states = [await here.consume('user'), await there.consume('user'), await here.consume('user')];
      expect(states.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 2],
        [true, 1],
        [true, 0],
      ]);
      expect(await there.consume('user')).toMatchObject({ allowed: false, limit: 3, remaining: 0, local: false });
      expect((await there.consume('other')).allowed).toBe(true);
      const another = createRateLimiter(two, { ...options, name: 'creations' });
      expect((await another.consume('user')).allowed).toBe(true);
    });

    it('lets as many through as it says, however many ask at once', async () => {
      const { one, two } = await openTwo();
      const options = { name: 'requests', points: 10, windowMs: 60_000 };
      const limiters = [createRateLimiter(one, options), createRateLimiter(two, options)];
      const states = await Promise.all(Array.from({ length: 50 }, (_, n) => limiters[n % 2]!.consume('user')));
      expect(states.filter(({ allowed }) => allowed)).toHaveLength(10);
    });

    it('begins again with the next window, and gives back what was counted in vain', async () => {
      const { bus, one } = await openTwo();
      const limiter = createRateLimiter(one, { name: 'guesses', points: 1, windowMs: 300 });
      await limiter.consume('user');
      await limiter.giveBack('user');
      expect((await limiter.consume('user')).allowed).toBe(true);
      const isAllowed = async () => (await limiter.consume('user')).allowed;
      await until('the next window began', isAllowed, passing(bus, 100));
    });
  });

  describe('a revocation', () => {
    afterEach(stage.clear);

    it('is heard at once by who listens and found by who comes later', async () => {
      const { bus, one, two } = await openTwo();
      const heard = createEar<string>();
      two.onControl(heard.hear);
      await createRevocationLog(one).add('{"sid":"s1"}');
      expect(await heard.next()).toBe('{"sid":"s1"}');
      const late = await bus.connect('late');
      const found = createEar<string>();
      await createRevocationLog(late).replay(found.hear, () => undefined);
      expect(found.heard).toEqual(['{"sid":"s1"}']);
    });

    it('is found again after the instance was cut off', async () => {
      const { bus, one, two } = await openTwo();
      const found = createEar<string>();
      await createRevocationLog(two).replay(found.hear, () => undefined);
      await one.note('revoked', '{"sid":"missed"}', 60_000);
      await bus.interrupt(two.instance);
      expect(await found.next()).toBe('{"sid":"missed"}');
    });
  });
}
