/** An instance that receives nothing from Redis, on connections that look alive. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';
import { until } from './contract/harness.ts';
import { type Proxy, openProxy } from './proxy.ts';
import { createTroupe, endOf, healthy, isHealthy, obey, reach, readNumbers } from './stage.ts';

let redis: TestRedis;
let proxy: Proxy;
let troupe: ReturnType<typeof createTroupe>;

beforeAll(async () => {
  redis = await startRedis();
  proxy = await openProxy(redis.port);
});
afterEach(() => troupe.leave());
afterAll(async () => {
  await proxy.close();
  await redis.stop();
});

describeWith('redis-server', 'an instance whose connections went silent', () => {
  it('reports that it is unhealthy, reconnects, and notifies its readers', async () => {
    troupe = createTroupe({ url: redis.url, prefix: 'deaf', commandTimeoutMs: 1_000 });
    const gateway = await troupe.join('gateway');
    const api = await troupe.join('api', { url: proxy.url, probeSilenceMs: 200, probeTimeoutMs: 300 });
    const reader = await readNumbers(api, 'user');
    await gateway.append('user', '0');
    await until('the frame is heard', () => reader.last() === 0);
    proxy.stall();
    expect(await isHealthy(api)).toBe(false);
    for (let n = 1; n <= 3; n++) await gateway.append('user', String(n));
    await healthy(api);
    await reach([reader], (next) => gateway.append('user', String(next)), 4);
    expect([reader.wrong, reader.gaps()]).toEqual([[], 0]);
  });

  it('delivers nothing to a device that comes after its deadline', async () => {
    troupe = createTroupe({ url: redis.url, prefix: 'late', commandTimeoutMs: 2_000 });
    const api = await troupe.join('api');
    const gateway = await troupe.join('gateway', { url: proxy.url, probeSilenceMs: 60_000 });
    const commands = obey(gateway);
    await gateway.claim('device', 'c1');
    expect(await api.route('device', 'before')).toBe('sent');
    proxy.stall();
    // Long enough for a busy machine to send it: otherwise it is expired.
    expect(await api.route('device', 'late', 1_000)).toBe('unknown');
    expect(await endOf(api.request('device', 'late too', 150))).toBe('TIMEOUT');
    proxy.resume();
    await healthy(gateway);
    expect(await api.route('device', 'after')).toBe('sent');
    expect(commands.heard.map(({ body }) => body)).toEqual(['before', 'after']);
  });

  it('loses its device to a newer owner, and learns it when it asks', async () => {
    troupe = createTroupe({ url: redis.url, prefix: 'evicted', commandTimeoutMs: 1_000 });
    const [api, other] = [await troupe.join('api'), await troupe.join('other')];
    const gateway = await troupe.join('gateway', { url: proxy.url, probeSilenceMs: 200, probeTimeoutMs: 300 });
    const commands = obey(gateway);
    obey(other);
    const lease = { device: 'device', connection: 'c1', fence: (await gateway.claim('device', 'c1')).fence };
    proxy.stall();
    await other.claim('device', 'c2');
    expect(await api.route('device', 'for the newer one')).toBe('sent');
    await healthy(gateway);
    expect(await gateway.refresh([lease])).toEqual(['device']);
    expect((await api.owners(['device'])).get('device')?.connection).toBe('c2');
    expect(commands.heard).toEqual([]);
  });
});
