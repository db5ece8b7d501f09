/** Faults of Redis, and the answers that callers must get. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';
import { createEar, until } from './contract/harness.ts';
import type { Lease, UserFrame } from '../src/index.ts';
import { createTroupe, endOf, healthy, isHealthy, namedCodes, obey, reach, readNumbers } from './stage.ts';

let redis: TestRedis;
let troupe: ReturnType<typeof createTroupe>;

beforeAll(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  redis.resume();
  await troupe.leave();
  await redis.command('CONFIG', 'SET', 'maxmemory', '0');
});
afterAll(() => redis.stop());

let lastPrefix = 0;

/** Redis answers within the time limit on a busy machine too. */
async function open(commandTimeoutMs = 1_000) {
  lastPrefix += 1;
  troupe = createTroupe({ url: redis.url, prefix: `faults${lastPrefix}`, commandTimeoutMs });
  const [api, gateway, other] = await Promise.all(['api', 'gateway', 'other'].map((name) => troupe.join(name)));
  const lease = { device: 'device', connection: 'c1', fence: (await gateway!.claim('device', 'c1')).fence };
  return { api: api!, gateway: gateway!, other: other!, lease, commands: obey(gateway!) };
}

describeWith('redis-server', 'Redis that is killed', () => {
  it('is unavailable at once, and everything recovers without a restart of ours', async () => {
    const { api, gateway, other, lease, commands } = await open();
    const restored = createEar<string>();
    gateway.onRestored(() => restored.add('gateway'));
    const reader = await readNumbers(api, 'user');
    await gateway.append('user', '0');
    await until('the frame is heard', () => reader.last() === 0);
    await redis.kill();
    await until('it is noticed', async () => !(await isHealthy(gateway)));
    expect(await endOf(api.route('device', 'lost'))).toBe('UNAVAILABLE');
    expect(await endOf(api.request('device', 'lost', 60_000))).toBe('UNAVAILABLE');
    expect(await endOf(gateway.append('user', '1'))).toBe('UNAVAILABLE');
    expect(await endOf(other.claim('device', 'c2'))).toBe('UNAVAILABLE');
    expect(await endOf(gateway.refresh([lease]))).toBe('UNAVAILABLE');
    expect(await endOf(api.subscribe('another', () => undefined))).toBe('UNAVAILABLE');
    await redis.restart();
    await restored.next();
    await healthy(api, gateway, other);
    expect(await gateway.refresh([lease])).toEqual([]);
    expect((await api.owners(['device'])).get('device')).toEqual({ ...lease, instance: gateway.instance });
    expect(await api.request('device', 'found', 10_000)).toBe('found');
    await until('the reader was told of the gap', () => reader.gaps() > 0);
    await reach([reader], (number) => gateway.append('user', String(number)), 2);
    expect(reader.wrong).toEqual([]);
    expect(commands.heard.map(({ body }) => body)).toEqual(['found']);
  });
});

describeWith('redis-server', 'a process that is paused for a while', () => {
  it('takes an answer that arrived during the pause', async () => {
    const { api, lease, gateway } = await open();
    const owners = api.owners(['device']);
    // After the write of the request.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500));
    expect((await owners).get('device')).toEqual({ ...lease, instance: gateway.instance });
  });
});

describeWith('redis-server', 'Redis that is frozen', () => {
  it('executes no operation after its deadline', async () => {
    const { api, gateway, other, lease, commands } = await open();
    const evicted = createEar<Lease>();
    gateway.onEvict(evicted.add);
    const reader = await readNumbers(api, 'user');
    const shown = createEar<UserFrame>();
    await api.subscribe('watched', shown.add);
    redis.pause();
    const ends = await Promise.all([
      endOf(api.route('device', 'frozen', 300)),
      endOf(api.request('device', 'frozen', 5_000)),
      endOf(other.claim('device', 'c2')),
      endOf(gateway.release('device', lease.fence)),
      endOf(gateway.append('user', '0')),
      endOf(api.put('ticket', 'frozen', 60_000)),
      endOf(gateway.publish('watched', 'short')),
      endOf(other.publish('watched', 'long'.repeat(5_000))),
      endOf(api.health().then(({ ok }) => ok)),
    ]);
    expect(ends).toEqual(['unknown', ...Array.from({ length: 7 }, () => 'UNAVAILABLE'), false]);
    redis.resume();
    await healthy(api, gateway, other);
    expect((await api.owners(['device'])).get('device')).toEqual({ ...lease, instance: gateway.instance });
    expect(await api.route('device', 'thawed')).toBe('sent');
    expect(commands.heard.map(({ body }) => body)).toEqual(['thawed']);
    expect(evicted.heard).toEqual([]);
    expect(await api.take('ticket')).toBeUndefined();
    await other.publish('watched', 'later');
    expect((await shown.next()).body).toBe('later');
    await until('the reader is told that something is missing', () => reader.gaps() > 0);
    await reach([reader], (number) => gateway.append('user', String(number)), 1);
    expect(reader.wrong).toEqual([]);
  });

  it('for five seconds leaves every request with a name and nothing waiting', async () => {
    const { api, gateway, other, lease } = await open();
    redis.pause();
    const until5s = performance.now() + 5_000;
    const ends: unknown[] = [];
    while (performance.now() < until5s) {
      const calls = [api.request('device', 'frozen', 3_000), api.route('device', 'frozen'), gateway.refresh([lease])];
      ends.push(...(await Promise.all(calls.map(endOf))));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([...new Set(ends)].filter((end) => end !== 'unknown' && !namedCodes.includes(end as string))).toEqual([]);
    redis.resume();
    await healthy(api, gateway, other);
    expect(await gateway.refresh([lease])).toEqual([]);
    expect(await api.request('device', 'thawed', 10_000)).toBe('thawed');
  });
});

describeWith('redis-server', 'Redis that lost everything it stored', () => {
  it('gets the leases again, under the old fences', async () => {
    const { api, gateway, other, lease } = await open();
    const newer = { device: 'moved', connection: 'new', fence: 0 };
    const older = { device: 'moved', connection: 'old', fence: (await gateway.claim('moved', 'old')).fence };
    newer.fence = (await other.claim('moved', 'new')).fence;
    await redis.flush();
    await gateway.refresh([lease, older]);
    await other.refresh([newer]);
    expect(await gateway.refresh([lease, older])).toEqual(['moved']);
    const owners = await api.owners(['device', 'moved']);
    expect(owners.get('device')).toEqual({ ...lease, instance: gateway.instance });
    expect(owners.get('moved')).toEqual({ ...newer, instance: other.instance });
  });

  it('goes on reaching every instance that listens, with hot frames too', async () => {
    const { api, gateway, other } = await open();
    const [here, there] = [createEar<UserFrame>(), createEar<UserFrame>()];
    await api.subscribe('user', here.add);
    await other.subscribe('user', there.add);
    for (let n = 0; n < 5; n++) {
      await redis.flush();
      expect(await gateway.publish('user', `hot ${n}`)).toBe(2);
      expect((await gateway.append('user', `${n}`)).receivers).toBe(2);
    }
    for (const ear of [here, there]) {
      await until('all is heard', () => ear.heard.length === 10);
      expect(ear.heard.map(({ body }) => body)).toEqual(
        Array.from({ length: 10 }, (_, n) => (n % 2 ? `${n >> 1}` : `hot ${n >> 1}`)),
      );
    }
  });

  it('reports to a reader that its position is unknown', async () => {
    const { api, gateway } = await open();
    const reader = await readNumbers(api, 'user');
    await gateway.append('user', '0');
    await until('the frame is heard', () => reader.last() === 0);
    await redis.flush();
    await gateway.append('user', '2');
    await until('the reader is told', () => reader.gaps() > 0);
    await reach([reader], (number) => gateway.append('user', String(number)), 3);
    expect(reader.wrong).toEqual([]);
  });
});

describeWith('redis-server', 'connections that are cut again and again', () => {
  it('leave every reader either complete or notified, and one owner', async () => {
    const { api, gateway, other, lease } = await open();
    const readers = await Promise.all([readNumbers(api, 'user'), readNumbers(other, 'user'), readNumbers(api, 'long')]);
    let number = 0;
    let stop = false;
    const ends: unknown[] = [];
    const speak = async () => {
      while (!stop) {
        const body = String(number++);
        const said = [gateway.append('user', body), gateway.append('long', `${body} ${'x'.repeat(2_000)}`)];
        ends.push(...(await Promise.all([...said, api.request('device', body, 2_000)].map(endOf))));
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const speaking = speak();
    for (let cut = 0; cut < 12; cut++) {
      const before = number;
      await redis.command('CLIENT', 'KILL', 'TYPE', cut % 3 === 2 ? 'normal' : 'pubsub');
      // Continue for a while, by the count of its own frames, so that each cut hits live connections.
      await until('more was said', () => number > before + 20);
    }
    stop = true;
    await speaking;
    await healthy(api, gateway, other);
    const say = (next: number) => Promise.all(['user', 'long'].map((user) => gateway.append(user, String(next))));
    await reach(readers, say, number);
    expect(readers.flatMap(({ wrong }) => wrong)).toEqual([]);
    const codes = ends.filter((end) => typeof end === 'string' && !/^\d+$/.test(end));
    expect(codes.filter((code) => !namedCodes.includes(code as string))).toEqual([]);
    expect(await gateway.refresh([lease])).toEqual([]);
    expect((await api.owners(['device'])).get('device')?.fence).toBe(lease.fence);
  });

  it('cost a reader nothing when only its own way was cut', async () => {
    const { api, gateway } = await open();
    const reader = await readNumbers(api, 'user');
    await gateway.append('user', '0');
    await until('the first is heard', () => reader.last() === 0);
    for (let n = 1; n <= 20; n++) {
      if (n % 5 === 0) await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await gateway.append('user', String(n));
    }
    await until('all are heard', () => reader.last() === 20);
    expect([reader.gaps(), reader.wrong]).toEqual([0, []]);
  });
});

describeWith('redis-server', 'Redis that forgot the script', () => {
  it('gets it again', async () => {
    const { api } = await open();
    await redis.command('SCRIPT', 'FLUSH', 'SYNC');
    expect(await api.request('device', 'still there', 10_000)).toBe('still there');
  });
});

describeWith('redis-server', 'Redis whose memory is full', () => {
  it('refuses entries to keep, forwards hot frames, and reports the gap', async () => {
    const { api, gateway, other, lease } = await open();
    const hot = createEar<string>();
    await api.subscribe('user', (frame) => frame.hot && hot.add(frame.body));
    const reader = await readNumbers(api, 'user');
    await gateway.append('user', '0');
    await until('the frame is heard', () => reader.last() === 0);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await endOf(gateway.append('user', '1'))).toBe('UNAVAILABLE');
    await until('the reader is told', () => reader.gaps() > 0);
    expect(await endOf(other.claim('device', 'c2'))).toBe('UNAVAILABLE');
    expect((await api.owners(['device'])).get('device')?.fence).toBe(lease.fence);
    expect(await gateway.publish('user', 'hot')).toBe(1);
    expect(await hot.next()).toBe('hot');
    expect(await api.request('device', 'carried', 10_000)).toBe('carried');
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await reach([reader], (number) => gateway.append('user', String(number)), 2);
    expect(reader.wrong).toEqual([]);
    expect(await gateway.refresh([lease])).toEqual([]);
  });
});
