/** Promises about who owns a device. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Lease } from '../../src/leases.ts';
import { type MakeBus, type Stage, passing, createEar, createStage, until } from './harness.ts';

export function describeLeases(makeBus: MakeBus): void {
  describe('a lease', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    testClaims(stage);
    testRefreshes(stage);
    testReleases(stage);
  });
}

function testClaims(stage: Stage): void {
  it('gets a fence from its claim, and every instance finds it', async () => {
    const bus = await stage.open();
    const gateway = await bus.connect('gateway');
    const api = await bus.connect('api');
    const claimed = await gateway.claim('device', 'c1');
    expect(claimed.previous).toBeUndefined();
    expect(Number.isSafeInteger(claimed.fence)).toBe(true);
    const lease: Lease = { device: 'device', connection: 'c1', fence: claimed.fence, instance: gateway.instance };
    expect(await api.owners(['device', 'nobody'])).toEqual(new Map([['device', lease]]));
    expect(gateway.instance).toMatch(/^gateway-.+/);
  });

  it('goes to the newest claim, and the previous owner gets the lost lease', async () => {
    const bus = await stage.open();
    const [first, second] = [await bus.connect('gateway'), await bus.connect('gateway')];
    expect(first.instance).not.toBe(second.instance);
    const evicted = createEar<Lease>();
    first.onEvict(evicted.add);
    const old = await first.claim('device', 'c1');
    const fresh = await second.claim('device', 'c2');
    const lost: Lease = { device: 'device', connection: 'c1', fence: old.fence, instance: first.instance };
    expect(fresh.previous).toEqual(lost);
    expect(fresh.fence).toBeGreaterThan(old.fence);
    expect(await evicted.next()).toEqual(lost);
    expect((await first.owners(['device'])).get('device')?.instance).toBe(second.instance);
  });

  it('is lost to a newer connection at the same instance as to any other', async () => {
    const bus = await stage.open();
    const gateway = await bus.connect('gateway');
    const evicted = createEar<Lease>();
    gateway.onEvict(evicted.add);
    await gateway.claim('device', 'c1');
    await gateway.claim('device', 'c2');
    expect((await evicted.next()).connection).toBe('c1');
  });

  it('has one survivor of five hundred concurrent claims, and four hundred and ninety-nine evictions', async () => {
    const bus = await stage.open();
    const gateways = await Promise.all(['a', 'b', 'c', 'd'].map((name) => bus.connect(name)));
    const evicted = createEar<Lease>();
    gateways.forEach((gateway) => gateway.onEvict(evicted.add));
    const claims = await Promise.all(
      Array.from({ length: 500 }, async (_, n) => {
        const claimed = await gateways[n % gateways.length]!.claim('device', `c${n}`);
        return { ...claimed, connection: `c${n}` };
      }),
    );
    await until('all the others are evicted', () => evicted.heard.length >= 499);
    const survivor = claims.reduce((newest, claim) => (claim.fence > newest.fence ? claim : newest));
    expect((await gateways[0]!.owners(['device'])).get('device')?.connection).toBe(survivor.connection);
    const losers = claims.filter((claim) => claim !== survivor).map((claim) => claim.connection);
    // Another one, which must arrive, proves that nothing else was being sent.
    await gateways[0]!.claim('device', 'last');
    await until('the survivor is evicted too', () => evicted.heard.length >= 500);
    expect(evicted.heard.map((lease) => lease.connection).sort()).toEqual([...losers, survivor.connection].sort());
    expect(new Set(claims.map((claim) => claim.fence)).size).toBe(500);
  });

  it('keeps its fences rising after a release', async () => {
    const bus = await stage.open();
    const gateway = await bus.connect('gateway');
    let fence = 0;
    // Faster than one a millisecond, so that the clock alone would not be enough.
    for (let n = 0; n < 200; n++) {
      const claimed = await gateway.claim('device', `c${n}`);
      expect(claimed.fence).toBeGreaterThan(fence);
      expect(claimed.previous).toBeUndefined();
      fence = claimed.fence;
      expect(await gateway.release('device', fence)).toBe(true);
    }
  });
}

/** A lease lives while it is refreshed; a refresh also restores a lost lease. */
function testRefreshes(stage: Stage): void {
  it('expires without a refresh, and the fence keeps rising', async () => {
    const bus = await stage.open({ leaseTtlMs: 200 });
    const gateway = await bus.connect('gateway');
    const old = await gateway.claim('device', 'c1');
    const isGone = async () => !(await gateway.owners(['device'])).has('device');
    await until('the lease has ended', isGone, passing(bus, 100));
    expect(await gateway.release('device', old.fence)).toBe(false);
    const fresh = await gateway.claim('device', 'c2');
    expect(fresh.previous).toBeUndefined();
    expect(fresh.fence).toBeGreaterThan(old.fence);
  });

  it('lives as long as it is refreshed', async () => {
    const bus = await stage.open({ leaseTtlMs: 1_500 });
    const gateway = await bus.connect('gateway');
    const kept = { device: 'kept', connection: 'c1', fence: (await gateway.claim('kept', 'c1')).fence };
    await gateway.claim('left', 'c2');
    const isLeftGone = async () => {
      expect(await gateway.refresh([kept])).toEqual([]);
      return !(await gateway.owners(['left'])).has('left');
    };
    await until('the lease that is not refreshed has ended', isLeftGone, passing(bus, 100));
    expect((await gateway.owners(['kept'])).get('kept')?.fence).toBe(kept.fence);
  });

  it('with a newer claim appears in the result of refresh, and the newer lease stays unchanged', async () => {
    const bus = await stage.open();
    const [first, second] = [await bus.connect('first'), await bus.connect('second')];
    const lost = { device: 'lost', connection: 'c1', fence: (await first.claim('lost', 'c1')).fence };
    const held = { device: 'held', connection: 'c2', fence: (await first.claim('held', 'c2')).fence };
    const fresh = await second.claim('lost', 'c3');
    expect(await first.refresh([lost, held])).toEqual(['lost']);
    expect((await first.owners(['lost'])).get('lost')).toMatchObject({ connection: 'c3', fence: fresh.fence });
    // Even when the newer owner has gone: this connection was evicted and is never an owner again.
    await second.release('lost', fresh.fence);
    expect(await first.refresh([lost])).toEqual(['lost']);
    expect((await first.owners(['lost'])).size).toBe(0);
  });

  it('that went missing is restored under its old fence, never claimed again', async () => {
    const bus = await stage.open();
    const gateway = await bus.connect('gateway');
    const { fence } = await gateway.claim('device', 'c1');
    await bus.flush();
    expect((await gateway.owners(['device'])).size).toBe(0);
    expect(await gateway.refresh([{ device: 'device', connection: 'c1', fence }])).toEqual([]);
    const restored = { device: 'device', connection: 'c1', fence, instance: gateway.instance };
    expect((await gateway.owners(['device'])).get('device')).toEqual(restored);
  });

  it('that an older owner took back after a loss is restored to the newer one', async () => {
    const bus = await stage.open();
    const [older, newer] = [await bus.connect('older'), await bus.connect('newer')];
    const old = { device: 'device', connection: 'c1', fence: (await older.claim('device', 'c1')).fence };
    const fresh = { device: 'device', connection: 'c2', fence: (await newer.claim('device', 'c2')).fence };
    await bus.flush();
    expect(await older.refresh([old])).toEqual([]);
    expect(await newer.refresh([fresh])).toEqual([]);
    expect((await older.owners(['device'])).get('device')).toEqual({ ...fresh, instance: newer.instance });
    expect(await older.refresh([old])).toEqual(['device']);
  });
}

/** A lease disappears with a release, with its instance, or after the TTL of a vanished instance. */
function testReleases(stage: Stage): void {
  it('that was released stays released when a late refresh arrives', async () => {
    const bus = await stage.open();
    const gateway = await bus.connect('gateway');
    const { fence } = await gateway.claim('device', 'c1');
    expect(await gateway.release('device', fence)).toBe(true);
    expect(await gateway.refresh([{ device: 'device', connection: 'c1', fence }])).toEqual([]);
    expect((await gateway.owners(['device'])).size).toBe(0);
  });

  it('is released only under its own fence, and once', async () => {
    const bus = await stage.open();
    const gateway = await bus.connect('gateway');
    const old = await gateway.claim('device', 'c1');
    const fresh = await gateway.claim('device', 'c2');
    expect(await gateway.release('device', old.fence)).toBe(false);
    expect((await gateway.owners(['device'])).get('device')?.connection).toBe('c2');
    expect(await gateway.release('device', fresh.fence)).toBe(true);
    expect(await gateway.release('device', fresh.fence)).toBe(false);
    expect(await gateway.release('nobody', 1)).toBe(false);
  });

  it('disappears when its instance closes, and other leases stay', async () => {
    const bus = await stage.open();
    const [leaving, staying] = [await bus.connect('leaving'), await bus.connect('staying')];
    await leaving.claim('left', 'c1');
    await leaving.claim('moved', 'c2');
    await staying.claim('moved', 'c3');
    await leaving.close();
    expect([...(await staying.owners(['left', 'moved'])).keys()]).toEqual(['moved']);
  });

  it('of a vanished instance expires, and any instance can claim the device before', async () => {
    const bus = await stage.open({ leaseTtlMs: 300 });
    const [dead, alive] = [await bus.connect('dead'), await bus.connect('alive')];
    const old = await dead.claim('claimed', 'c1');
    await dead.claim('left', 'c2');
    await bus.kill(dead.instance);
    expect((await alive.claim('claimed', 'c3')).fence).toBeGreaterThan(old.fence);
    const isGone = async () => !(await alive.owners(['left'])).has('left');
    await until('the lease of the dead instance has ended', isGone, passing(bus, 100));
  });
}
