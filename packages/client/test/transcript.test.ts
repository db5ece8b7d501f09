import { describe, expect, it } from '@jest/globals';
import { type Item, type Operation, applyOperations } from '@relay/protocol';
import { uuidOf } from '@relay/protocol/plain';
import fc from 'fast-check';
import { TranscriptCopy } from '../src/transcript.ts';

const item = (uuid: string, seq: number, fields: Partial<Item> = {}): Item => ({
  uuid,
  seq,
  role: 'AGENT',
  content: '',
  timestamp: '2026-01-01T00:00:00.000Z',
  part: { kind: 'text' },
  ...fields,
});
const put = (uuid: string, seq: number, content = ''): Operation => ({ op: 'put', item: item(uuid, seq, { content }) });
const add = (uuid: string, text: string): Operation => ({ op: 'add', uuid, text });

/** The list of a daemon, and its responses. */
class Source {
  items: Item[] = [];
  v = 100;
  say(said: Operation[]) {
    this.v += 1;
    const ops = said.map((one) => {
      const seq = one.op === 'put' && this.items.find(({ uuid }) => uuid === one.item.uuid)?.seq;
      return one.op === 'put' && seq ? put(one.item.uuid, seq, one.item.content) : one;
    });
    this.items = applyOperations(this.items, ops, this.v);
    return { v: this.v, ops };
  }
  page(changed?: number, limit = 200) {
    const found = changed === undefined ? this.items : this.items.filter(({ v = 0 }) => v > changed);
    const reset = changed !== undefined && found.length > limit;
    const messages = (reset ? this.items : found).slice(-limit);
    return { v: this.v, messages, hasMore: this.items.length > limit, ...(reset ? { reset: true as const } : {}) };
  }
}

describe('a copy of a transcript', () => {
  it('holds frames until it has a page, drops frames that the page contains, and continues', () => {
    const source = new Source();
    source.say([put('a', 1, 'one')]);
    const copy = new TranscriptCopy();
    copy.apply(source.say([add('a', ' two')]));
    const page = source.page();
    copy.apply(source.say([add('a', ' three'), { op: 'print', text: 'for apps that read no items' }]));
    expect([copy.isBehind, copy.items, copy.v]).toEqual([true, [], undefined]);
    expect(copy.take(page).map(({ content }) => content)).toEqual(['one two three']);
    expect([copy.isBehind, copy.v]).toEqual([false, source.v]);
    expect(copy.apply(source.say([put('b', 2)])).map(({ uuid }) => uuid)).toEqual(['b']);
    expect(copy.items).toEqual(source.items);
  });

  it('detects a missing frame, and requests changes from its version on', () => {
    const source = new Source();
    const copy = new TranscriptCopy();
    copy.take(source.page());
    copy.apply(source.say([put('a', 1)]));
    const known = copy.v;
    source.say([add('a', 'lost')]);
    expect(copy.apply(source.say([add('a', ' and found')]))).toEqual([]);
    expect([copy.isBehind, copy.v]).toEqual([true, known]);
    expect(copy.take(source.page(known))).toEqual(source.items);
    expect([copy.isBehind, copy.items]).toEqual([false, source.items]);
  });

  it('ignores items older than its first, and requests each once', () => {
    const source = new Source();
    source.say([put('a', 1), put('b', 2), put('c', 3)]);
    const copy = new TranscriptCopy();
    copy.take(source.page(undefined, 2));
    copy.apply(source.say([add('a', 'x'), add('c', 'y')]));
    expect(copy.isBehind).toBe(true);
    copy.take(source.page(copy.v));
    copy.apply(source.say([add('a', 'x')]));
    expect([copy.isBehind, copy.items]).toEqual([false, source.items.slice(1)]);
    copy.takeOlder({ messages: source.items.slice(0, 1), hasMore: false });
    copy.apply(source.say([add('a', 'z')]));
    expect([copy.isBehind, copy.items]).toEqual([false, source.items]);
  });

  it('skips operations and items of an unknown shape', () => {
    const copy = new TranscriptCopy();
    copy.take({ v: 1, hasMore: false, messages: [null, 'x', { uuid: 'a' }, item('b', 1)] });
    copy.apply({ v: 2, ops: [null, { op: 'fold' }, { op: 'put', item: { uuid: 'c' } }, add('b', 'x')] });
    expect(copy.items).toEqual([item('b', 1, { content: 'x', v: 2 })]);
  });

  it('stays within its bounds, and so does each text in it', () => {
    const source = new Source();
    const copy = new TranscriptCopy({ keep: 20 });
    copy.take(source.page());
    for (let n = 1; n <= 200; n += 1) copy.apply(source.say([put(`${n}`, n)]));
    expect(copy.items.length).toBeLessThanOrEqual(25);
    expect(copy.items.at(-1)?.uuid).toBe('200');
    for (let n = 0; n < 100; n += 1) copy.apply(source.say([add('200', 'x'.repeat(48 * 1024))]));
    expect(copy.get('200')?.content.length).toBeLessThan(1.1 * 1024 * 1024);
    expect(copy.isBehind).toBe(false);
  });

  it('keeps requested older items, even if many newer ones arrive', () => {
    const source = new Source();
    for (let n = 1; n <= 100; n += 1) source.say([put(`${n}`, n)]);
    const copy = new TranscriptCopy({ keep: 20 });
    const { v, items } = source;
    copy.take({ messages: items.slice(80), v, hasMore: true });
    for (let from = 60; from >= 0; from -= 20)
      copy.takeOlder({ messages: items.slice(from, from + 20), v, hasMore: from > 0 });
    copy.apply(source.say([put('101', 101)]));
    expect(copy.items).toHaveLength(101);
    for (let n = 102; n <= 400; n += 1) copy.apply(source.say([put(`${n}`, n)]));
    expect(copy.items.length).toBeLessThanOrEqual(125);
  });

  it('returns to its first bound after it starts over, even with older items', () => {
    const source = new Source();
    for (let n = 1; n <= 100; n += 1) source.say([put(`${n}`, n)]);
    const copy = new TranscriptCopy({ keep: 20 });
    const { v, items } = source;
    copy.take({ messages: items.slice(80), v, hasMore: true });
    copy.takeOlder({ messages: items.slice(0, 80), v, hasMore: false });
    copy.take({ messages: items.slice(80), v: v + 1, hasMore: true, reset: true });
    source.v = v + 1;
    for (let n = 101; n <= 400; n += 1) copy.apply(source.say([put(`${n}`, n)]));
    expect(copy.items.length).toBeLessThanOrEqual(25);
    expect(copy.items.at(-1)?.uuid).toBe('400');
  });

  it('equals the list of the daemon after any frames, lost or late, and any pages', () => {
    const uuid = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const operation: fc.Arbitrary<Operation> = fc.oneof(
      uuid.map((id) => put(id, 0)),
      fc.tuple(uuid, fc.string({ maxLength: 3 })).map(([id, text]) => add(id, text)),
      uuid.map((id): Operation => ({ op: 'set', uuid: id, part: { status: 'completed' } })),
    );
    const step = fc.record({
      ops: fc.array(operation, { minLength: 1, maxLength: 4 }),
      fate: fc.constantFrom('heard', 'heard', 'lost', 'after the next page', 'page first'),
      asks: fc.boolean(),
      limit: fc.constantFrom(2, 200),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const source = new Source();
        const copy = new TranscriptCopy();
        let place = 0;
        const asked = (limit: number) => source.page(copy.v, limit);
        for (const { ops, fate, asks, limit } of steps) {
          const exists = (operation: Operation) =>
            operation.op === 'put' || source.items.some((one) => one.uuid === uuidOf(operation));
          // A daemon only appends.
          const placed = ops.map((one) => (one.op === 'put' ? put(one.item.uuid, (place += 1)) : one));
          const real = placed.filter(exists);
          const page = asked(limit);
          const frame = source.say(real);
          if (fate === 'heard') copy.apply(frame);
          if (fate === 'page first') copy.take(asked(limit));
          if (fate === 'page first') copy.apply(frame);
          if (fate === 'after the next page') {
            copy.apply(frame);
            if (copy.isBehind) copy.take(page);
          }
          if (asks && copy.isBehind) copy.take(asked(limit));
        }
        copy.take(asked(200));
        const first = copy.items[0]?.seq ?? 0;
        expect(copy.items).toEqual(source.items.filter(({ seq }) => seq >= first));
        expect(copy.v).toBe(source.v);
      }),
      { numRuns: 500 },
    );
  });
});
