import { expect, it, jest } from '@jest/globals';
import { inMemory } from '../src/instance/backplane.ts';

type Given = Parameters<typeof inMemory>;

const config = { leaseTtlMs: 60_000, resumeHistoryBytes: 2 ** 20, resumeHistoryMs: 60_000 } as Given[0];
/** A database without any claimed device. */
const database = {
  models: { device: { aggregate: () => Promise.resolve({ _max: { connectionFence: null } }) } },
} as unknown as Given[1];

it.each([-3_600_000, 3_600_000])('setting the clock by %d ms expires no lease, and prolongs no window', async (ms) => {
  const backplane = await (await inMemory(config, database))('standalone');
  await backplane.claim('device', 'connection');
  await backplane.count('who', 1, 1_000);
  const now = Date.now;
  const wall = jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  try {
    expect((await backplane.owners(['device'])).has('device')).toBe(true);
    const { count, leftMs } = await backplane.count('who', 1, 1_000);
    expect(leftMs).toBeLessThanOrEqual(1_000);
    expect(count).toBeGreaterThan(0);
  } finally {
    wall.mockRestore();
    await backplane.close();
  }
});
