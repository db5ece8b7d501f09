/** Pages of files longer than one read: each page is a part of the replayed log, wherever it begins. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Item } from '@relay/protocol';
import { type NewItem, type Store, type StoreChange, openStore } from '../src/store.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());
const fileIn = (folder: string) => join(folder, readdirSync(folder)[0] ?? '');

/** Shorter and longer than one read; the boundaries of rows fall anywhere within a read. */
const lengths = [10, 700, 3000, 90_000, 40, 300_000, 5, 20_000];
const names = ['plain-', 'größe-', 'a"quote\\-', `${'long'.repeat(60)}-`, '🌱-'];
const put = (n: number, part: Item['part'] = { kind: 'text' }, words = `${n} `): StoreChange => {
  const content = words.repeat(Math.ceil(lengths[n % lengths.length]! / words.length));
  return { op: 'put', item: { uuid: `${names[n % names.length]}${n}`, role: 'AGENT', content, part } };
};
const itemOf = (change: StoreChange) => (change as { item: NewItem }).item;
const write = (store: Store, ...changes: StoreChange[]) => {
  store.write('s', changes);
  store.advance('s');
};

const pageOf = (store: Store, before?: string, after?: string) => {
  const cursors = {
    ...(before === undefined ? {} : { beforeUuid: before }),
    ...(after === undefined ? {} : { afterUuid: after }),
  };
  const found = store.items('s', { limit: 5, maxBytes: 400_000, ...cursors });
  if (!found || 'error' in found) throw new Error(found?.error ?? 'no session');
  return found;
};

/** Shares no divisor with the number of lengths or of names, so that pages begin at each of them. */
const step = process.env.STORIES ? 1 : 3;

/** Pages equal the replay, from every third item (`stories`: each item) and by walking from the newest to the oldest. */
function checkPages(store: Store): void {
  const all = store.everything('s')!;
  const within = (page: Item[], end: number) => expect(page).toEqual(all.slice(end - page.length, end));
  for (const [at, { uuid }] of all.entries()) {
    if (at === 0 || at % step !== 0) continue;
    const page = pageOf(store, uuid);
    expect(page.items.length).toBeGreaterThan(0);
    within(page.items, at);
    expect(page.hasMore).toBe(page.items.length < at);
  }
  let walked: Item[] = [];
  for (let more = true; more;) {
    const page = pageOf(store, walked[0]?.uuid);
    walked = [...page.items, ...walked];
    more = page.hasMore;
  }
  expect(walked).toEqual(all);
  const [third, ninth] = [all[2]!, all[8]!];
  const between = pageOf(store, ninth.uuid, third.uuid);
  expect(between.items).toEqual(all.slice(8 - between.items.length, 8));
}

describe('a long file of a session', () => {
  it('returns every page, even while it grows and after its items changed again', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s', '/');
    for (let n = 0; n < 60; n++) write(store, put(n));
    expect(statSync(fileIn(folder)).size).toBeGreaterThan(2_500_000);
    checkPages(store);
    for (let n = 60; n < 90; n++) write(store, put(n, n % 7 === 0 ? { kind: 'text', open: true } : { kind: 'text' }));
    // The last row of these old items is far from their place.
    for (const n of [3, 4, 21, 44, 63]) {
      const { uuid } = itemOf(put(n));
      write(store, { op: 'set', uuid, part: { again: true, open: null }, content: `changed ${n}` });
    }
    checkPages(store);
    expect(store.everything('s')!.filter(({ part }) => part.again === true)).toHaveLength(5);
    checkPages(openStore(folder));
  });

  it('returns every page after it was rewritten', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s', '/');
    for (let n = 0; n < 15; n++) write(store, put(n));
    checkPages(store);
    for (let n = 15; n < 60; n++) {
      const open = put(n, { kind: 'text', open: true });
      write(store, open);
      // The earlier text is no longer needed.
      write(store, {
        op: 'set',
        uuid: itemOf(open).uuid,
        part: { open: null },
        content: `short ${n}`,
      });
    }
    checkPages(store);
    const { size } = statSync(fileIn(folder));
    store.tidy('s');
    expect(statSync(fileIn(folder)).size).toBeLessThan(size);
    for (let n = 60; n < 70; n++) write(store, put(n));
    checkPages(store);
  });

  it('returns messages from before there were items, and skips truncated or foreign rows', () => {
    const folder = folders.make();
    mkdirSync(folder, { recursive: true });
    const meta = { session_id: 's', project_path: '/', created_at: '2026-01-01T00:00:00.000Z' };
    const old = Array.from({ length: 40 }, (_, n) => {
      const content = `${n} `.repeat(Math.ceil(lengths[n % lengths.length]! / `${n} `.length));
      return { m: { uuid: `${names[n % 5]}old-${n}`, role: 'USER', content, timestamp: meta.created_at } };
    });
    const rows = [{ meta }, ...old].map((row) => `${JSON.stringify(row)}\n`);
    rows.splice(20, 0, 'no JSON\n', '{"m":{"uuid":"cut","seq":3,"role":"US\n', '{"unknown":1}\n');
    writeFileSync(join(folder, 's.jsonl'), rows.join(''), { mode: 0o600 });
    const store = openStore(folder);
    checkPages(store);
    for (let n = 0; n < 20; n++) write(store, put(n));
    // Truncated without the store: the next row begins on a new line.
    appendFileSync(fileIn(folder), '{"i":{"uuid":"plain-0","seq":41,"role":"AG');
    for (let n = 20; n < 30; n++) write(store, put(n));
    expect(store.everything('s')).toHaveLength(70);
    checkPages(store);
  });

  it('serves many sessions in turn', () => {
    const store = openStore(folders.make());
    const sessions = Array.from({ length: 12 }, (_, n) => `session-${n}`);
    for (const session of sessions) {
      store.create(session, '/');
      const items = Array.from({ length: 200 }, (_, n) => itemOf(put(n * 8)));
      store.take(session, items);
    }
    for (let round = 0; round < 2; round++)
      for (const session of sessions) {
        const all = store.everything(session)!;
        expect(store.items(session, { limit: 5, beforeUuid: all[20]!.uuid })).toMatchObject({
          items: all.slice(15, 20),
          hasMore: true,
        });
      }
  });
});
