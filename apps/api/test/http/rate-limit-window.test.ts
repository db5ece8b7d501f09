import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { createMemoryBus } from '@relay/backplane';
import { LateRefusals } from '../../src/http/late-refusals.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';

it('K8: all requests of a window get the same reset time; the next window gets another', async () => {
  const start = Date.UTC(2026, 0, 1) + 999;
  let now = start;
  const bus = createMemoryBus({ now: () => now });
  try {
    const limits = { rateLimitPerMinute: 9, sessionCreatePerMinute: 9, agentTurnsPerHour: 9, rateWindowMs: 60_000 };
    const rates = createRateLimits(limits, bus.connect('api'), new LateRefusals());
    const endAfter = async (ms: number) => {
      now = start + ms;
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      await rates.request(response, 'ada');
      return Number(response.getHeader('X-RateLimit-Reset'));
    };
    const end = Math.ceil((start + 60_000) / 1000);
    expect([await endAfter(0), await endAfter(1), await endAfter(700), await endAfter(59_999)]).toEqual(
      Array.from({ length: 4 }, () => end),
    );
    expect(await endAfter(60_000)).toBe(end + 60);
  } finally {
    await bus.close();
  }
});
