import { expect, it } from '@jest/globals';
import { Listeners } from '../src/listeners.ts';
import { RedisLeases } from '../src/redis/leases.ts';
import type { Run } from '../src/redis/operations.ts';

it('a failed part of a renewal does not keep the other leases from their renewal', async () => {
  const renewed: number[] = [];
  const run = ((_name: string, { leases }: { leases: string }) => {
    renewed.push(leases.split('{').length - 1);
    return renewed.length === 1 ? Promise.reject(new Error('no answer')) : Promise.resolve([]);
  }) as unknown as Run;
  const leases = new RedisLeases('instance', run, () => 0, new Listeners(() => undefined));
  const held = Array.from({ length: 600 }, (_, n) => ({ device: `d${n}`, connection: 'c', fence: n + 1 }));
  await expect(leases.refresh(held)).rejects.toThrow('no answer');
  expect(renewed).toEqual([256, 256, 88]);
});
