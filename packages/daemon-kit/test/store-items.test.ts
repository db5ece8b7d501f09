/**
 * The log of operations on disk, against a model: after writes, crashes and restarts, every reader has the daemon's
 * list.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Item, type Operation, applyOperations, isPlain, mergeItems } from '@relay/protocol';
import { type Store, type StoreChange, openStore } from '../src/store.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());
const fileIn = (folder: string) => join(folder, readdirSync(folder)[0] ?? '');

/** A clock that advances by itself, so that a restart is later. */
const ticking = () => {
  let now = 1_000_000;
  return () => (now += 7);
};

const put = (uuid: string, part: Item['part'], content = ''): StoreChange => ({
  op: 'put',
  item: { uuid, role: part.kind === 'user' ? 'USER' : 'AGENT', content, part },
});
const itemsOf = (store: Store, more: object = {}) => {
  const found = store.items('s', { limit: 200, ...more });
  if (!found || 'error' in found) throw new Error(found?.error ?? 'no session');
  return found;
};

/** One reader: its state, and how it requests missed changes. */
interface Reader {
  items: Item[];
  v: number;
}

type Step =
  | { do: 'put'; n: number; kind: 'text' | 'tool' | 'user' | 'mark' | 'question'; words: string }
  | { do: 'add'; n: number; words: string }
  | { do: 'close'; n: number; message: boolean }
  | { do: 'restart' | 'tidy' }
  | { do: 'take'; count: number };

const n = fc.nat(11);
const words = fc.string({ unit: 'grapheme', maxLength: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      n,
      words,
      kind: fc.constantFrom('text' as const, 'tool', 'user', 'mark', 'question'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), n, words }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('close' as const), n, message: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'tidy') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const), count: fc.integer({ min: 1, max: 4 }) }) },
);
const partOf = (kind: string): Item['part'] => {
  if (kind === 'tool') return { kind, id: 'c', title: 't', status: 'running' };
  if (kind === 'question') return { kind, question: { uuid: 'q' }, state: 'open' };
  return kind === 'text' ? { kind, open: true } : { kind };
};
const closing = (item: Item): Record<string, unknown> =>
  item.part.kind === 'tool'
    ? { status: 'completed' }
    : item.part.kind === 'question'
      ? { state: 'answered' }
      : { open: null };

const isOver = ({ part }: Item) => part.kind === 'text' && part.open !== true;

describe('the log of a session, against a model', () => {
  it('gives every reader the same list after any loss, and every page as a part of it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(step, fc.boolean(), fc.boolean()), { maxLength: 60 }),
        fc.nat(200),
        (steps, pick) => {
          const folder = folders.make();
          const now = ticking();
          let store = openStore(folder, now);
          store.create('s', '/p');
          let model: Item[] = [];
          let taken = 0;
          const readers: Reader[] = [
            { items: [], v: 0 },
            { items: [], v: 0 },
          ];
          const ask = (reader: Reader) => {
            const answer = itemsOf(store, { changed: reader.v });
            reader.items = answer.reset ? answer.items : mergeItems(reader.items, answer.items);
            reader.v = answer.v;
          };
          const wrote = (ops: Operation[], v: number, arrives: readonly boolean[]) => {
            model = applyOperations(model, ops, v);
            store.advance('s');
            for (const [index, reader] of readers.entries()) {
              if (!arrives[index]) continue;
              if (v === reader.v + 1) Object.assign(reader, { items: applyOperations(reader.items, ops, v), v });
              else if (v > reader.v) ask(reader);
            }
          };
          for (const [one, first, second] of steps) {
            const uuid = 'n' in one ? `u${one.n}` : '';
            const known = model.find((item) => item.uuid === uuid);
            let changes: StoreChange[] = [];
            let messages: string[] = [];
            if (one.do === 'restart') store = openStore(folder, now);
            else if (one.do === 'tidy') store.tidy('s');
            // An agent can use an id twice: the item keeps its place.
            else if (one.do === 'put' && (!known || isOver(known))) changes = [put(uuid, partOf(one.kind), one.words)];
            else if (one.do === 'add' && known) changes = [{ op: 'add', uuid, text: one.words }];
            else if (one.do === 'close' && known) {
              changes = [{ op: 'set', uuid, part: closing(known) }];
              if (one.message) messages = [uuid];
            } else if (one.do === 'take') {
              const from = taken;
              taken += one.count;
              const elsewhere = Array.from({ length: one.count }, (_, index) => ({
                uuid: `t${from + index}`,
                role: 'AGENT' as const,
                content: `${from + index}`,
                timestamp: '2026-01-01T00:00:00.000Z',
                part: { kind: 'text' },
              }));
              store.take('s', elsewhere, (ops, v) => wrote(ops, v, [first, second]));
            }
            if (changes.length === 0) continue;
            const { ops, v } = store.write('s', changes, { messages });
            wrote(ops, v, [first, second]);
          }
          const whole = itemsOf(store);
          expect(whole.items).toEqual(model);
          for (const reader of readers) {
            ask(reader);
            expect(reader.items).toEqual(model);
          }
          expect(itemsOf(openStore(folder, now)).items).toEqual(model);
          // Any page is the part of the list between its cursors.
          const limit = 1 + (pick % 7);
          const cursor = model[pick % Math.max(model.length, 1)]?.uuid;
          if (cursor === undefined) return;
          const at = model.findIndex(({ uuid }) => uuid === cursor);
          expect(itemsOf(store, { limit, beforeUuid: cursor })).toMatchObject({
            items: model.slice(Math.max(0, at - limit), at),
            hasMore: at > limit,
          });
          const behind = model.slice(at + 1);
          expect(itemsOf(store, { limit, afterUuid: cursor })).toMatchObject({
            items: behind.slice(-limit),
            hasMore: behind.length > limit,
          });
          const spoken = model.filter(
            (item) => isPlain(item) && item.part.open !== true && !(item.part.kind === 'tool'),
          );
          const page = store.page('s', { limit: 200 }, 'spoken');
          const contents = page?.ok ? page.page.messages.map(({ uuid }) => uuid) : [];
          for (const item of spoken) expect(contents).toContain(item.uuid);
          expect(contents.length).toBe(new Set(contents).size);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is a prefix of itself after a power cut, and a reader from the lost time starts over', () => {
    fc.assert(
      fc.property(fc.nat(1000), (cut) => {
        const folder = folders.make();
        const now = ticking();
        const store = openStore(folder, now);
        store.create('s', '/p');
        const states = new Map<number, Item[]>();
        let model: Item[] = [];
        for (let index = 0; index < 20; index++) {
          const changes: StoreChange[] =
            index % 3 === 0
              ? [put(`u${index}`, { kind: 'text', open: true }, 'a')]
              : [{ op: 'add', uuid: `u${index - (index % 3)}`, text: 'b' }];
          const { ops, v } = store.write('s', changes);
          model = applyOperations(model, ops, v);
          store.advance('s');
          states.set(v, model);
        }
        const known = store.version('s');
        const path = fileIn(folder);
        truncateSync(path, Math.max(200, statSync(path).size - cut));
        const again = openStore(folder, now);
        const left = itemsOf(again);
        expect(left.items).toEqual(states.get(left.v) ?? []);
        again.append('s', 'USER', 'after the cut');
        const answer = itemsOf(again, { changed: known });
        if (left.v === known) expect(answer).toMatchObject({ reset: false, items: [{ content: 'after the cut' }] });
        else expect(answer.reset).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a file', () => {
  const old = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      uuid: `old-${index}`,
      role: index % 2 === 0 ? ('USER' as const) : ('AGENT' as const),
      content: `${index}`,
      timestamp: '2026-01-01T00:00:00.000Z',
    }));
  const rows = (messages: readonly object[]) => messages.map((m) => `${JSON.stringify({ m })}\n`).join('');
  const written = (count: number) => {
    const folder = folders.make();
    openStore(folder).create('s', '/p');
    appendFileSync(fileIn(folder), rows(old(count)));
    return folder;
  };

  it('from before items keeps its messages and continues after them', () => {
    const folder = written(5);
    const store = openStore(folder, ticking());
    expect(store.messages('s')).toEqual(old(5));
    const said = store.append('s', 'USER', 'new');
    expect(itemsOf(store).items.map(({ uuid, seq, part }) => [uuid, seq, part.kind])).toEqual([
      ['old-0', 1, 'user'],
      ['old-1', 2, 'text'],
      ['old-2', 3, 'user'],
      ['old-3', 4, 'text'],
      ['old-4', 5, 'user'],
      [said.uuid, 6, 'user'],
    ]);
    expect(itemsOf(store, { limit: 2, beforeUuid: 'old-3' }).items.map(({ uuid }) => uuid)).toEqual(['old-1', 'old-2']);
    expect(readFileSync(fileIn(folder), 'utf8')).toContain(rows(old(5)));
  });

  it('that an older daemon wrote to in between gives its messages their places', () => {
    const folder = written(2);
    openStore(folder, ticking()).append('s', 'USER', 'new');
    appendFileSync(fileIn(folder), rows([{ ...old(1)[0], uuid: 'downgraded' }]));
    for (const store of [openStore(folder, ticking()), openStore(folder, ticking())])
      expect(itemsOf(store).items.map(({ seq, content }) => [seq, content])).toEqual([
        [1, '0'],
        [2, '1'],
        [3, 'new'],
        [4, '0'],
      ]);
  });

  it('can be read by an older daemon: messages in its rows, and rows that it skips', () => {
    const folder = folders.make();
    const store = openStore(folder);
    store.create('s', '/p');
    store.append('s', 'USER', 'hello');
    store.write('s', [put('a', { kind: 'text' }, 'between')]);
    store.write('s', [put('b', { kind: 'text' }, 'the end')], { messages: ['b'] });
    const known = readFileSync(fileIn(folder), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"m":'))
      .map((line) => (JSON.parse(line) as { m: { content: string } }).m.content);
    expect(known).toEqual(['hello', 'the end']);
  });

  it('is rewritten when more than half of it was replaced, with every uuid', () => {
    const folder = folders.make();
    const store = openStore(folder, ticking());
    store.create('s', '/p');
    store.write('s', [put('a', { kind: 'text', open: true })]);
    for (let index = 0; index < 3000; index++) store.write('s', [{ op: 'add', uuid: 'a', text: 'word ' }]);
    store.advance('s');
    store.write('s', [{ op: 'set', uuid: 'a', part: { open: null } }], { messages: ['a'] });
    store.advance('s');
    const before = itemsOf(store);
    const size = statSync(fileIn(folder)).size;
    store.tidy('s');
    expect(statSync(fileIn(folder)).size).toBeLessThan(size / 2);
    expect(itemsOf(store)).toEqual(before);
    expect(itemsOf(openStore(folder, ticking()))).toEqual(before);
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
  });

  it('with unknown rows returns everything else', () => {
    const folder = folders.make();
    const store = openStore(folder, ticking());
    store.create('s', '/p');
    store.append('s', 'USER', 'one');
    appendFileSync(fileIn(folder), '{"op":{"op":"fold","uuid":"x"},"v":3}\n{"i":{"uuid":"x"}}\nnull\n');
    store.append('s', 'USER', 'two');
    expect(itemsOf(store).items.map(({ content }) => content)).toEqual(['one', 'two']);
    writeFileSync(fileIn(folder), `${readFileSync(fileIn(folder), 'utf8')}{"m":{"uuid`);
    expect(itemsOf(openStore(folder)).items).toHaveLength(2);
  });
});
