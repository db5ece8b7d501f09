/** Promises about a user's frames: the history, what is live, and what is hot. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane } from '../backplane.ts';
import { type UserFrame, historyEntryBytes } from '../user-frames.ts';
import { type MakeBus, passing, createEar, createStage, until } from './harness.ts';

const bodies = (frames: readonly { body: string }[]) => frames.map(({ body }) => body);

async function appendAll(backplane: Backplane, user: string, texts: readonly string[]): Promise<string[]> {
  const offsets: string[] = [];
  for (const text of texts) offsets.push((await backplane.append(user, text)).offset);
  return offsets;
}

export function describeFrames(makeBus: MakeBus): void {
  describe('a subscriber', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    async function open() {
      const bus = await stage.open();
      return { bus, gateway: await bus.connect('gateway'), api: await bus.connect('api') };
    }

    it('hears what is appended, with the text, the offset and the predecessor', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      const beforeMs = Date.now();
      const first = await gateway.append('user', 'one "1"\n');
      const second = await gateway.append('user', 'two 🐢');
      expect(await frames.next()).toEqual({
        ...{ body: 'one "1"\n', offset: first.offset, previous: '', hot: false },
        appendedAtMs: expect.any(Number),
      });
      const expected = { body: 'two 🐢', offset: second.offset, previous: first.offset, hot: false };
      const { appendedAtMs = 0, ...frame } = await frames.next();
      expect(frame).toEqual(expected);
      expect(appendedAtMs).toBeGreaterThanOrEqual(beforeMs);
      expect(appendedAtMs).toBeLessThanOrEqual(Date.now());
      expect([first.receivers, second.receivers]).toEqual([1, 1]);
    });

    it('hears hot frames, which carry the offset of the newest entry before them', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      expect(await gateway.publish('user', 'hot')).toBe(1);
      const { offset } = await gateway.append('user', 'entry');
      await gateway.publish('user', 'hotter');
      expect(await frames.next()).toEqual({ body: 'hot', offset: '', hot: true });
      expect((await frames.next()).hot).toBe(false);
      expect(await frames.next()).toEqual({ body: 'hotter', offset, hot: true });
    });

    it('hears once what is appended once, in its place in the chain, from whichever instance', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      const { offset } = await gateway.append('user', 'before');
      expect(await gateway.appendOnce('user', 'said ł', ['text', 'uuid'], 60_000)).toBe(true);
      expect(await api.appendOnce('user', 'said again', ['other', 'uuid'], 60_000)).toBe(false);
      expect(await gateway.once('user', ['other'], 60_000)).toBe(false);
      expect(await gateway.appendOnce('user', 'x'.repeat(3_000), ['long'], 60_000)).toBe(true);
      expect(await gateway.appendOnce('another', 'of another user', ['text'], 60_000)).toBe(true);
      await gateway.append('user', 'after');
      expect((await frames.next()).body).toBe('before');
      expect(await frames.next()).toMatchObject({ body: 'said ł', previous: offset, hot: false });
      expect((await frames.next()).body).toBe('x'.repeat(3_000));
      expect((await frames.next()).body).toBe('after');
      const { items } = await api.read('user', offset);
      expect(bodies(items)).toEqual(['said ł', 'x'.repeat(3_000), 'after']);
    });

    it('has one of many who append the same at once', async () => {
      const { gateway, api } = await open();
      const tries = Array.from({ length: 50 }, (_, n) =>
        (n % 2 ? gateway : api).appendOnce('user', `${n}`, ['shared', `own ${n}`], 60_000),
      );
      expect((await Promise.all(tries)).filter((first) => first)).toHaveLength(1);
    });

    it('hears everything of its user in the order of the chain, from whichever instance', async () => {
      const { bus, gateway, api } = await open();
      const other = await bus.connect('gateway');
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => (n % 2 ? gateway : other).append('user', `${n % 2} ${n}`)),
      );
      await until('all are heard', () => frames.heard.length === 100);
      const offsets = frames.heard.map(({ offset }) => offset);
      expect(frames.heard.map(({ previous }) => previous)).toEqual(['', ...offsets.slice(0, -1)]);
      const fromOne = bodies(frames.heard).filter((body) => body.startsWith('1'));
      expect(fromOne).toEqual(Array.from({ length: 50 }, (_, n) => `1 ${2 * n + 1}`));
    });

    it('hears long and short texts in the order in which they were said, and finds them so in the history', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      const [begin] = await appendAll(gateway, 'user', ['begin']);
      const texts = Array.from({ length: 40 }, (_, n) => `${n} ${'żółw 🐢 "\n\0'.repeat(n % 3 ? n * 50 : 0)}`);
      await Promise.all(
        texts.map((text, n) => (n % 4 === 3 ? gateway.publish('user', text) : gateway.append('user', text))),
      );
      await until('all are heard', () => frames.heard.length === texts.length + 1);
      expect(bodies(frames.heard).slice(1)).toEqual(texts);
      const kept = texts.filter((_, n) => n % 4 !== 3);
      expect(bodies((await api.read('user', begin)).items)).toEqual(kept);
      const last = frames.heard.findLast(({ hot }) => !hot)!;
      expect((await api.read('user')).top).toBe(last.offset);
    });

    it('hears nothing of another user', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      expect((await gateway.append('other', 'not yours')).receivers).toBe(0);
      expect(await gateway.publish('other', 'not yours')).toBe(0);
      await gateway.append('user', 'yours');
      expect((await frames.next()).body).toBe('yours');
    });

    it('hears itself', async () => {
      const { api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      await api.append('user', 'mine');
      expect((await frames.next()).body).toBe('mine');
    });

    it('is one of several, on one instance and on many, and leaving affects no other', async () => {
      const { bus, gateway, api } = await open();
      const second = await bus.connect('api');
      const [left, stayed, elsewhere] = [createEar<UserFrame>(), createEar<UserFrame>(), createEar<UserFrame>()];
      const leave = await api.subscribe('user', left.hear);
      await api.subscribe('user', stayed.hear);
      await second.subscribe('user', elsewhere.hear);
      expect((await gateway.append('user', 'all')).receivers).toBe(2);
      await Promise.all([left.next(), stayed.next(), elsewhere.next()]);
      await leave();
      await leave();
      await gateway.append('user', 'who stayed');
      await Promise.all([stayed.next(), elsewhere.next()]);
      expect(bodies(left.heard)).toEqual(['all']);
    });

    it('that subscribes twice with one function hears everything twice until it leaves once', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      const leave = await api.subscribe('user', frames.hear);
      await api.subscribe('user', frames.hear);
      await gateway.append('user', 'one');
      await until('it is heard twice', () => frames.heard.length === 2);
      await leave();
      await gateway.append('user', 'two');
      await gateway.append('user', 'three');
      await until('the last one is heard', () => bodies(frames.heard).includes('three'));
      expect(bodies(frames.heard)).toEqual(['one', 'one', 'two', 'three']);
    });

    it('that throws disturbs no other', async () => {
      const { gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', () => {
        throw new Error('broken');
      });
      await api.subscribe('user', frames.hear);
      await gateway.append('user', 'one');
      await gateway.append('user', 'two');
      await frames.next();
      expect((await frames.next()).body).toBe('two');
    });

    it('is counted by instance until it leaves, or its instance does', async () => {
      const { bus, gateway, api } = await open();
      expect(await gateway.audience('user')).toBe(0);
      const leave = await api.subscribe('user', () => undefined);
      const leaveToo = await api.subscribe('user', () => undefined);
      expect(await gateway.audience('user')).toBe(1);
      const [closing, dying] = [await bus.connect('api'), await bus.connect('api')];
      await closing.subscribe('user', () => undefined);
      await dying.subscribe('user', () => undefined);
      expect(await gateway.audience('user')).toBe(3);
      await closing.close();
      await bus.kill(dying.instance);
      await until('those who are gone are not counted', async () => (await gateway.audience('user')) === 1);
      await leave();
      expect(await gateway.audience('user')).toBe(1);
      await leaveToo();
      expect(await gateway.audience('user')).toBe(0);
    });

    it('is told when frames may have been missed, before it hears what follows', async () => {
      const { bus, gateway, api } = await open();
      const said = createEar<string>();
      await api.subscribe(
        'user',
        ({ body }) => said.hear(body),
        () => said.hear('INTERRUPTED'),
      );
      await gateway.append('user', 'before');
      await until('the frame is heard', () => said.heard.length > 0);
      await bus.interrupt(api.instance);
      await until('it is told', () => said.heard.includes('INTERRUPTED'));
      await gateway.append('user', 'after');
      await until('it hears again', () => said.heard.includes('after'));
      expect(said.heard).toEqual(['before', 'INTERRUPTED', 'after']);
    });

    it('goes on hearing after everything stored was lost', async () => {
      const { bus, gateway, api } = await open();
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      const before = await gateway.append('user', 'before');
      await bus.flush();
      const after = await gateway.append('user', 'after');
      await frames.next();
      expect(await frames.next()).toMatchObject({ body: 'after', previous: '' });
      expect(after.offset).not.toBe(before.offset);
    });
  });

  describe('the history of a user', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    it('is empty at first', async () => {
      const backplane = await (await stage.open()).connect('api');
      const empty = { top: '', recovered: true, items: [] };
      expect(await backplane.read('user')).toEqual(empty);
      expect(await backplane.read('user', '')).toEqual(empty);
      expect(await backplane.read('user', 'garbage')).toEqual({ top: '', recovered: false, items: [] });
    });

    it('gives exactly what came after an offset', async () => {
      const bus = await stage.open();
      const [gateway, api] = [await bus.connect('gateway'), await bus.connect('api')];
      const texts = ['one', 'two', 'three', 'four'];
      const offsets = await appendAll(gateway, 'user', texts);
      const top = offsets[3];
      expect(new Set(offsets).size).toBe(4);
      for (const [n, offset] of offsets.entries()) {
        const page = await api.read('user', offset);
        const items = texts.slice(n + 1).map((body, m) => ({ offset: offsets[n + 1 + m], body }));
        expect(page).toEqual({ top, recovered: true, items });
      }
      expect(await api.read('user')).toEqual({ top, recovered: true, items: [] });
      expect(await api.read('other', top)).toMatchObject({ top: '', recovered: false });
    });

    it('does not recover an offset that it never gave', async () => {
      const backplane = await (await stage.open()).connect('api');
      const [offset] = await appendAll(backplane, 'user', ['one']);
      const [foreign] = await appendAll(backplane, 'other', ['one']);
      for (const since of ['garbage', '0', `${offset}0`, `${offset} `, foreign, '\0', '🐢', 'a'.repeat(10_000)]) {
        expect(await backplane.read('user', since)).toEqual({ top: offset, recovered: false, items: [] });
      }
    });

    it('K11: keeps the newest entries that fit into its bytes, however many they are, and says when that is not enough', async () => {
      const textOf = (bytes: number, n: number) => `${n}:`.padEnd(bytes - historyEntryBytes, 'x');
      for (const [bytes, kept] of [
        [200, 300],
        [6000, 10],
      ] as const) {
        const bus = await stage.open({ historyBytes: bytes * kept });
        const backplane = await bus.connect('api');
        const texts = Array.from({ length: kept * 3 }, (_, n) => textOf(bytes, n));
        const offsets = await appendAll(backplane, 'user', texts);
        const last = texts.length - 1;
        const reachable = await backplane.read('user', offsets[last - kept]);
        expect(reachable.recovered).toBe(true);
        expect(bodies(reachable.items)).toEqual(texts.slice(-kept));
        const lost = { top: offsets[last], recovered: false, items: [] };
        expect(await backplane.read('user', offsets[last - kept - 1])).toEqual(lost);
      }
    });

    it('S2: counts the bytes of a text, not its characters', async () => {
      const bus = await stage.open({ historyBytes: 4 * (600 + historyEntryBytes) });
      const backplane = await bus.connect('api');
      const texts = Array.from({ length: 6 }, (_, n) => `${n}`.padEnd(2, ' ') + 'ż'.repeat(299));
      const offsets = await appendAll(backplane, 'user', texts);
      expect(bodies((await backplane.read('user', offsets[1])).items)).toEqual(texts.slice(2));
      expect((await backplane.read('user', offsets[0])).recovered).toBe(false);
    });

    it('S2: tells an entry that is longer than all of it and does not keep it', async () => {
      const bus = await stage.open({ historyBytes: 10_000 });
      const backplane = await bus.connect('api');
      const frames = createEar<UserFrame>();
      await backplane.subscribe('user', frames.hear);
      const [before] = await appendAll(backplane, 'user', ['before']);
      const long = 'x'.repeat(20_000);
      const [top] = await appendAll(backplane, 'user', [long]);
      expect((await frames.next()).body).toBe('before');
      expect((await frames.next()).body).toBe(long);
      expect(await backplane.read('user', before)).toEqual({ top, recovered: false, items: [] });
      const [after] = await appendAll(backplane, 'user', ['after']);
      const page = { top: after, recovered: true, items: [{ offset: after, body: 'after' }] };
      expect(await backplane.read('user', top)).toEqual(page);
    });

    it('recovers what followed long and short entries, whichever of them is asked for', async () => {
      const bus = await stage.open({ historyBytes: 2 ** 20 });
      const [gateway, api] = [await bus.connect('gateway'), await bus.connect('api')];
      const texts = Array.from({ length: 150 }, (_, n) => `${n} `.padEnd(n % 7 === 0 ? 3000 : 20, 'F1,1,1,1:'));
      const offsets = await appendAll(gateway, 'user', texts);
      for (const n of [0, 6, 7, 8, 70, 140, 148])
        expect(bodies((await api.read('user', offsets[n])).items)).toEqual(texts.slice(n + 1));
    });

    it('never holds a hot frame', async () => {
      const backplane = await (await stage.open()).connect('api');
      const [offset] = await appendAll(backplane, 'user', ['one']);
      await backplane.publish('user', 'hot');
      await appendAll(backplane, 'user', ['two']);
      expect(bodies((await backplane.read('user', offset)).items)).toEqual(['two']);
    });

    it('ends some time after its last entry, while its top is known longer', async () => {
      const bus = await stage.open({ historyTtlMs: 200 });
      const backplane = await bus.connect('api');
      const [first, second] = await appendAll(backplane, 'user', ['one', 'two']);
      const isGone = async () => !(await backplane.read('user', first)).recovered;
      await until('the entries are gone', isGone, passing(bus, 100));
      expect(await backplane.read('user', second)).toEqual({ top: second, recovered: true, items: [] });
      const frames = createEar<UserFrame>();
      await backplane.subscribe('user', frames.hear);
      const third = await backplane.append('user', 'three');
      expect(await frames.next()).toMatchObject({ offset: third.offset, previous: second });
      const page = { top: third.offset, recovered: true, items: [{ offset: third.offset, body: 'three' }] };
      expect(await backplane.read('user', second)).toEqual(page);
      expect((await backplane.read('user', first)).recovered).toBe(false);
    });

    it('that is deleted is gone at once, and its chain goes on', async () => {
      const bus = await stage.open();
      const [gateway, api] = [await bus.connect('gateway'), await bus.connect('api')];
      const frames = createEar<UserFrame>();
      await api.subscribe('user', frames.hear);
      const [first, top] = await appendAll(gateway, 'user', ['one', 'x'.repeat(3_000)]);
      await api.forget('user');
      expect(await api.read('user', first)).toEqual({ top, recovered: false, items: [] });
      expect(await api.read('user', top)).toEqual({ top, recovered: true, items: [] });
      const { offset } = await gateway.append('user', 'three');
      expect((await api.read('user', top)).items).toEqual([{ offset, body: 'three' }]);
      await until('all are heard', () => frames.heard.length === 3);
      expect(frames.heard[2]).toMatchObject({ body: 'three', previous: top });
      await api.forget('never');
    });

    it('whose top was forgotten begins a chain in which no old offset is recovered', async () => {
      const bus = await stage.open({ historyTtlMs: 100, topTtlMs: 200 });
      const backplane = await bus.connect('api');
      const [old] = await appendAll(backplane, 'user', ['one']);
      const isForgotten = async () => (await backplane.read('user')).top === '';
      await until('the top is forgotten', isForgotten, passing(bus, 100));
      expect((await backplane.read('user', old)).recovered).toBe(false);
      const fresh = await backplane.append('user', 'two');
      expect(fresh.offset).not.toBe(old);
      expect((await backplane.read('user', old)).recovered).toBe(false);
    });

    it('that was lost recovers no old offset, as many entries as may follow', async () => {
      const bus = await stage.open();
      const backplane = await bus.connect('api');
      const old = await appendAll(backplane, 'user', ['one', 'two', 'three']);
      await bus.flush();
      const fresh = await appendAll(backplane, 'user', ['one', 'two', 'three']);
      expect(fresh.filter((offset) => old.includes(offset))).toEqual([]);
      for (const since of old) expect((await backplane.read('user', since)).recovered).toBe(false);
    });

    it('holds every entry before it is heard', async () => {
      const bus = await stage.open();
      const [gateway, api] = [await bus.connect('gateway'), await bus.connect('api')];
      const [begin] = await appendAll(gateway, 'user', ['begin']);
      const readings: Promise<boolean>[] = [];
      await api.subscribe('user', ({ offset }) => {
        const page = api.read('user', begin);
        readings.push(page.then(({ items }) => items.some((item) => item.offset === offset)));
      });
      await Promise.all(Array.from({ length: 20 }, (_, n) => gateway.append('user', `${n}`)));
      await until('all are heard', () => readings.length === 20);
      expect(new Set(await Promise.all(readings))).toEqual(new Set([true]));
    });
  });
}
