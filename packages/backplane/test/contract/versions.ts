/** Promises about states that several instances publish: an older one never follows a newer one. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { UserFrame } from '../../src/user-frames.ts';
import { type MakeBus, passing, createEar, createStage, until } from './harness.ts';

export function describeVersions(makeBus: MakeBus): void {
  describe('a state with a version', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    const open = async () => {
      const bus = await stage.open();
      const [one, two] = [await bus.connect('one'), await bus.connect('two')];
      const ear = createEar<UserFrame>();
      await two.subscribe('user', ear.add);
      return { bus, one, two, ear };
    };
    const state = (version: number, key = 'session') => ({ key, version, ttlMs: 60_000 });

    it('is published when it is new, and again when it repeats', async () => {
      const { one, two, ear } = await open();
      expect(await one.appendNewest('user', 'nine', state(9))).toBe(true);
      expect(await two.publishNewest('user', 'nine again', state(9))).toBe(true);
      expect(await two.appendNewest('user', 'ten', state(10))).toBe(true);
      const heard = [await ear.next(), await ear.next(), await ear.next()];
      expect(heard.map(({ body, hot }) => [body, hot])).toEqual([
        ['nine', false],
        ['nine again', true],
        ['ten', false],
      ]);
    });

    it('is skipped after a newer one, hot or not, from any instance, and stays out of the history', async () => {
      const { one, two, ear } = await open();
      expect(await one.publishNewest('user', 'ten', state(10))).toBe(true);
      expect(await two.appendNewest('user', 'nine', state(9))).toBe(false);
      expect(await two.publishNewest('user', 'nine', state(9))).toBe(false);
      const { offset } = await two.append('user', 'after');
      expect((await ear.next()).body).toBe('ten');
      expect(await ear.next()).toMatchObject({ body: 'after', previous: '' });
      expect(await one.read('user')).toMatchObject({ top: offset });
    });

    it('does not affect another state, or that of another user', async () => {
      const { one } = await open();
      expect(await one.appendNewest('user', 'ten', state(10))).toBe(true);
      expect(await one.appendNewest('user', 'other', state(1, 'other'))).toBe(true);
      expect(await one.appendNewest('another user', 'theirs', state(1))).toBe(true);
    });

    it('is published again when the newer one has expired', async () => {
      const { bus, one } = await open();
      await one.appendNewest('user', 'ten', { ...state(10), ttlMs: 300 });
      const isSaid = () => one.appendNewest('user', 'nine', state(9));
      await until('an older one is said', isSaid, passing(bus, 100));
    });
  });
}
