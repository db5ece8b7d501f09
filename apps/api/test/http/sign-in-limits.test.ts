import { describe, expect, it } from '@jest/globals';
import { createMemoryBus } from '@relay/backplane';
import { createSignInLimits } from '../../src/http/rate-limit.ts';

describe('the limits of the sign-in', () => {
  it('reset after their window, also without a pause as long as one', async () => {
    let now = Date.UTC(2026, 0, 1);
    const bus = createMemoryBus({ now: () => now });
    try {
      const limits = createSignInLimits(bus.connect('api'));
      const after = (seconds: number) => {
        now += seconds * 1000;
        return limits.consume('192.0.2.1|/sign-in/email', { window: 60, max: 2 });
      };
      const allowed = { allowed: true, retryAfter: null };
      expect(await after(0)).toEqual(allowed);
      expect(await after(40)).toEqual(allowed);
      expect(await after(10)).toEqual({ allowed: false, retryAfter: 10 });
      expect(await after(10)).toEqual(allowed);
      expect(await after(40)).toEqual(allowed);
      expect(await after(10)).toEqual({ allowed: false, retryAfter: 10 });
    } finally {
      await bus.close();
    }
  });

  it('count addresses and paths separately', async () => {
    const bus = createMemoryBus();
    try {
      const limits = createSignInLimits(bus.connect('api'));
      const ask = async (key: string) => (await limits.consume(key, { window: 60, max: 1 })).allowed;
      expect(await ask('192.0.2.1|/sign-in/email')).toBe(true);
      expect(await ask('192.0.2.1|/sign-in/email')).toBe(false);
      expect(await ask('192.0.2.2|/sign-in/email')).toBe(true);
      expect(await ask('192.0.2.1|/sign-up/email')).toBe(true);
    } finally {
      await bus.close();
    }
  });
});
