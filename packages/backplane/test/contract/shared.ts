/** Promises about small shared state: used keys, tickets, counters, control. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type MakeBus, createEar, createStage, passing, until } from './harness.ts';

export function describeShared(makeBus: MakeBus): void {
  describeOnce(makeBus);
  describeTickets(makeBus);
  describeFirstValues(makeBus);
  describeCounters(makeBus);
  describeControl(makeBus);
}

function describeOnce(makeBus: MakeBus): void {
  describe('using a key once', () => {
    const { openTwo, clear } = createStage(makeBus);
    afterEach(clear);

    it('succeeds for the first of several callers with a common key', async () => {
      const { one, two } = await openTwo();
      expect(await one.once('session', ['uuid', 'hash'], 60_000)).toBe(true);
      expect(await two.once('session', ['hash'], 60_000)).toBe(false);
      expect(await two.once('session', ['another'], 60_000)).toBe(true);
    });

    it('remembers also the keys of a caller that was refused', async () => {
      const { one, two } = await openTwo();
      await one.once('session', ['a'], 60_000);
      expect(await two.once('session', ['b', 'a', 'c'], 60_000)).toBe(false);
      expect(await one.once('session', ['b'], 60_000)).toBe(false);
      expect(await one.once('session', ['c'], 60_000)).toBe(false);
    });

    it('knows nothing of another scope, however the names are cut', async () => {
      const { one } = await openTwo();
      expect(await one.once('a', ['b:c'], 60_000)).toBe(true);
      expect(await one.once('a:b', ['c'], 60_000)).toBe(true);
      expect(await one.once('b', ['b:c'], 60_000)).toBe(true);
    });

    it('counts a repeated key once, and an empty list as new', async () => {
      const { one } = await openTwo();
      expect(await one.once('session', ['a', 'a'], 60_000)).toBe(true);
      expect(await one.once('session', [], 60_000)).toBe(true);
    });

    it('has one winner among many who try at once', async () => {
      const { one, two } = await openTwo();
      const tries = Array.from({ length: 100 }, (_, n) =>
        (n % 2 ? one : two).once('s', ['shared', `own ${n}`], 60_000),
      );
      expect((await Promise.all(tries)).filter((first) => first)).toHaveLength(1);
    });

    it('is allowed again when its time is over, and repeating does not prolong it', async () => {
      const { bus, one } = await openTwo();
      expect(await one.once('session', ['a'], 300)).toBe(true);
      const isAllowed = () => one.once('session', ['a'], 60_000);
      await until('it may be said again', isAllowed, passing(bus, 100));
      expect(await one.once('session', ['a'], 60_000)).toBe(false);
    });

    it('fails for all marked keys, within this scope', async () => {
      const { one, two } = await openTwo();
      await one.mark('session', ['a', 'żółw'], 60_000);
      expect(await two.once('session', ['a'], 60_000)).toBe(false);
      expect(await two.appendOnce('session', 'said', ['żółw'], 60_000)).toBe(false);
      expect(await two.once('another', ['a', 'żółw'], 60_000)).toBe(true);
    });

    it('is not allowed for the whole time again after a mark, however little time was left', async () => {
      const { bus, one, two } = await openTwo();
      await one.mark('session', ['marked'], 1_500);
      await one.once('session', ['said'], 1_500);
      await one.once('session', ['the clock'], 1_500);
      await two.mark('session', ['said', 'marked'], 60_000);
      await until('the first time is over', () => one.once('session', ['the clock'], 60_000), passing(bus, 100));
      expect(await one.once('session', ['said'], 60_000)).toBe(false);
      expect(await one.once('session', ['marked'], 60_000)).toBe(false);
    });
  });
}

function describeTickets(makeBus: MakeBus): void {
  describe('a ticket', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);
    const { openTwo } = stage;

    it('goes to only one caller', async () => {
      const { one, two } = await openTwo();
      await one.put('ticket', 'value', 60_000);
      const taken = await Promise.all([one.take('ticket'), two.take('ticket'), one.take('ticket')]);
      expect(taken.filter((value) => value !== undefined)).toEqual(['value']);
      expect(await one.take('never put')).toBeUndefined();
    });

    it('is still there when it was only looked at', async () => {
      const { one, two } = await openTwo();
      expect(await one.peek('ticket')).toBeUndefined();
      await one.put('ticket', 'zażółć', 60_000);
      expect([await one.peek('ticket'), await two.peek('ticket')]).toEqual(['zażółć', 'zażółć']);
      expect(await two.take('ticket')).toBe('zażółć');
      expect(await one.peek('ticket')).toBeUndefined();
    });

    it('is worth nothing when its time is over', async () => {
      const bus = await stage.open({ leaseTtlMs: 200 });
      const backplane = await bus.connect('api');
      await backplane.put('ticket', 'value', 100);
      // A lease that expires later shows the passage of time.
      await backplane.claim('clock', 'c1');
      const isOver = async () => !(await backplane.owners(['clock'])).has('clock');
      await until('the time is over', isOver, passing(bus, 50));
      expect(await backplane.peek('ticket')).toBeUndefined();
      expect(await backplane.take('ticket')).toBeUndefined();
    });

    it('that is put again has the newer value', async () => {
      const { one, two } = await openTwo();
      await one.put('ticket', 'old', 60_000);
      await two.put('ticket', 'new', 60_000);
      expect(await one.take('ticket')).toBe('new');
      expect(await one.take('ticket')).toBeUndefined();
    });

    it('grows while it is there, and lives from then on', async () => {
      const bus = await stage.open({ leaseTtlMs: 1_600 });
      const [one, two] = [await bus.connect('api'), await bus.connect('gateway')];
      expect(await one.extend('ticket', ' and more', 60_000)).toBe(false);
      expect(await one.take('ticket')).toBeUndefined();
      await one.put('ticket', 'zażółć', 1_500);
      expect(await two.extend('ticket', ' and more', 60_000)).toBe(true);
      await one.claim('clock', 'c1');
      const isOver = async () => !(await one.owners(['clock'])).has('clock');
      await until('the first time is over', isOver, passing(bus, 50));
      expect(await one.take('ticket')).toBe('zażółć and more');
      expect(await two.extend('ticket', ' and more', 60_000)).toBe(false);
    });
  });
}

function describeFirstValues(makeBus: MakeBus): void {
  describe('a first value', () => {
    const { openTwo, clear } = createStage(makeBus);
    afterEach(clear);

    it('stays the same for all callers, one of many that set it concurrently', async () => {
      const { one, two } = await openTwo();
      const kept = await Promise.all(
        Array.from({ length: 50 }, (_, n) => (n % 2 ? one : two).keepFirst('who', `value ${n}`, 60_000)),
      );
      expect(new Set(kept).size).toBe(1);
      expect(await two.keepFirst('who', 'later', 60_000)).toBe(kept[0]);
      expect(await one.peek('who')).toBe(kept[0]);
    });

    it('is free again after it was taken or has expired, and only its own caller prolongs it', async () => {
      const { bus, one, two } = await openTwo();
      await one.keepFirst('taken', 'first', 60_000);
      await one.take('taken');
      expect(await two.keepFirst('taken', 'second', 60_000)).toBe('second');
      await one.keepFirst('short', 'first', 1_500);
      await one.keepFirst('long', 'first', 1_500);
      await one.keepFirst('long', 'first', 60_000);
      const isFree = async () => (await two.peek('short')) === undefined;
      await until('the short value has expired', isFree, passing(bus, 100));
      expect(await two.keepFirst('short', 'second', 60_000)).toBe('second');
      expect(await two.keepFirst('long', 'second', 60_000)).toBe('first');
    });
  });
}

function describeCounters(makeBus: MakeBus): void {
  describe('a count', () => {
    const { openTwo, clear } = createStage(makeBus);
    afterEach(clear);

    it('is shared by all instances and expires with its window', async () => {
      const { bus, one, two } = await openTwo();
      const first = await one.count('who', 1, 1_500);
      expect(first.count).toBe(1);
      expect(first.leftMs).toBeGreaterThan(0);
      expect(first.leftMs).toBeLessThanOrEqual(1_500);
      const isNew = async () => (await two.count('who', 1, 60_000)).count === 1;
      await until('another window began', isNew, passing(bus, 100));
      const { count, leftMs } = await one.count('who', 2, 60_000);
      expect(count).toBe(3);
      expect(leftMs).toBeGreaterThan(1_000);
    });

    it('K8: expires at the same moment for every caller that counts in a window', async () => {
      const { one, two } = await openTwo();
      const { endsAt } = await one.count('who', 2, 60_000);
      for (let n = 0; n < 20; n += 1)
        expect((await (n % 3 ? one : two).count('who', n % 2 ? -1 : 1, 60_000)).endsAt).toBe(endsAt);
    });

    it('can be given back, but an unopened window stays empty', async () => {
      const { one } = await openTwo();
      await one.count('who', 3, 60_000);
      expect((await one.count('who', -1, 60_000)).count).toBe(2);
      expect(await one.count('nobody', -1, 60_000)).toEqual({ count: 0, leftMs: 0, endsAt: 0 });
      expect((await one.count('nobody', 1, 60_000)).count).toBe(1);
    });

    it('adds up concurrent counts', async () => {
      const { one, two } = await openTwo();
      const counts = await Promise.all(
        Array.from({ length: 100 }, (_, n) => (n % 2 ? one : two).count('who', 1, 60_000)),
      );
      expect(new Set(counts.map(({ count }) => count)).size).toBe(100);
    });
  });
}

function describeControl(makeBus: MakeBus): void {
  describe('control', () => {
    const { openTwo, clear } = createStage(makeBus);
    afterEach(clear);

    it('reaches every instance, including the sender, in the order of the sender', async () => {
      const { one, two } = await openTwo();
      const [here, there, alsoThere] = [createEar<string>(), createEar<string>(), createEar<string>()];
      one.onControl(here.add);
      two.onControl(there.add);
      two.onControl(alsoThere.add);
      await Promise.all(['one', 'two', 'three'].map((body) => one.publishControl(body)));
      for (const ear of [here, there, alsoThere]) {
        await until('all is heard', () => ear.heard.length === 3);
        expect(ear.heard).toEqual(['one', 'two', 'three']);
      }
    });

    it('reaches the other listeners when one throws', async () => {
      const { one } = await openTwo();
      const ear = createEar<string>();
      one.onControl(() => {
        throw new Error('broken');
      });
      one.onControl(ear.add);
      await one.publishControl('revoked');
      expect(await ear.next()).toBe('revoked');
    });
  });
}
