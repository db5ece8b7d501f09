import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestSentinel, startSentinel } from '@relay/testing/redis';
import { describeBackplaneContract } from './contract.ts';
import { until } from './contract/harness.ts';
import { deafen, makeRedisBus } from './redis-bus.ts';
import { createTroupe, endOf, healthy, namedCodes, obey, reach, readNumbers } from './stage.ts';

let group: TestSentinel;

beforeAll(async () => {
  group = await startSentinel();
});
afterAll(() => group.stop());

describeWith(['redis-server', 'redis-sentinel'], 'the contract, on a Redis sentinel', () => {
  describeBackplaneContract('redis by sentinel', (options) =>
    makeRedisBus(
      { url: group.url, flush: () => group.flush(), deafen: () => deafen([group.master, group.replica]) },
      options,
    ),
  );
});

describeWith(['redis-server', 'redis-sentinel'], 'a failover', () => {
  let troupe: ReturnType<typeof createTroupe>;
  afterEach(() => troupe.leave());

  it('leaves one owner, no silent gap and every call with a name, and is over by itself', async () => {
    troupe = createTroupe({ url: group.url, prefix: 'failover', commandTimeoutMs: 1_000 });
    const [api, gateway, other] = await Promise.all(['api', 'gateway', 'other'].map((name) => troupe.join(name)));
    if (!api || !gateway || !other) throw new Error('an instance is missing');
    const commands = obey(gateway);
    const lease = { device: 'device', connection: 'c1', fence: (await gateway.claim('device', 'c1')).fence };
    const older = { device: 'moved', connection: 'old', fence: (await gateway.claim('moved', 'old')).fence };
    const newer = { device: 'moved', connection: 'new', fence: (await other.claim('moved', 'new')).fence };
    const reader = await readNumbers(api, 'user');
    let number = 0;
    let over = false;
    const ends: unknown[] = [];
    const speak = async () => {
      while (!over) {
        const body = String(number++);
        ends.push(
          ...(await Promise.all([endOf(gateway.append('user', body)), endOf(api.request('device', body, 2_000))])),
        );
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const speaking = speak();
    await until('something was heard', () => reader.last() > 10);
    await group.master.kill();
    await group.follows(group.replica);
    await healthy(api, gateway, other);
    over = true;
    await speaking;
    await reach([reader], (next) => gateway.append('user', String(next)), number);
    expect(reader.wrong).toEqual([]);
    expect(ends.filter((end) => typeof end === 'string' && !/^\d+$/.test(end) && !namedCodes.includes(end))).toEqual(
      [],
    );
    expect(await gateway.refresh([lease, older])).toEqual(['moved']);
    expect(await other.refresh([newer])).toEqual([]);
    const owners = await api.owners(['device', 'moved']);
    expect(owners.get('device')).toEqual({ ...lease, instance: gateway.instance });
    expect(owners.get('moved')).toEqual({ ...newer, instance: other.instance });
    expect((await other.claim('device', 'c2')).fence).toBeGreaterThan(lease.fence);
    expect(new Set(commands.heard.map(({ body }) => body)).size).toBe(commands.heard.length);
  });
});
