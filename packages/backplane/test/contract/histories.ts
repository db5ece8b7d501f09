/** Promises about the history of a user: its content, recovery by readers, and its loss. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane } from '../../src/backplane.ts';
import { type UserFrame, historyEntryBytes } from '../../src/user-frames.ts';
import { type MakeBus, type Stage, bodies, createEar, createStage, passing, until } from './harness.ts';

async function appendAll(backplane: Backplane, user: string, texts: readonly string[]): Promise<string[]> {
  const offsets: string[] = [];
  for (const text of texts) offsets.push((await backplane.append(user, text)).offset);
  return offsets;
}

export function describeHistories(makeBus: MakeBus): void {
  describe('the history of a user', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    testReading(stage);
    testBytes(stage);
    testEnds(stage);
  });
}

function testReading(stage: Stage): void {
  it('is empty at first', async () => {
    const backplane = await (await stage.open()).connect('api');
    const empty = { top: '', recovered: true, items: [] };
    expect(await backplane.read('user')).toEqual(empty);
    expect(await backplane.read('user', '')).toEqual(empty);
    expect(await backplane.read('user', 'garbage')).toEqual({ top: '', recovered: false, items: [] });
  });

  it('returns exactly the entries after an offset', async () => {
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

  it('never holds a hot frame', async () => {
    const backplane = await (await stage.open()).connect('api');
    const [offset] = await appendAll(backplane, 'user', ['one']);
    await backplane.publish('user', 'hot');
    await appendAll(backplane, 'user', ['two']);
    expect(bodies((await backplane.read('user', offset)).items)).toEqual(['two']);
  });

  it('holds every entry before its arrival', async () => {
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
}

/** The byte limit for the entries of one user. */
function testBytes(stage: Stage): void {
  it('K11: keeps the newest entries within its byte limit, of any number, and reports when they do not reach back', async () => {
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

  it('S2: delivers an entry longer than the limit without keeping it', async () => {
    const bus = await stage.open({ historyBytes: 10_000 });
    const backplane = await bus.connect('api');
    const frames = createEar<UserFrame>();
    await backplane.subscribe('user', frames.add);
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

  it('recovers the entries after long and short entries, from any of them', async () => {
    const bus = await stage.open({ historyBytes: 2 ** 20 });
    const [gateway, api] = [await bus.connect('gateway'), await bus.connect('api')];
    const texts = Array.from({ length: 150 }, (_, n) => `${n} `.padEnd(n % 7 === 0 ? 3000 : 20, 'F1,1,1,1:'));
    const offsets = await appendAll(gateway, 'user', texts);
    for (const n of [0, 6, 7, 8, 70, 140, 148])
      expect(bodies((await api.read('user', offsets[n])).items)).toEqual(texts.slice(n + 1));
  });
}

/** How entries and their top expire: by time, by `forget`, by a loss of everything. */
function testEnds(stage: Stage): void {
  it('expires some time after its last entry, while its top lives longer', async () => {
    const bus = await stage.open({ historyTtlMs: 1_500 });
    const backplane = await bus.connect('api');
    const [first, second] = await appendAll(backplane, 'user', ['one', 'two']);
    const isGone = async () => !(await backplane.read('user', first)).recovered;
    await until('the entries are gone', isGone, passing(bus, 100));
    expect(await backplane.read('user', second)).toEqual({ top: second, recovered: true, items: [] });
    const frames = createEar<UserFrame>();
    await backplane.subscribe('user', frames.add);
    const third = await backplane.append('user', 'three');
    expect(await frames.next()).toMatchObject({ offset: third.offset, previous: second });
    const page = { top: third.offset, recovered: true, items: [{ offset: third.offset, body: 'three' }] };
    expect(await backplane.read('user', second)).toEqual(page);
    expect((await backplane.read('user', first)).recovered).toBe(false);
  });

  it('disappears immediately when deleted, and its chain continues', async () => {
    const bus = await stage.open();
    const [gateway, api] = [await bus.connect('gateway'), await bus.connect('api')];
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
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

  it('that is deleted makes room for as much as before', async () => {
    const bus = await stage.open({ historyBytes: 2 ** 16 });
    const backplane = await bus.connect('api');
    const text = 'x'.repeat(10 * 2 ** 10);
    await appendAll(backplane, 'user', Array<string>(7).fill(text));
    await backplane.forget('user');
    const [first, second] = await appendAll(backplane, 'user', [text, text]);
    const page = { top: second, recovered: true, items: [{ offset: second, body: text }] };
    expect(await backplane.read('user', first)).toEqual(page);
  });

  it('begins a new chain without its forgotten top, and recovers no old offset', async () => {
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

  it('recovers no old offset after a loss, even after many new entries', async () => {
    const bus = await stage.open();
    const backplane = await bus.connect('api');
    const old = await appendAll(backplane, 'user', ['one', 'two', 'three']);
    await bus.flush();
    const fresh = await appendAll(backplane, 'user', ['one', 'two', 'three']);
    expect(fresh.filter((offset) => old.includes(offset))).toEqual([]);
    for (const since of old) expect((await backplane.read('user', since)).recovered).toBe(false);
  });
}
