import { IncomingMessage, ServerResponse } from 'node:http';
import { describeWith } from '@relay/testing/needs';
import { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type RedisBackplane, createRedisBackplane } from '@relay/backplane';
import { type TestRedis, startRedis } from '@relay/testing/redis';
import { LateRefusals } from '../../src/http/late-refusals.ts';
import { type RateLimits, createRateLimits } from '../../src/http/rate-limit.ts';

describeWith('redis-server', 'rate limits of two instances', () => {
  let redis: TestRedis;
  let backplanes: RedisBackplane[];
  let instances: RateLimits[];

  beforeAll(async () => {
    redis = await startRedis();
    backplanes = await Promise.all(
      ['one', 'two'].map((name) =>
        createRedisBackplane({ url: redis.url, name, commandTimeoutMs: 1000, onError: () => undefined }),
      ),
    );
    const limits = { rateLimitPerMinute: 4, sessionCreatePerMinute: 4, agentTurnsPerHour: 4, rateWindowMs: 3_600_000 };
    instances = backplanes.map((backplane) => createRateLimits(limits, backplane, new LateRefusals()));
  });
  afterAll(async () => {
    await Promise.all(backplanes.map((backplane) => backplane.close()));
    await redis.stop();
  });

  /** The remainder after one more request at this instance: −1 for a refusal. */
  const left = async (instance: number, who: string): Promise<number> => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    try {
      await instances[instance]!.request(response, who);
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
      return -1;
    }
    return Number(response.getHeader('X-RateLimit-Remaining'));
  };
  const inTurn = async (who: string, ...at: number[]) => {
    const all: number[] = [];
    for (const instance of at) all.push(await left(instance, who));
    return all;
  };

  it('share one count', async () => {
    expect(await inTurn('ada', 0, 1, 0, 1, 0, 1)).toEqual([3, 2, 1, 0, -1, -1]);
  });

  it('are separate while Redis is away, and shared again when it is back', async () => {
    expect(await inTurn('bob', 0, 1)).toEqual([3, 2]);
    await redis.kill();
    expect(await inTurn('bob', 0, 0, 0, 0, 0)).toEqual([3, 2, 1, 0, -1]);
    expect(await inTurn('bob', 1, 1, 1, 1, 1)).toEqual([3, 2, 1, 0, -1]);
    await redis.restart();
    // Every request counts, refused or not: repeat until both instances share the count again.
    let who = 0;
    for (;;) {
      const [first, second] = await inTurn(`carl ${(who += 1)}`, 0, 1);
      if (first === 3 && second === 2) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});
