import { describe, expect, it } from '@jest/globals';
import { createMemoryBus } from '@relay/backplane';
import { Balance, closesPerSecond, windowMs } from '../src/door/balance.ts';

/** Not looked up as a global each time: in a test that costs more than the product. */
const { imul } = Math;

/** A fleet whose sockets are numbers: real shares over a real backplane, and the edges that are shipped. */
function createFleet(gateways: number, { edge, balanced }: { edge: 'hash' | 'bounded' | 'least'; balanced: boolean }) {
  let now = 0;
  const bus = createMemoryBus({ now: () => now });
  interface Pod {
    balance: Balance;
    holds: Set<number>;
    ready: boolean;
  }
  let pods: Pod[] = [];
  let ring: { at: number; pod: Pod }[] = [];
  let started = 0;
  const random = (seed: number) => {
    let x = imul(seed ^ 0x9e3779b9, 0x85ebca6b);
    x = imul(x ^ (x >>> 13), 0xc2b2ae35);
    return (x ^ (x >>> 16)) >>> 0;
  };
  let ready: readonly Pod[] = [];
  /** The edge looks again at who is ready: after every change, not for every socket. */
  const turn = () => {
    ready = pods.filter((pod) => pod.ready);
    ring = ring.filter(({ pod }) => pod.ready).sort((a, b) => a.at - b.at);
  };
  const start = (): Pod => {
    const pod = { balance: new Balance(bus.connect(`g${started}`), () => now), holds: new Set<number>(), ready: true };
    for (let n = 0; n < 100; n += 1) ring.push({ at: random(started * 1000 + n), pod });
    started += 1;
    pods.push(pod);
    turn();
    return pod;
  };
  let total = 0;
  /** Three Envoys, each counting its own sockets per gateway. */
  const envoys = Array.from({ length: 3 }, () => new Map<Pod, number>());
  const through = new Map<number, Map<Pod, number>>();
  let choices = 0;
  const choose = <T>(some: readonly T[]): T => some[random((choices += 1)) % some.length]!;
  const leave = (pod: Pod, device: number) => {
    pod.holds.delete(device);
    const envoy = through.get(device);
    envoy?.set(pod, envoy.get(pod)! - 1);
  };
  /** As Envoy's LeastRequest: of two at random the one with fewer. */
  const connectByLeast = (device: number) => {
    const envoy = choose(envoys);
    const countOf = (pod: Pod) => envoy.get(pod) ?? 0;
    let refused: Pod | undefined;
    for (;;) {
      const able = refused === undefined ? ready : ready.filter((pod) => pod !== refused);
      const [one, other] = [choose(able), choose(able)];
      const pod = countOf(other) < countOf(one) ? other : one;
      if (pod.balance.sendsOn(`${device}`) && refused === undefined) {
        refused = pod;
        continue;
      }
      pod.holds.add(device);
      envoy.set(pod, countOf(pod) + 1);
      through.set(device, envoy);
      return;
    }
  };
  /** The edge asks one gateway, and when that refuses one more. */
  const connect = (device: number) => {
    if (edge === 'least') return connectByLeast(device);
    const hash = random(device + 77_777_777);
    let low = 0;
    let high = ring.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ring[middle]!.at < hash) low = middle + 1;
      else high = middle;
    }
    const most = (1.25 * total) / ready.length;
    let refused: Pod | undefined;
    for (let n = 0; n < ring.length; n += 1) {
      const { pod } = ring[(low + n) % ring.length]!;
      if (pod === refused || (edge === 'bounded' && pod.holds.size >= most)) continue;
      if (pod.balance.sendsOn(`${device}`) && refused === undefined) {
        refused = pod;
        continue;
      }
      pod.holds.add(device);
      return;
    }
  };
  const moved = { count: 0 };
  const close = (pod: Pod, devices: readonly number[]) => {
    for (const device of devices) leave(pod, device);
    for (const device of devices) connect(device);
    moved.count += devices.length;
  };
  /** Ten seconds pass: leaving gateways close a third of their sockets, other gateways their surplus. */
  const pass = async (leaving: { pod: Pod; parts: number }[] = []) => {
    for (const one of leaving) {
      const part = [...one.pod.holds].slice(0, Math.ceil(one.pod.holds.size / one.parts));
      one.parts -= 1;
      close(one.pod, part);
    }
    now += windowMs;
    for (const pod of balanced ? ready : []) {
      const surplus = Math.min(await pod.balance.surplus(pod.holds.size), (closesPerSecond * windowMs) / 1000);
      const some = [...pod.holds].slice(0, surplus);
      for (const device of some) pod.balance.letGo(`${device}`);
      close(pod, some);
    }
  };
  for (let n = 0; n < gateways; n += 1) start();
  return {
    fill: (devices: number) => {
      total = devices;
      for (let device = 0; device < devices; device += 1) connect(device);
    },
    /** Every gateway is replaced, `surge` at a time: new ones are there before old ones leave. */
    rollout: async (surge: number) => {
      const old = [...pods];
      while (old.length > 0) {
        const leaving = old.splice(0, surge).map((pod) => ({ pod, parts: 3 }));
        for (const _ of leaving) start();
        for (const { pod } of leaving) pod.ready = false;
        turn();
        for (let n = 0; n < 3; n += 1) await pass(leaving);
        pods = pods.filter((pod) => pod.ready);
      }
    },
    /** So many die at once. */
    lose: (count: number) => {
      const dead = pods.splice(0, count);
      for (const pod of dead) pod.ready = false;
      turn();
      for (const pod of dead)
        for (const device of [...pod.holds]) {
          leave(pod, device);
          connect(device);
        }
    },
    grow: (count: number) => {
      for (let n = 0; n < count; n += 1) start();
    },
    pass,
    moved,
    /** The fullest gateway, as a share of the mean. */
    skew: () => (Math.max(...pods.map(({ holds }) => holds.size)) * pods.length) / total,
    held: () => pods.reduce((sum, { holds }) => sum + holds.size, 0),
  };
}

describe.each([
  [21, 40_000],
  [101, 50_000],
])('%i gateways with %i daemons', (gateways, daemons) => {
  it('are uneven for ever after a rollout one by one, behind an edge that hashes', async () => {
    const fleet = createFleet(gateways, { edge: 'hash', balanced: false });
    fleet.fill(daemons);
    await fleet.rollout(1);
    const after = fleet.skew();
    expect(after).toBeGreaterThan(1.5);
    for (let n = 0; n < 30; n += 1) await fleet.pass();
    expect(fleet.skew()).toBe(after);
  });

  it.each(['hash', 'bounded', 'least'] as const)(
    'are even after a rollout as it is shipped, edge: %s',
    async (edge) => {
      const fleet = createFleet(gateways, { edge, balanced: true });
      fleet.fill(daemons);
      await fleet.rollout(Math.ceil(gateways / 4));
      for (let n = 0; n < 30; n += 1) await fleet.pass();
      expect(fleet.held()).toBe(daemons);
      expect(fleet.skew()).toBeLessThanOrEqual(1.25);
      expect(fleet.moved.count).toBeLessThan(1.8 * daemons);
    },
  );

  it('stay uneven after a third of them died and came back, where sockets stay where they are', async () => {
    const fleet = createFleet(gateways, { edge: 'least', balanced: false });
    fleet.fill(daemons);
    const third = Math.floor(gateways / 3);
    fleet.lose(third);
    fleet.grow(third);
    for (let n = 0; n < 60; n += 1) await fleet.pass();
    expect(fleet.skew()).toBeGreaterThan(1.4);
  });

  it.each(['hash', 'least'] as const)('are even again after that as it is shipped, edge: %s', async (edge) => {
    const fleet = createFleet(gateways, { edge, balanced: true });
    fleet.fill(daemons);
    fleet.lose(Math.floor(gateways / 3));
    expect(fleet.held()).toBe(daemons);
    fleet.grow(Math.floor(gateways / 3));
    for (let n = 0; n < 60; n += 1) await fleet.pass();
    expect(fleet.skew()).toBeLessThanOrEqual(1.25);
    expect(fleet.held()).toBe(daemons);
  });
});

describe('the share of a gateway', () => {
  const open = () => {
    let now = 0;
    const bus = createMemoryBus({ now: () => now });
    const balances = [0, 1].map((n) => new Balance(bus.connect(`g${n}`), () => now));
    const round = async (...sizes: number[]) => {
      const found = [];
      for (const [n, size] of sizes.entries()) found.push(await balances[n]!.surplus(size));
      now += windowMs;
      return found;
    };
    return { balances, round, pass: (ms: number) => (now += ms) };
  };

  it('is the excess over the mean plus a fifth, unless it is small', async () => {
    const { round } = open();
    expect(await round(3000, 1000)).toEqual([0, 0]);
    expect(await round(3000, 1000)).toEqual([600, 0]);
    const small = open();
    await small.round(100, 10);
    expect(await small.round(100, 10)).toEqual([0, 0]);
  });

  it('is everything if it is the only gateway', async () => {
    const { round } = open();
    await round(3000);
    expect(await round(3000)).toEqual([0]);
  });

  it('sends a device that was let go on once, and only for a minute', () => {
    const { balances, pass } = open();
    const [balance] = balances as [Balance, Balance];
    balance.letGo('a');
    balance.letGo('b');
    expect([balance.sendsOn('a'), balance.sendsOn('a'), balance.sendsOn('other')]).toEqual([true, false, false]);
    pass(60_000);
    expect(balance.sendsOn('b')).toBe(false);
  });
});
