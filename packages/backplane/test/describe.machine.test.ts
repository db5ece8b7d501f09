import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';
import { type RedisBackplane, createRedisBackplane, describeRedis } from '../src/index.ts';

describeWith('redis-server', 'what is in Redis', () => {
  let redis: TestRedis;
  let backplane: RedisBackplane;
  beforeAll(async () => {
    redis = await startRedis({ password: 'secret' });
    backplane = await createRedisBackplane({ url: redis.url, name: 'described' });
    for (let n = 0; n < 300; n += 1) await backplane.claim(`device-${n}`, `connection-${n}`);
    await backplane.append('ada', 'a'.repeat(200_000));
    await backplane.put('of a test', 'value', 60_000);
  });
  afterAll(async () => {
    await backplane.close();
    await redis.stop();
  });

  it('are listed by kind, with the largest keys, and the fill level', async () => {
    const [server, ...more] = await describeRedis(redis.url);
    expect(more).toEqual([]);
    expect(server).toMatchObject({
      maxBytes: expect.any(Number),
      policy: 'noeviction',
      evicted: 0,
      sampled: server!.keys,
    });
    expect(server!.version).toMatch(/^\d+\./);
    const of = (kind: string) => server!.kinds.find((one) => one.kind === kind);
    expect(of('leases')?.records).toBe(300);
    expect(of('frames of people')?.records).toBe(1);
    expect(of('values')?.records).toBe(1);
    expect(server!.kinds[0]?.kind).toBe('frames of people');
    expect(server!.largest[0]).toMatchObject({ key: expect.stringContaining('ada') });
    expect(server!.usedBytes).toBeGreaterThan(server!.largest[0]!.bytes);
  });

  it('is estimated from a sample when there is much of it', async () => {
    for (let n = 300; n < 3_000; n += 1) void backplane.claim(`device-${n}`, `connection-${n}`);
    await backplane.claim('the last', 'of all');
    const [server] = await describeRedis(redis.url, 1_000);
    expect(server!.keys).toBeGreaterThan(3_000);
    expect(server!.sampled).toBeLessThan(server!.keys);
    const leases = server!.kinds.find(({ kind }) => kind === 'leases')!.records;
    expect(leases).toBeGreaterThan(2_700);
    expect(leases).toBeLessThanOrEqual(server!.keys);
  });

  it('fails with a readable message when Redis is not there', async () => {
    await expect(describeRedis('redis://127.0.0.1:1')).rejects.toThrow(/Redis was not reached: /);
  });
});
