/** The number of Redis commands for frames to apps: counted by Redis itself. */
import { createHook } from 'node:async_hooks';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';
import { type RedisBackplane, createRedisBackplane } from '../src/index.ts';
import { createEar } from './contract/harness.ts';

/** The limit for a PUBLISH, with the promises of the library and of its caller. */
const mostPromises = 6;

describeWith('redis-server', 'the commands for frames', () => {
  let redis: TestRedis;
  let gateway: RedisBackplane;
  let api: RedisBackplane;
  const heard = createEar<string>();

  beforeAll(async () => {
    redis = await startRedis();
    const join = (name: string) =>
      createRedisBackplane({ url: redis.url, name, prefix: 'count', probeSilenceMs: 600_000 });
    [gateway, api] = await Promise.all([join('gateway'), join('api')]);
    for (const user of ['alice', 'bob', 'carol', 'dave']) await api.subscribe(user, ({ body }) => heard.add(body));
  });
  afterAll(async () => {
    await Promise.all([gateway.close(), api.close()]);
    await redis.stop();
  });

  /** The cost of the work. Commands of scripts count by themselves, beside the script. */
  const cost = async (work: () => Promise<unknown>) => {
    await redis.command('CONFIG', 'RESETSTAT');
    await work();
    const stats = await redis.command('INFO', 'commandstats');
    const calls = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    return { scripts: calls('evalsha'), publishes: calls('publish') };
  };

  it('are one PUBLISH for a frame alone, without a script', async () => {
    expect(await cost(() => gateway.publish('alice', 'alone'))).toEqual({ scripts: 0, publishes: 1 });
    expect(await heard.next()).toBe('alone');
  });

  it('performance 8: start no timer and few promises for a frame that is alone', async () => {
    const publish = async (body: string) => {
      await gateway.publish('alice', body);
      expect(await heard.next()).toBe(body);
    };
    await publish('before');
    // Timers of the connections can fall into a round; timers of the frames fall into each.
    const rounds: Map<string, number>[] = [];
    for (let round = 0; round < 3; round += 1) {
      const made = new Map<string, number>();
      const hook = createHook({ init: (_id, type) => void made.set(type, (made.get(type) ?? 0) + 1) });
      hook.enable();
      for (let n = 0; n < 10; n += 1) await gateway.publish('alice', 'counted');
      hook.disable();
      for (let n = 0; n < 10; n += 1) await heard.next();
      rounds.push(made);
    }
    const fewest = (type: string) => Math.min(...rounds.map((made) => made.get(type) ?? 0));
    expect(fewest('Timeout')).toBe(0);
    expect(fewest('PROMISE') / 10).toBeLessThanOrEqual(mostPromises);
    expect(fewest('Immediate') / 10).toBeLessThanOrEqual(1);
  });

  it('are one PUBLISH for all frames of one user in a tick', async () => {
    const bodies = Array.from({ length: 50 }, (_, n) => `together ${n}`);
    const all = () => Promise.all(bodies.map((body) => gateway.publish('alice', body)));
    expect(await cost(all)).toEqual({ scripts: 0, publishes: 1 });
    for (const body of bodies) expect(await heard.next()).toBe(body);
  });

  it('are one script, and one PUBLISH to their instance, for frames of many users', async () => {
    const all = () => Promise.all(['alice', 'bob', 'carol', 'dave'].map((user) => gateway.publish(user, user)));
    expect(await cost(all)).toEqual({ scripts: 1, publishes: 1 });
  });

  it('are one script for a frame beside something that needs one', async () => {
    for (let n = 0; n < 4; n += 1) await heard.next();
    const both = () => Promise.all([gateway.append('alice', 'kept'), gateway.publish('alice', 'hot')]);
    expect(await cost(both)).toEqual({ scripts: 1, publishes: 1 });
    expect([await heard.next(), await heard.next()]).toEqual(['kept', 'hot']);
  });

  it('performance idle: are four scripts to renew the leases of a thousand silent daemons, and to look their owners up', async () => {
    const names = Array.from({ length: 1_000 }, (_, n) => `daemon-${n}`);
    const leases = await Promise.all(
      names.map(async (device) => ({ device, connection: 'c', fence: (await gateway.claim(device, 'c')).fence })),
    );
    const renew = async () => expect(await gateway.refresh(leases)).toEqual([]);
    expect(await cost(renew)).toEqual({ scripts: 4, publishes: 0 });
    expect(await cost(() => api.owners(names))).toEqual({ scripts: 4, publishes: 0 });
    const { fence } = await api.claim('daemon-700', 'newer');
    expect(await gateway.refresh(leases)).toEqual(['daemon-700']);
    const owners = await api.owners([...names, 'nobody']);
    expect(owners.size).toBe(1_000);
    expect(owners.get('daemon-700')).toEqual({
      device: 'daemon-700',
      connection: 'newer',
      fence,
      instance: api.instance,
    });
  });
});
