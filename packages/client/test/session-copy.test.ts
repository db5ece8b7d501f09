/**
 * A copy of a session with a scripted relay: lost, late, repeated and reordered frames, renames, restarts, and two
 * instances.
 */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Attention, type Item, type Message, type Session, applyOperations } from '@relay/protocol';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { type AttentionItem, type Client, SessionCopy } from '../src/browser.ts';

const example = new URL('../../../examples/attention.session_update.json', import.meta.url);
const { session: template } = JSON.parse(readFileSync(example, 'utf8')) as { session: Session };
const pending = `${template.deviceId}:${template.agentType}:PENDING-1`;
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

/** A relay with one session and its daemon: the true state, its frames, and its responses. */
class Relay {
  session: Session = { ...template, id: pending, updatedAt: at(0) };
  /** The daemon's items or, for a plain daemon, its stored messages. */
  entries: Message[] = [];
  v = 100;
  /** The first version of the list. */
  beganAt = 100;
  clock = 0;
  isPlain: boolean;
  isAway = false;
  calls: { name: string; query: Record<string, unknown> }[] = [];
  names = new Set([pending]);
  /** Responses wait for this promise. */
  hold: Promise<void> = Promise.resolve();
  constructor(isPlain = false) {
    this.isPlain = isPlain;
  }
  tick() {
    this.clock += 1;
    return at(this.clock);
  }
  update(fields: Partial<Session> = {}): Attention<'session_update'> {
    const { id } = this.session;
    this.session = { ...this.session, ...fields, updatedAt: this.tick() };
    this.names.add(this.session.id);
    const named = id === this.session.id ? {} : { previousId: id };
    return { type: 'session_update', session: this.session, ...named };
  }
  /** A message: its operation and its live copy. A plain daemon stores it under another uuid. */
  message(content: string, role: Message['role'] = 'AGENT'): AttentionItem[] {
    const timestamp = this.tick();
    const uuid = `m${this.clock}`;
    const message: Message = { uuid, role, content, timestamp };
    const live = { type: 'new_message', sessionId: this.session.id, message } as AttentionItem;
    if (this.isPlain) this.entries = [...this.entries, { ...message, uuid: `stored-${uuid}`, content: `${content}\n` }];
    if (this.isPlain) return [live];
    return [this.operations([{ op: 'put', item: { ...message, seq: this.clock, part: { kind: 'text' } } }]), live];
  }
  operations(ops: Attention<'transcript'>['ops']): AttentionItem {
    this.v += 1;
    this.entries = applyOperations(this.entries as Item[], ops, this.v);
    return { type: 'transcript', sessionId: this.session.id, v: this.v, ops };
  }
  /** The daemon loses its list. */
  beginList() {
    this.entries = [];
    this.v += 1000;
    this.beganAt = this.v;
  }
  grow(text: string): AttentionItem {
    const { uuid } = this.entries.at(-1)!;
    return this.operations([{ op: 'add', uuid, text }]);
  }
  page({ limit = 200, changed, before }: { limit?: number; changed?: number; before?: string }) {
    const end = before === undefined ? this.entries.length : this.entries.findIndex(({ uuid }) => uuid === before);
    const found =
      changed === undefined
        ? this.entries.slice(0, end)
        : this.entries.filter((one) => ((one as Item).v ?? 0) > changed);
    const reset = changed !== undefined && (found.length > limit || changed < this.beganAt);
    const all = reset ? this.entries : found;
    const messages = all.slice(-limit);
    const hasMore = changed === undefined || reset ? all.length > limit : false;
    return {
      ...{ messages, hasMore, oldestUuid: messages[0]?.uuid ?? null, newestUuid: messages.at(-1)?.uuid ?? null },
      ...(this.isPlain ? {} : { v: this.v, ...(reset ? { reset: true as const } : {}) }),
    };
  }
  readonly client = {
    call: async (name: string, { params, query }: { params: { id: string }; query: Record<string, unknown> }) => {
      this.calls.push({ name, query });
      if (!this.names.has(params.id)) throw new Error('no such session');
      const page = this.isAway
        ? {
            messages: [],
            hasMore: false,
            oldestUuid: null,
            newestUuid: null,
            messagesError: { code: 'DEVICE_OFFLINE', error: '' },
          }
        : this.page(query);
      const answer = name === 'readSession' ? { ...this.session, ...page } : page;
      await this.hold;
      return answer;
    },
  } as unknown as Client;
  copy(options: { keep?: number; pageItems?: number } = {}) {
    return new SessionCopy({ client: this.client, id: pending, ...options });
  }
}

const texts = (messages: readonly Message[]) => messages.map(({ content }) => content.trim());
/** A relay, and a copy that has loaded. */
async function loaded(isPlain = false, contents: string[] = ['one']) {
  const relay = new Relay(isPlain);
  for (const content of contents) relay.message(content);
  const copy = relay.copy();
  await copy.load();
  return { relay, copy };
}

/** The uuids that `apply` returns; undefined for an ignored frame. */
const applied = (copy: SessionCopy, frame: AttentionItem) => copy.apply(frame)?.map(({ uuid }) => uuid);

describe('a copy of a session', () => {
  it('applies frames and reports changes to its listeners', async () => {
    const { relay, copy } = await loaded();
    let changes = 0;
    copy.subscribe(() => (changes += 1));
    const before = copy.state;
    expect(copy.state).toBe(before);
    for (const frame of relay.message('two')) copy.apply(frame);
    expect(texts(copy.state.messages)).toEqual(['one', 'two']);
    expect(copy.state.items).toEqual(relay.entries);
    expect(changes).toBeGreaterThan(0);
  });

  it('skips frames of other sessions', async () => {
    const { copy } = await loaded();
    const other = new Relay();
    other.session = { ...other.session, id: 'other:agent:x', deviceId: 'other' };
    const before = copy.state;
    for (const frame of [
      other.update(),
      ...other.message('x'),
      { type: 'session_removed', sessionId: 'y' } as AttentionItem,
    ])
      expect(copy.apply(frame)).toBeUndefined();
    expect(copy.state).toBe(before);
  });

  it('is behind after a lost frame until it loads the changes', async () => {
    const { relay, copy } = await loaded();
    relay.message('lost');
    expect(copy.state.isBehind).toBe(false);
    copy.apply(relay.grow(' and found'));
    expect([copy.state.isBehind, texts(copy.state.messages)]).toEqual([true, ['one']]);
    const result = await copy.catchUp();
    expect(texts(result!.changed)).toEqual(['lost and found']);
    expect(relay.calls.at(-1)).toMatchObject({ name: 'readMessages', query: { changed: 101 } });
    expect([copy.state.isBehind, copy.state.items]).toEqual([false, relay.entries]);
  });

  it('ignores repeated and late frames', async () => {
    const { relay, copy } = await loaded();
    const first = relay.message('two');
    const second = relay.message('three');
    for (const frame of [...first, ...second, ...first, ...second]) copy.apply(frame);
    expect(texts(copy.state.messages)).toEqual(['one', 'two', 'three']);
    expect(copy.state.isBehind).toBe(false);
  });

  it('is not set back by an update of a second instance', async () => {
    const { relay, copy } = await loaded();
    const early = relay.update({ title: 'early' });
    const late = relay.update({ title: 'late' });
    copy.apply(late);
    expect(copy.apply(early)).toBeUndefined();
    expect(copy.state.session?.title).toBe('late');
  });

  it('follows a session that gets its name, even if the first frames arrive before the new name', async () => {
    const { relay, copy } = await loaded();
    const id = `${template.deviceId}:${template.agentType}:named`;
    const named = relay.update({ id });
    const words = relay.message('under the new name');
    copy.apply(named);
    for (const frame of words) copy.apply(frame);
    expect([copy.id, texts(copy.state.messages)]).toEqual([id, ['one', 'under the new name']]);
    const unheard = (await loaded()).copy;
    expect(unheard.concerns(named)).toBe(true);
    expect(words.map((frame) => unheard.concerns(frame))).toEqual([true, true]);
  });

  it('starts over when its daemon has lost the list', async () => {
    const { relay, copy } = await loaded();
    relay.beginList();
    relay.message('new list');
    copy.doubt();
    const result = await copy.loadChanges();
    expect([result.isWhole, texts(copy.state.messages)]).toEqual([true, ['new list']]);
  });

  it('keeps a frame that arrives while it loads the session', async () => {
    const { relay, copy } = await loaded();
    let release = () => {};
    relay.hold = new Promise((resolve) => (release = resolve));
    const reading = copy.load();
    const frames = [relay.update({ title: 'newer' }), ...relay.message('meanwhile')];
    for (const frame of frames) copy.apply(frame);
    release();
    await reading;
    expect([copy.state.session?.title, texts(copy.state.messages)]).toEqual(['newer', ['one', 'meanwhile']]);
  });

  it('keeps output that arrives while it loads the session', async () => {
    const relay = new Relay(true);
    const copy = relay.copy();
    const output = (text: string) => copy.apply({ type: 'task_output', sessionId: pending, output: text });
    output('before ');
    const reading = copy.load();
    output('during');
    await reading;
    expect(copy.state.output).toBe('during');
  });

  it('drops a response that arrives after the response to a later load', async () => {
    const { relay, copy } = await loaded(true);
    let release = () => {};
    relay.hold = new Promise((resolve) => (release = resolve));
    const early = copy.load();
    relay.hold = Promise.resolve();
    relay.message('two');
    await copy.load();
    release();
    expect((await early).changed).toEqual([]);
    expect(texts(copy.state.messages)).toEqual(['one', 'two']);
  });

  it('keeps its messages while the daemon is offline', async () => {
    const { relay, copy } = await loaded();
    relay.isAway = true;
    copy.doubt();
    await copy.load();
    expect([copy.state.messagesError?.code, copy.state.isBehind, texts(copy.state.messages)]).toEqual([
      'DEVICE_OFFLINE',
      false,
      ['one'],
    ]);
    relay.isAway = false;
    await copy.load();
    expect(copy.state.messagesError).toBeUndefined();
  });

  it('shows restored messages until the daemon answers', async () => {
    const { relay, copy } = await loaded();
    const fresh = relay.copy();
    relay.isAway = true;
    await fresh.load();
    fresh.restore([...copy.state.messages], true, at(9));
    expect([fresh.state.asOf, texts(fresh.state.items!)]).toEqual([at(9), ['one']]);
    relay.isAway = false;
    relay.message('two');
    await fresh.load();
    expect([fresh.state.asOf, texts(fresh.state.messages)]).toEqual([undefined, ['one', 'two']]);
  });

  it('loads older pages, and keeps them', async () => {
    for (const isPlain of [true, false]) {
      const relay = new Relay(isPlain);
      for (const content of 'abcdefgh') relay.message(content);
      const copy = relay.copy({ pageItems: 3, keep: 4 });
      await copy.load();
      expect([texts(copy.state.messages), copy.state.hasMore]).toEqual([['f', 'g', 'h'], true]);
      expect(texts(await copy.loadOlder())).toEqual(['c', 'd', 'e']);
      expect(texts(await copy.loadOlder())).toEqual(['a', 'b']);
      expect([texts(copy.state.messages).join(''), copy.state.hasMore]).toEqual(['abcdefgh', false]);
      copy.apply(relay.message('i')[0]!);
      await copy.load();
      expect(texts(copy.state.messages)).toHaveLength(9);
    }
  });
});

describe('messages next to a transcript', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('are shown until their items arrive: own messages last, others at their places', async () => {
    const { relay, copy } = await loaded();
    copy.add({ uuid: 'own', role: 'USER', content: 'mine', timestamp: at(5) });
    copy.apply({
      type: 'new_message',
      sessionId: pending,
      message: { uuid: 's', role: 'SYSTEM', content: 'notice', timestamp: at(6) },
    });
    for (const frame of relay.message('two')) copy.apply(frame);
    expect(texts(copy.state.messages)).toEqual(['one', 'notice', 'two', 'mine']);
    copy.apply(
      relay.operations([
        {
          op: 'put',
          item: { uuid: 'own', role: 'USER', content: 'mine', timestamp: at(5), seq: 90, part: { kind: 'user' } },
        },
      ]),
    );
    expect(texts(copy.state.messages)).toEqual(['one', 'notice', 'two', 'mine']);
    expect(copy.state.items).toHaveLength(3);
  });

  it('put the copy behind if the item does not arrive within a second', async () => {
    const { relay, copy } = await loaded();
    const [operations, live] = relay.message('two') as [AttentionItem, AttentionItem];
    copy.apply(live);
    expect([copy.isUnsure, copy.state.isBehind]).toEqual([true, false]);
    copy.apply(operations);
    jest.advanceTimersByTime(1000);
    expect([copy.isUnsure, copy.state.isBehind]).toEqual([false, false]);
    copy.apply(relay.message('three')[1]!);
    jest.advanceTimersByTime(999);
    expect(copy.state.isBehind).toBe(false);
    jest.advanceTimersByTime(1);
    expect(copy.state.isBehind).toBe(true);
  });

  it('reveal lost text of an item that is open or differs', async () => {
    const { relay, copy } = await loaded();
    for (const frame of relay.message('the beginning')) copy.apply(frame);
    const { uuid } = relay.entries.at(-1)!;
    relay.grow(' and the end');
    const message: Message = { uuid, role: 'AGENT', content: 'the beginning and the end', timestamp: at(9) };
    copy.apply({ type: 'new_message', sessionId: pending, message });
    jest.advanceTimersByTime(1000);
    expect(copy.state.isBehind).toBe(true);
  });

  it('are not loaded again when a stream becomes live, unless frames can be lost', async () => {
    const { copy } = await loaded();
    copy.connected(false);
    expect(copy.state.isBehind).toBe(false);
    copy.connected(true);
    expect(copy.state.isBehind).toBe(true);
    const running = await loaded();
    running.relay.update({ runningSince: at(1) });
    await running.copy.load();
    running.copy.connected(false);
    expect(running.copy.state.isBehind).toBe(true);
    const plain = await loaded(true);
    plain.copy.connected(true);
    expect(plain.copy.state.isBehind).toBe(false);
  });
});

describe('messages of a plain daemon', () => {
  it('are one message under two uuids, in either order of the sources', async () => {
    const { relay, copy } = await loaded(true);
    const [live] = relay.message('two') as [AttentionItem];
    expect(applied(copy, live)).toEqual(['m2']);
    expect((await copy.load()).changed).toEqual([]);
    const [late] = relay.message('three') as [AttentionItem];
    await copy.load();
    expect(applied(copy, late)).toEqual([]);
    expect(texts(copy.state.messages)).toEqual(['one', 'two', 'three']);
  });

  it('count as one message each: two equal texts are two', async () => {
    const { relay, copy } = await loaded(true, []);
    const both = [...relay.message('yes'), ...relay.message('yes')];
    for (const frame of both) expect(applied(copy, frame)).toHaveLength(1);
    const third = relay.message('yes');
    expect((await copy.load()).changed).toHaveLength(1);
    expect(applied(copy, third[0]!)).toEqual([]);
    expect(texts(copy.state.messages)).toEqual(['yes', 'yes', 'yes']);
  });

  it('are two if the stored message is more than 30 s older, but not if it is later', async () => {
    const { relay, copy } = await loaded(true, ['yes']);
    relay.clock += 60;
    expect(applied(copy, relay.message('yes')[0]!)).toHaveLength(1);
    relay.entries[1] = { ...relay.entries[1]!, timestamp: at(900) };
    expect((await copy.load()).changed).toEqual([]);
    expect(texts(copy.state.messages)).toEqual(['yes', 'yes']);
  });

  it('keep their places if the history lacks them', async () => {
    const { relay, copy } = await loaded(true);
    copy.add({ uuid: 'notice', role: 'SYSTEM', content: 'notice', timestamp: at(2) });
    copy.apply(relay.message('two')[0]!);
    await copy.load();
    expect(texts(copy.state.messages)).toEqual(['one', 'notice', 'two']);
    await copy.load();
    expect(texts(copy.state.messages)).toEqual(['one', 'notice', 'two']);
  });

  it('are dropped, oldest first, beyond the number or the size to keep', async () => {
    const { relay } = await loaded(true);
    let keepBytes = Infinity;
    const copy = new SessionCopy({ client: relay.client, id: pending, keep: 3, keepBytes: () => keepBytes });
    await copy.load();
    for (const content of ['b', 'c', 'd']) copy.apply(relay.message(content)[0]!);
    expect([texts(copy.state.messages).join(''), copy.state.hasMore]).toEqual(['bcd', true]);
    keepBytes = 100;
    copy.apply(relay.message('e'.repeat(40))[0]!);
    expect(texts(copy.state.messages)).toEqual(['c', 'd', 'e'.repeat(40)]);
  });
});

describe('a copy of any session', () => {
  const fate = fc.constantFrom('comes', 'comes', 'comes', 'lost', 'late', 'twice');
  const step = fc.record({
    what: fc.constantFrom(
      'message',
      'message',
      'own',
      'grow',
      'update',
      'name',
      'new list',
      'load',
      'slow load',
      'older',
      'back',
    ),
    fates: fc.array(fate, { minLength: 2, maxLength: 2 }),
    text: fc.constantFrom('yes', 'no', 'go on'),
  });

  it.each([false, true])(
    'equals the true state of the relay after any faults, with a plain daemon: %s',
    async (isPlain) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const relay = new Relay(isPlain);
          relay.message('first');
          const copy = relay.copy({ pageItems: 5 });
          let isLossless = true;
          const late: AttentionItem[] = [];
          const deliver = (frames: AttentionItem[], fates: string[]) => {
            frames.forEach((frame, index) => {
              const fate = fates[index]!;
              // The stream itself reports the loss of any other frame.
              if (fate === 'lost') isLossless &&= frame.type === 'transcript';
              else if (fate === 'late') late.push(frame);
              else for (let times = fate === 'twice' ? 2 : 1; times > 0; times -= 1) copy.apply(frame);
            });
          };
          let release = () => {};
          let slow: Promise<unknown> = Promise.resolve();
          for (const { what, fates, text } of steps) {
            if (what === 'message') deliver(relay.message(text), fates);
            if (what === 'own') deliver(relay.message(text, 'USER'), fates);
            if (what === 'grow' && !isPlain) deliver([relay.grow(text)], fates);
            if (what === 'update') deliver([relay.update({ title: text })], fates);
            if (what === 'name') deliver([relay.update({ id: `${pending}-${relay.clock}` })], ['comes']);
            if (what === 'new list' && !isPlain) {
              relay.beginList();
              deliver(relay.message('anew'), fates);
              isLossless = false;
            }
            if (what === 'load') await copy.load();
            if (what === 'slow load') {
              release();
              await slow;
              relay.hold = new Promise((resolve) => (release = resolve));
              slow = copy.load();
              relay.hold = Promise.resolve();
            }
            if (what === 'older') await copy.loadOlder();
            if (what === 'back') for (const frame of late.splice(0)) copy.apply(frame);
          }
          release();
          await slow;
          for (const frame of late.splice(0)) copy.apply(frame);
          if (isLossless && !isPlain && copy.state.items) {
            // The next frames reveal all losses.
            for (const frame of [...relay.message('end'), relay.update()]) copy.apply(frame);
            if (copy.isBehind) await copy.loadChanges();
          } else {
            copy.apply({ type: 'resync' });
            await copy.load();
          }
          const { state } = copy;
          expect(state.session).toMatchObject(relay.session);
          expect([state.isBehind, copy.id]).toEqual([false, relay.session.id]);
          if (!isPlain) {
            const begin = state.items![0]?.seq ?? 0;
            expect(state.items).toEqual((relay.entries as Item[]).filter(({ seq }) => seq >= begin));
            // No list contains the relay's own messages.
            const listed = new Set(state.items!.map(({ uuid }) => uuid));
            expect(state.messages.filter(({ uuid }) => listed.has(uuid))).toEqual(state.items);
          } else expect(texts(state.messages)).toEqual(texts(relay.entries).slice(-state.messages.length));
        }),
        { numRuns: 400, seed: 41 },
      );
    },
  );
});
