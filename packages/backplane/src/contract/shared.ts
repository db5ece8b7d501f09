/** Promises about what is built on a backplane: revocations that hold for all instances. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { createRevocationLog } from '../revocation-log.ts';
import { createEar, createStage } from './harness.ts';
import type { MakeBus } from './harness.ts';

export function describeShared(makeBus: MakeBus): void {
  const stage = createStage(makeBus);

  async function openTwo() {
    const bus = await stage.open();
    return { bus, one: await bus.connect('one'), two: await bus.connect('two') };
  }

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
