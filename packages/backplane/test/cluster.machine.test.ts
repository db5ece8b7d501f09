import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedisCluster, moveSlots, startRedisCluster } from '@relay/testing/redis';
import { describeBackplaneContract } from './contract.ts';
import { until } from './contract/harness.ts';
import { deafen, makeRedisBus } from './redis-bus.ts';
import { createTroupe, endOf, healthy, isHealthy, obey, reach, readNumbers } from './stage.ts';

let cluster: TestRedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster.stop());

describeWith('redis-server', 'the contract, on a Redis cluster', () => {
  describeBackplaneContract('redis cluster', (options) =>
    makeRedisBus({ url: cluster.url, flush: () => cluster.flush(), deafen: () => deafen(cluster.nodes) }, options),
  );
});

describeWith('redis-server', 'a cluster', () => {
  let troupe: ReturnType<typeof createTroupe>;
  afterEach(() => troupe.leave());

  const devices = Array.from({ length: 30 }, (_, n) => `device-${n}`);

  async function open(prefix: string) {
    troupe = createTroupe({ url: cluster.url, prefix, commandTimeoutMs: 1_000, mapRefreshMs: 500 });
    const [api, gateway] = await Promise.all([troupe.join('api'), troupe.join('gateway')]);
    obey(gateway);
    const fences = await Promise.all(devices.map((device) => gateway.claim(device, `c of ${device}`)));
    const leases = devices.map((device, n) => ({ device, connection: `c of ${device}`, fence: fences[n]!.fence }));
    return { api, gateway, leases };
  }

  it('serves the rest after losing a node, names the missing part, and recovers with the node', async () => {
    const { api, gateway, leases } = await open('cluster-loss');
    const readers = await Promise.all(devices.map((user) => readNumbers(api, user)));
    await cluster.nodes[2]!.kill();
    try {
      await until('it is noticed', async () => !(await isHealthy(api)) && !(await isHealthy(gateway)));
      const asked = await Promise.all(devices.map((device) => endOf(api.request(device, 'hello', 5_000))));
      expect(new Set(asked)).toEqual(new Set(['hello', 'UNAVAILABLE']));
      await Promise.all(devices.map((user) => endOf(gateway.append(user, '0'))));
    } finally {
      await cluster.nodes[2]!.restart();
    }
    await healthy(api, gateway);
    expect(await gateway.refresh(leases)).toEqual([]);
    const answers = await Promise.all(devices.map((device) => api.request(device, 'again', 10_000)));
    expect(new Set(answers)).toEqual(new Set(['again']));
    await reach(readers, (next) => Promise.all(devices.map((user) => gateway.append(user, String(next)))), 1);
    expect(readers.flatMap(({ wrong }) => wrong)).toEqual([]);
  });

  it('continues while slots move, and announces every gap to readers', async () => {
    const { api, gateway } = await open('cluster-move');
    const readers = await Promise.all(devices.map((user) => readNumbers(api, user)));
    const say = (next: number) => Promise.all(devices.map((user) => endOf(gateway.append(user, String(next)))));
    await say(0);
    await moveSlots(cluster, 0, 2, 3_000);
    await say(1);
    await healthy(api, gateway);
    await reach(readers, say, 2);
    expect(readers.flatMap(({ wrong }) => wrong)).toEqual([]);
    const answers = await Promise.all(devices.map((device) => endOf(api.request(device, 'again', 10_000))));
    expect(new Set(answers)).toEqual(new Set(['again']));
  });
});
